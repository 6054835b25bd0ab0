// Simplification never changes what a network or graph means: truth tables of six variables.
#include <algorithm>

#include "base/random.h"
#include "circuit/factor.h"
#include "evaluation.h"
#include "testing.h"

using namespace omnilude;
using namespace omnilude::testing;

namespace {

struct Known {
    Wire wire;
    uint64_t table;
};

Known pick(RandomStream& random, const std::vector<Known>& pool) {
    // Recent ones more often, so that simplifications meet their operands again.
    const size_t size = pool.size();
    const size_t window = random.below(2) ? std::min<size_t>(size, 8) : size;
    const Known known = pool[size - 1 - random.below(window)];
    const bool flip = random.below(2);
    return {flip ? negate(known.wire) : known.wire, flip ? ~known.table : known.table};
}

template <class Circuit>
std::vector<Known> make_variables(Circuit& circuit) {
    std::vector<Known> pool{{wire_false, 0}};
    for (uint32_t i = 0; i < 6; ++i) pool.push_back({circuit.variable(), truth_column(i)});
    return pool;
}

template <class Circuit>
void check_tables(const Circuit& circuit, const std::vector<Known>& pool) {
    Values values(circuit.size(), 0);
    for (uint32_t i = 0; i < 6; ++i) values[i + 1] = truth_column(i);
    evaluate(circuit, {}, values);
    for (const Known& known : pool) CHECK(value_of(values, known.wire) == known.table);
}

}  // namespace

TEST(graphs_keep_their_truth_tables) {
    RandomStream random(1, 0);
    for (int round = 0; round < 300; ++round) {
        Graph graph;
        std::vector<Known> pool = make_variables(graph);
        for (int i = 0; i < 60; ++i) {
            const Known a = pick(random, pool), b = pick(random, pool), c = pick(random, pool);
            switch (random.below(4)) {
                case 0:
                    pool.push_back({graph.land(a.wire, b.wire), a.table & b.table});
                    break;
                case 1:
                    pool.push_back({graph.lor(a.wire, b.wire), a.table | b.table});
                    break;
                case 2:
                    pool.push_back({graph.lxor(a.wire, b.wire), a.table ^ b.table});
                    break;
                default:
                    pool.push_back({graph.choose(a.wire, b.wire, c.wire),
                                    (a.table & b.table) | (~a.table & c.table)});
            }
        }
        check_tables(graph, pool);
        // Gates are shared: no two nodes are the same gate.
        for (uint32_t n = 1; n < graph.size(); ++n)
            for (uint32_t m = n + 1; m < graph.size(); ++m)
                CHECK(!graph.is_gate(n) || graph.node(n).kind != graph.node(m).kind ||
                      graph.node(n).a != graph.node(m).a || graph.node(n).b != graph.node(m).b);
    }
}

TEST(graphs_fold_what_is_constant) {
    Graph graph;
    const Wire a = graph.variable(), b = graph.variable();
    const size_t size = graph.size();
    CHECK(graph.land(a, wire_true) == a && graph.land(a, wire_false) == wire_false);
    CHECK(graph.land(a, negate(a)) == wire_false && graph.lor(a, negate(a)) == wire_true);
    CHECK(graph.lxor(a, a) == wire_false && graph.lxor(a, negate(a)) == wire_true);
    CHECK(graph.lxor(a, wire_true) == negate(a) && graph.lor(a, a) == a);
    CHECK(graph.size() == size);
    const Wire both = graph.land(a, b);
    CHECK(graph.land(b, a) == both && graph.land(a, both) == both);
    CHECK(graph.land(negate(a), both) == wire_false && graph.lor(a, both) == a);
    CHECK(graph.size() == size + 1);
}

