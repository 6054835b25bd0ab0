#include "datalog/reasoner.h"

#include <algorithm>

#include "base/large_stack.h"

namespace omnilude {

using Kind = PatternNode::Kind;

namespace {
constexpr size_t shallow_stack = size_t{1} << 20, deep_stack = size_t{200} << 20;
}

Reasoner::Reasoner(Program program, double seconds, uint64_t bytes)
    : program_(std::move(program)),
      database_(program_.bank),
      seconds_(seconds),
      bytes_(bytes),
      budget_(seconds, bytes, UINT64_MAX),
      prover_(program_, database_) {
    inquire({}, {}, [&] { initial_ = values(program_.init); });
}

template <class Questions>
void Reasoner::inquire(const Position& position, std::span<const Term> moves, Questions questions) {
    budget_ = Budget(seconds_, bytes_, UINT64_MAX);
    prover_.forget();
    for (Functor f : {program_.truth, program_.does}) database_.clear(f);
    for (Term fluent : position) database_.insert(program_.bank.make(program_.truth, {&fluent, 1}));
    for (size_t r = 0; r < moves.size(); ++r) {
        const Term pair[2] = {program_.roles[r], moves[r]};
        database_.insert(program_.bank.make(program_.does, pair));
    }
    // Few rules nest deeply: a stack for those that do is made only when it is needed.
    try {
        prover_.limit_stack(shallow_stack);
        questions();
    } catch (const CallsTooDeep&) {
        prover_.forget();
        prover_.limit_stack(deep_stack);
        try {
            run_with_large_stack(questions);
        } catch (const CallsTooDeep&) {
            throw BudgetExceeded("stack of 200 MiB for calls of rules");
        }
    }
}

std::vector<Term> Reasoner::values(Functor predicate) {
    std::vector<Term> out;
    for (Term fact : prover_.ask({{Kind::Application, predicate}, {Kind::Variable, 0}}, budget_))
        out.push_back(program_.bank.argument(fact, 0));
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<Term> Reasoner::values(Functor predicate, Term role) {
    std::vector<Term> out;
    const Pattern goal{{Kind::Application, predicate}, {Kind::Constant, role}, {Kind::Variable, 0}};
    for (Term fact : prover_.ask(goal, budget_)) out.push_back(program_.bank.argument(fact, 1));
    std::sort(out.begin(), out.end());
    return out;
}

Reasoner::View Reasoner::view(const Position& position, bool with_legal, bool with_goals) {
    View view;
    const size_t roles = program_.roles.size();
    inquire(position, {}, [&] {
        view.legal.assign(roles, {});
        view.goals.assign(roles, {});
        const Term terminal = program_.bank.make(program_.terminal, {});
        view.terminal = !prover_.ask({{Kind::Constant, terminal}}, budget_).empty();
        for (size_t r = 0; r < roles; ++r) {
            if (with_legal) view.legal[r] = values(program_.legal, program_.roles[r]);
            if (!with_goals) continue;
            for (Term value : values(program_.goal, program_.roles[r])) {
                const int number = goal_value(program_.bank.text(value));
                if (number >= 0) view.goals[r].push_back(number);
            }
            std::sort(view.goals[r].begin(), view.goals[r].end());
        }
    });
    return view;
}

Reasoner::Transition Reasoner::play(const Position& position, std::span<const Term> moves) {
    Transition out;
    out.percepts.resize(program_.roles.size());
    inquire(position, moves, [&] {
        out.next = values(program_.next);
        for (size_t r = 0; r < program_.roles.size(); ++r)
            out.percepts[r] = values(program_.sees, program_.roles[r]);
    });
    return out;
}

}  // namespace omnilude
