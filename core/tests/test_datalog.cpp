// Terms, facts and joins on small programs, against brute force.
#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "datalog/grounder.h"
#include "datalog/static_facts.h"
#include "datalog/terms.h"
#include "program.h"
#include "testing.h"

using namespace omnilude;
using omnilude::testing::ProgramText;

TEST(equal_terms_have_equal_numbers) {
    TermBank bank({"f", "a", "b"});
    const Functor f1 = bank.functor(0, 1), f2 = bank.functor(0, 2);
    CHECK(f1 != f2 && f1 == bank.functor(0, 1));
    const Term a = bank.make(bank.functor(1, 0), {}), b = bank.make(bank.functor(2, 0), {});
    const Term ab[2] = {a, b}, ba[2] = {b, a};
    const Term fab = bank.make(f2, ab);
    CHECK(fab == bank.make(f2, ab) && fab != bank.make(f2, ba));
    const Term nested = bank.make(f1, {&fab, 1});
    CHECK(bank.text(nested) == "(f (f a b))" && bank.text(a) == "a");
    CHECK(bank.argument(bank.argument(nested, 0), 1) == b);
    CHECK(bank.arguments(fab).size() == 2 && bank.arity_of(bank.functor_of(fab)) == 2);
}

TEST(terms_do_not_grow_without_end) {
    TermBank bank({"f", "a"});
    const Functor f = bank.functor(0, 1);
    Term term = bank.make(bank.functor(1, 0), {});
    bool refused = false;
    for (uint32_t depth = 0; depth < 2 * TermBank::max_depth && !refused; ++depth) try {
            term = bank.make(f, {&term, 1});
        } catch (const BudgetExceeded&) {
            refused = true;
        }
    CHECK(refused);
}

TEST(indexes_find_what_a_scan_finds) {
    TermBank bank({"p", "g", "h", "0", "1", "2", "3"});
    const Functor p = bank.functor(0, 2), g = bank.functor(1, 2), h = bank.functor(2, 2);
    std::vector<Term> constants;
    for (uint32_t s = 3; s < 7; ++s) constants.push_back(bank.make(bank.functor(s, 0), {}));
    RandomStream random(1, 0);
    auto constant = [&] { return constants[random.below(4)]; };
    Database database(bank);
    // p(x, g(y, z)) by y; p(x, h(y, z)) by x and z: made before and after facts are there.
    const IndexShape by_y{p, {{{1}, g}}, {{1, 0}}};
    const IndexShape by_xz{p, {{{1}, h}}, {{0}, {1, 1}}};
    const uint32_t first = database.index(by_y);
    std::set<Term> facts;
    uint32_t second = UINT32_MAX;
    for (int i = 0; i < 300; ++i) {
        const Term inner[2] = {constant(), constant()};
        const Term outer[2] = {constant(), bank.make(random.below(2) ? g : h, inner)};
        const Term fact = bank.make(p, outer);
        CHECK(database.insert(fact) == facts.insert(fact).second);
        if (i == 100) second = database.index(by_xz);
    }
    CHECK(database.index(by_y) == first && database.index(by_xz) == second);
    auto found = [&](uint32_t index, std::vector<Term> keys) {
        std::set<Term> out;
        for (uint32_t e = database.find(index, keys); e != Database::none;
             e = database.after(index, e))
            CHECK(out.insert(database.fact(index, e)).second);
        return out;
    };
    for (Term x : constants)
        for (Term z : constants) {
            std::set<Term> with_y, with_xz;
            for (Term fact : facts) {
                const Term pair = bank.argument(fact, 1);
                if (bank.functor_of(pair) == g && bank.argument(pair, 0) == x) with_y.insert(fact);
                if (bank.functor_of(pair) == h && bank.argument(fact, 0) == x &&
                    bank.argument(pair, 1) == z)
                    with_xz.insert(fact);
            }
            CHECK(found(first, {x}) == with_y);
            CHECK(found(second, {x, z}) == with_xz);
        }
    CHECK(database.facts(p).size() == facts.size());
    database.clear(p);
    CHECK(database.facts(p).empty() && found(first, {constants[0]}).empty());
    CHECK(!database.holds(*facts.begin()));
    CHECK(database.insert(*facts.begin()) && database.holds(*facts.begin()));
}