TEST(nets_keep_their_truth_tables) {
    RandomStream random(2, 0);
    for (int round = 0; round < 300; ++round) {
        Net net;
        std::vector<Known> pool = make_variables(net);
        for (int i = 0; i < 40; ++i) {
            std::vector<Wire> wires;
            const bool conjunction = random.below(2);
            uint64_t table = conjunction ? ~uint64_t{0} : 0;
            for (uint64_t n = random.below(6); n > 0; --n) {
                const Known known = pick(random, pool);
                wires.push_back(known.wire);
                table = conjunction ? table & known.table : table | known.table;
            }
            pool.push_back({conjunction ? net.conjunction(wires) : net.disjunction(wires), table});
        }
        check_tables(net, pool);
    }
}

TEST(factoring_keeps_the_meaning_of_sums) {
    RandomStream random(3, 0);
    for (int round = 0; round < 1500; ++round) {
        Net net;
        Budget budget(10, uint64_t{1} << 30, 1'000'000);
        std::vector<Known> pool = make_variables(net);
        if (random.below(5)) pool.erase(pool.begin());  // constants in some rounds
        SumOfProducts sum;
        sum.clear();
        uint64_t table = 0;
        for (uint64_t products = random.below(12); products > 0; --products) {
            uint64_t product = ~uint64_t{0};
            for (uint64_t n = random.below(5); n > 0; --n) {
                const Known known = pick(random, pool);
                sum.literal(known.wire);
                product &= known.table;
            }
            sum.end();
            table |= product;
        }
        pool.push_back({factor(sum, ExactlyOne(), net, budget), table});
        check_tables(net, pool);
    }
}

// Two sets of moves, of each of which exactly one is made, and two fluents.
TEST(factoring_uses_that_exactly_one_move_is_made) {
    RandomStream random(4, 0);
    for (int round = 0; round < 1500; ++round) {
        Net net;
        Budget budget(10, uint64_t{1} << 30, 1'000'000);
        const size_t sizes[2] = {1 + random.below(5), 1 + random.below(4)};
        std::vector<Wire> sets[2], all;
        ExactlyOne exactly_one;
        for (int s = 0; s < 2; ++s) {
            for (size_t i = 0; i < sizes[s]; ++i) sets[s].push_back(net.variable());
            exactly_one.add(sets[s]);
            all.insert(all.end(), sets[s].begin(), sets[s].end());
        }
        const Wire fluents[2] = {net.variable(), net.variable()};
        all.insert(all.end(), fluents, fluents + 2);
        // Lanes: every choice of moves with every value of the fluents, 5 * 4 * 4 at most; the
        // rest repeat the first. Two words.
        std::vector<Values> words;
        for (int part = 0; part < 2; ++part) {
            Values values(net.size(), 0);
            for (int lane = 0; lane < 64; ++lane) {
                size_t number = static_cast<size_t>(part * 64 + lane);
                const uint64_t bit = uint64_t{1} << lane;
                values[node_of(fluents[0])] |= number % 2 * bit;
                values[node_of(fluents[1])] |= number / 2 % 2 * bit;
                number /= 4;
                values[node_of(sets[0][number % sizes[0]])] |= bit;
                values[node_of(sets[1][number / sizes[0] % sizes[1]])] |= bit;
            }
            words.push_back(values);
        }
        SumOfProducts sum;
        sum.clear();
        uint64_t expected[2] = {0, 0};
        for (uint64_t products = random.below(14); products > 0; --products) {
            uint64_t product[2] = {~uint64_t{0}, ~uint64_t{0}};
            for (uint64_t n = 1 + random.below(3); n > 0; --n) {
                Wire w = all[random.below(all.size())];
                if (random.below(4) == 0) w = negate(w);
                sum.literal(w);
                for (int part = 0; part < 2; ++part) product[part] &= value_of(words[part], w);
            }
            sum.end();
            for (int part = 0; part < 2; ++part) expected[part] |= product[part];
        }
        const Wire result = factor(sum, exactly_one, net, budget);
        for (int part = 0; part < 2; ++part) {
            evaluate(net, {}, words[part]);
            CHECK(value_of(words[part], result) == expected[part]);
        }
    }
}
