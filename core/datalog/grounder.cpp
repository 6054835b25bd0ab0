#include "datalog/grounder.h"

#include <algorithm>

#include "datalog/join.h"
#include "datalog/static_facts.h"

namespace omnilude {

namespace {

// By text, numbers by value: so that the numbers of fluents and moves depend on the rules alone,
// not on the order in which they were found.
bool before(const std::string& a, const std::string& b) {
    auto digit = [](char c) { return c >= '0' && c <= '9'; };
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (!digit(a[i]) || !digit(b[j])) {
            if (a[i] != b[j]) return a[i] < b[j];
            ++i, ++j;
            continue;
        }
        size_t m = i, n = j;
        while (m < a.size() && digit(a[m])) ++m;
        while (n < b.size() && digit(b[n])) ++n;
        if (m - i != n - j) return m - i < n - j;
        const int order = a.compare(i, m - i, b, j, n - j);
        if (order != 0) return order < 0;
        i = m, j = n;
    }
    return a.size() - i < b.size() - j;
}

void sort_by_text(const TermBank& bank, std::vector<Term>& terms) {
    std::vector<std::pair<std::string, Term>> named;
    for (Term term : terms) named.emplace_back(bank.text(term), term);
    std::sort(named.begin(), named.end(),
              [](const auto& a, const auto& b) { return before(a.first, b.first); });
    for (size_t i = 0; i < terms.size(); ++i) terms[i] = named[i].second;
}

}  // namespace

Grounding ground(Program& program, Budget& budget) {
    TermBank& bank = program.bank;
    Database database(bank);
    Joiner joiner(program, database, budget);
    derive_static_facts(program, database, joiner, budget);

    auto dynamic = [&](Functor f) {
        const int32_t s = program.stratum_of_functor(f);
        return s >= 0 && program.strata[s].stage != Stratum::Stage::Static;
    };
    std::vector<uint32_t> strata;
    for (uint32_t s = 0; s < program.strata.size(); ++s)
        if (program.strata[s].stage != Stratum::Stage::Static) strata.push_back(s);
    const Joiner::Group group = joiner.prepare(strata, dynamic);

    Grounding out;
    out.moves.resize(program.roles.size());
    auto add_truth = [&](Term fluent) {
        const Term fact = bank.make(program.truth, {&fluent, 1});
        joiner.add(fact);
    };
    for (Term fact : database.facts(program.init)) {
        out.initial.push_back(bank.argument(fact, 0));
        add_truth(out.initial.back());
    }
    uint64_t since_check = 0;
    joiner.run(group, [&](const Rule& rule, Term head, std::span<const Term> matched) {
        out.instances.push_back(head);
        const size_t counts = out.instances.size();
        out.instances.insert(out.instances.end(), {0, 0});
        for (size_t i = 0; i < rule.body.size(); ++i)
            if (rule.body[i].kind == Literal::Kind::Positive &&
                dynamic(bank.functor_of(matched[i]))) {
                out.instances.push_back(matched[i]);
                ++out.instances[counts];
            }
        for (const Literal& literal : rule.body)
            if (literal.kind == Literal::Kind::Negative &&
                dynamic(head_functor(bank, literal.pattern))) {
                out.instances.push_back(substitute(bank, literal.pattern, joiner.bindings()));
                ++out.instances[counts + 1];
            }
        budget.check_instances(++out.instance_count);
        if (++since_check == 4096) {
            since_check = 0;
            budget.check_bytes(bank.bytes() + database.bytes() + out.instances.capacity() * 4);
        }
        joiner.add(head);
        const Functor f = bank.functor_of(head);
        if (f == program.next) {
            add_truth(bank.argument(head, 0));
        } else if (f == program.legal) {
            const Term pair[2] = {bank.argument(head, 0), bank.argument(head, 1)};
            if (std::find(program.roles.begin(), program.roles.end(), pair[0]) !=
                program.roles.end())
                joiner.add(bank.make(program.does, pair));
        }
    });
    for (Term fact : database.facts(program.truth)) out.fluents.push_back(bank.argument(fact, 0));
    for (Term fact : database.facts(program.does)) {
        const auto role =
            std::find(program.roles.begin(), program.roles.end(), bank.argument(fact, 0));
        out.moves[static_cast<size_t>(role - program.roles.begin())].push_back(
            bank.argument(fact, 1));
    }
    sort_by_text(bank, out.fluents);
    for (auto& moves : out.moves) sort_by_text(bank, moves);
    return out;
}

}  // namespace omnilude