namespace {

struct Derived {
    std::set<std::string> facts;
    std::map<std::string, int> firings;  // by head's relation
};

Derived derive(Program& program) {
    Budget budget(10, uint64_t{1} << 30, 1'000'000);
    Database database(program.bank);
    Joiner joiner(program, database, budget);
    Derived out;
    for (uint32_t s = 0; s < program.strata.size(); ++s) {
        const auto group = joiner.prepare({&s, 1}, [](Functor) { return false; });
        joiner.run(group, [&](const Rule&, Term head, std::span<const Term>) {
            ++out.firings[program.bank.name_of(program.bank.functor_of(head))];
            joiner.add(head);
        });
    }
    for (Term t = 0; t < program.bank.size(); ++t)
        if (database.holds(t)) out.facts.insert(program.bank.text(t));
    return out;
}

}  // namespace

TEST(joins_reach_the_fixpoint_and_fire_once) {
    RandomStream random(3, 0);
    for (int round = 0; round < 60; ++round) {
        const uint32_t n = 2 + static_cast<uint32_t>(random.below(5));
        ProgramText text;
        std::vector<std::vector<bool>> edge(n, std::vector<bool>(n)), path;
        text.stratum(0, {"node 1", "edge 2"}).stratum(0, {"path 2"}).stratum(0, {"apart 1"});
        for (uint32_t i = 0; i < n; ++i) {
            text.fact("(node " + std::to_string(i) + ")");
            for (uint32_t j = 0; j < n; ++j)
                if ((edge[i][j] = random.below(3) == 0))
                    text.fact("(edge " + std::to_string(i) + " " + std::to_string(j) + ")");
        }
        text.rule("(path ?x ?y)", {"(edge ?x ?y)"});
        text.rule("(path ?x ?z)", {"(path ?x ?y)", "(path ?y ?z)"});
        text.rule("(apart (pair ?x ?y))", {"(node ?x)", "(node ?y)", "-(path ?x ?y)", "!?x ?y"});
        Program program = text.program();
        const Derived derived = derive(program);
        path = edge;
        for (uint32_t k = 0; k < n; ++k)
            for (uint32_t i = 0; i < n; ++i)
                for (uint32_t j = 0; j < n; ++j)
                    if (path[i][k] && path[k][j]) path[i][j] = true;
        int edges = 0, triples = 0, apart = 0;
        for (uint32_t i = 0; i < n; ++i)
            for (uint32_t j = 0; j < n; ++j) {
                const std::string pair = std::to_string(i) + " " + std::to_string(j) + ")";
                edges += edge[i][j];
                apart += !path[i][j] && i != j;
                CHECK(derived.facts.count("(path " + pair) == path[i][j]);
                CHECK(derived.facts.count("(apart (pair " + pair + ")") == (!path[i][j] && i != j));
                for (uint32_t k = 0; k < n; ++k) triples += path[i][j] && path[j][k];
            }
        // Each way to satisfy a rule is found exactly once.
        auto firings = [&](const char* name) {
            const auto at = derived.firings.find(name);
            return at == derived.firings.end() ? 0 : at->second;
        };
        CHECK(firings("path") == edges + triples);
        CHECK(firings("apart") == apart);
    }
}

TEST(joins_match_repeated_variables_and_whole_terms) {
    ProgramText text;
    text.stratum(0, {"p 2"}).stratum(0, {"same 1", "inner 1", "of 2"});
    for (const char* fact :
         {"(p a a)", "(p a b)", "(p (f a) (f a))", "(p (f b) b)", "(p (g a b) a)"})
        text.fact(fact);
    text.rule("(same ?x)", {"(p ?x ?x)"});
    text.rule("(inner ?x)", {"(p (f ?x) ?y)", "(p ?x ?z)"});
    text.rule("(of ?x ?y)", {"(p (g ?y ?x) ?y)"});
    Program program = text.program();
    const auto facts = derive(program).facts;
    for (const char* fact : {"(same a)", "(same (f a))", "(inner a)", "(of b a)"})
        CHECK(facts.count(fact) == 1);
    CHECK(facts.size() == 9);
}

TEST(joins_stop_at_the_budget) {
    ProgramText text;
    text.stratum(0, {"n 1"});
    text.fact("(n z)");
    text.rule("(n (s ?x))", {"(n ?x)"});
    Program program = text.program();
    bool stopped = false;
    try {
        derive(program);
    } catch (const BudgetExceeded&) {
        stopped = true;
    }
    CHECK(stopped);
}
