#include "datalog/reasoner.h"

#include <algorithm>
#include <charconv>

#include "datalog/static_facts.h"

namespace omnilude {

Reasoner::Reasoner(Program program, double seconds, uint64_t bytes)
    : program_(std::move(program)),
      database_(program_.bank),
      seconds_(seconds),
      bytes_(bytes),
      budget_(seconds, bytes, UINT64_MAX),
      joiner_(program_, database_, budget_) {
    derive_static_facts(program_, joiner_);
    budget_.check_bytes(program_.bank.bytes() + database_.bytes());
    const Functor legal[] = {program_.legal, program_.terminal};
    const Functor goal[] = {program_.goal, program_.terminal};
    const Functor both[] = {program_.legal, program_.terminal, program_.goal};
    const Functor next[] = {program_.next, program_.sees};
    legal_ = prepare(legal);
    goal_ = prepare(goal);
    both_ = prepare(both);
    next_ = prepare(next);
    for (Term fact : database_.facts(program_.init))
        initial_.push_back(program_.bank.argument(fact, 0));
    std::sort(initial_.begin(), initial_.end());
}

// The strata that `wanted` predicates rest on, in order.
Reasoner::Query Reasoner::prepare(std::span<const Functor> wanted) {
    std::vector<bool> needed(program_.strata.size(), false);
    std::vector<int32_t> open;
    auto need = [&](Functor f) {
        const int32_t s = program_.stratum_of_functor(f);
        if (s < 0 || needed[s] || program_.strata[s].stage == Stratum::Stage::Static) return;
        needed[s] = true;
        open.push_back(s);
    };
    for (Functor f : wanted) need(f);
    while (!open.empty()) {
        const auto s = static_cast<uint32_t>(open.back());
        open.pop_back();
        for (const Rule& rule : program_.rules) {
            if (rule.stratum != s) continue;
            for (const Literal& literal : rule.body)
                if (literal.kind != Literal::Kind::Distinct)
                    need(head_functor(program_.bank, literal.pattern));
        }
    }
    Query query;
    for (uint32_t s = 0; s < program_.strata.size(); ++s) {
        if (!needed[s]) continue;
        query.groups.push_back(joiner_.prepare({&s, 1}, [](Functor) { return false; }));
        for (Functor f : program_.strata[s].predicates) query.predicates.push_back(f);
    }
    for (Functor f : {program_.truth, program_.does}) query.predicates.push_back(f);
    return query;
}

void Reasoner::evaluate(const Query& query, const Position& position,
                        std::span<const Term> moves) {
    budget_ = Budget(seconds_, bytes_, UINT64_MAX);
    try {
        for (Functor f : query.predicates) database_.clear(f);
        for (Term fluent : position) database_.insert(program_.bank.make(program_.truth, {&fluent, 1}));
        for (size_t r = 0; r < moves.size(); ++r) {
            const Term pair[2] = {program_.roles[r], moves[r]};
            database_.insert(program_.bank.make(program_.does, pair));
        }
        for (const Joiner::Group& group : query.groups) {
            joiner_.run(group, [&](const Rule&, Term head, std::span<const Term>) {
                joiner_.add(head);
            });
            budget_.check_bytes(program_.bank.bytes());
        }
    } catch (...) {
        joiner_.reset();
        throw;
    }
}

size_t Reasoner::role_number(Term role) const {
    return static_cast<size_t>(std::find(program_.roles.begin(), program_.roles.end(), role) -
                               program_.roles.begin());
}

Reasoner::View Reasoner::view(const Position& position, bool with_legal, bool with_goals) {
    const Query& query = with_legal ? (with_goals ? both_ : legal_) : goal_;
    evaluate(query, position, {});
    const TermBank& bank = program_.bank;
    const size_t roles = program_.roles.size();
    View view{!database_.facts(program_.terminal).empty(),
              std::vector<std::vector<Term>>(roles), std::vector<std::vector<int>>(roles)};
    if (with_legal)
        for (Term fact : database_.facts(program_.legal)) {
            const size_t r = role_number(bank.argument(fact, 0));
            if (r < roles) view.legal[r].push_back(bank.argument(fact, 1));
        }
    if (with_goals)
        for (Term fact : database_.facts(program_.goal)) {
            const size_t r = role_number(bank.argument(fact, 0));
            const std::string text = bank.text(bank.argument(fact, 1));
            int value = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
            if (r < roles && read.ec == std::errc() && read.ptr == text.data() + text.size())
                view.goals[r].push_back(value);
        }
    for (auto& moves : view.legal) std::sort(moves.begin(), moves.end());
    for (auto& goals : view.goals) std::sort(goals.begin(), goals.end());
    return view;
}

Reasoner::Transition Reasoner::play(const Position& position, std::span<const Term> moves) {
    evaluate(next_, position, moves);
    const TermBank& bank = program_.bank;
    Transition out{{}, std::vector<std::vector<Term>>(program_.roles.size())};
    for (Term fact : database_.facts(program_.next)) out.next.push_back(bank.argument(fact, 0));
    for (Term fact : database_.facts(program_.sees)) {
        const size_t r = role_number(bank.argument(fact, 0));
        if (r < out.percepts.size()) out.percepts[r].push_back(bank.argument(fact, 1));
    }
    std::sort(out.next.begin(), out.next.end());
    for (auto& percepts : out.percepts) std::sort(percepts.begin(), percepts.end());
    return out;
}

}  // namespace omnilude
