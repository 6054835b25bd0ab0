// Sharing turns a network into gates that mean the same.
#include "base/random.h"
#include "circuit/share.h"
#include "evaluation.h"
#include "random_graph.h"
#include "testing.h"

using namespace omnilude;
using namespace omnilude::testing;

namespace {

Wire random_conjunction(RandomStream& random, Net& net, const std::vector<Wire>& pool,
                        bool monotone) {
    std::vector<Wire> wires;
    for (uint64_t n = 1 + random.below(7); n > 0; --n) {
        const Wire w = pool[random.below(pool.size())];
        wires.push_back(monotone ? w : flip_at_random(random, w));
    }
    return random.below(2) ? net.conjunction(wires) : net.disjunction(wires);
}

CircuitNet random_net(RandomStream& random, size_t size) {
    CircuitNet out;
    std::vector<Wire> pool{wire_true};
    auto variables = [&](std::vector<Wire>& list, uint64_t count) {
        for (; count > 0; --count) {
            list.push_back(out.net.variable());
            pool.push_back(list.back());
        }
    };
    variables(out.fluents, 1 + random.below(8));
    out.does.resize(1 + random.below(2));
    for (auto& role : out.does) variables(role, 1 + random.below(4));
    for (uint64_t recursions = random.below(3); recursions > 0; --recursions) {
        Recursion recursion;
        std::vector<Wire> inside;
        for (uint64_t n = 2 + random.below(4); n > 0; --n)
            recursion.atoms.push_back(out.net.variable());
        inside = recursion.atoms;
        for (int i = 0; i < 4; ++i)
            inside.push_back(random_conjunction(random, out.net, pool, false));
        for (int i = 0; i < 6; ++i)
            inside.push_back(random_conjunction(random, out.net, inside, true));
        for (size_t i = 0; i < recursion.atoms.size(); ++i)
            recursion.definitions.push_back(inside[random.below(inside.size())]);
        out.recursions.push_back(recursion);
        pool.insert(pool.end(), recursion.atoms.begin(), recursion.atoms.end());
    }
    for (size_t i = 0; i < size; ++i)
        pool.push_back(random_conjunction(random, out.net, pool, false));
    auto any = [&] { return flip_at_random(random, pool[random.below(pool.size())]); };
    for (size_t i = 0; i < out.fluents.size(); ++i) out.next.push_back(any());
    for (const auto& role : out.does) {
        out.legal.emplace_back();
        out.goals.emplace_back();
        out.sees.emplace_back();
        for (size_t m = 0; m < role.size(); ++m) out.legal.back().push_back(any());
        for (int value : {0, 50, 100}) out.goals.back().push_back({value, any()});
        for (Term term : {3, 4}) out.sees.back().push_back({term, any()});
    }
    out.terminal = any();
    return out;
}

void check_shared(RandomStream& random, const CircuitNet& net, uint64_t effort) {
    Budget budget(10, uint64_t{1} << 30, 1'000'000);
    const Circuit circuit = share(net, effort, budget);
    for (int round = 0; round < 4; ++round) {
        Values before(net.net.size(), 0), after(circuit.graph.size(), 0);
        auto give = [&](const std::vector<Wire>& from, const std::vector<Wire>& to) {
            CHECK(from.size() == to.size());
            for (size_t i = 0; i < from.size(); ++i)
                before[node_of(from[i])] = after[node_of(to[i])] = random.below(UINT64_MAX);
        };
        give(net.fluents, circuit.fluents);
        for (size_t r = 0; r < net.does.size(); ++r) give(net.does[r], circuit.does[r]);
        evaluate(net.net, net.recursions, before);
        evaluate(circuit.graph, circuit.graph.recursions, after);
        auto same = [&](Wire x, Wire y) { CHECK(value_of(before, x) == value_of(after, y)); };
        for (size_t i = 0; i < net.next.size(); ++i) same(net.next[i], circuit.next[i]);
        same(net.terminal, circuit.terminal);
        for (size_t r = 0; r < net.does.size(); ++r) {
            for (size_t m = 0; m < net.does[r].size(); ++m)
                same(net.legal[r][m], circuit.legal[r][m]);
            for (size_t g = 0; g < net.goals[r].size(); ++g) {
                CHECK(net.goals[r][g].value == circuit.goals[r][g].value);
                same(net.goals[r][g].wire, circuit.goals[r][g].wire);
            }
            for (size_t p = 0; p < net.sees[r].size(); ++p)
                same(net.sees[r][p].wire, circuit.sees[r][p].wire);
        }
    }
}

}  // namespace

TEST(shared_gates_mean_what_the_network_meant) {
    RandomStream random(1, 0);
    for (int round = 0; round < 300; ++round)
        check_shared(random, random_net(random, random.below(60)), 20'000'000);
}

TEST(sharing_may_give_up_at_any_point) {
    RandomStream random(2, 0);
    for (uint64_t effort : {0, 1, 5, 20, 100, 1000})
        for (int round = 0; round < 30; ++round)
            check_shared(random, random_net(random, 60), effort);
}

TEST(sharing_finds_a_common_pair) {
    CircuitNet net;
    for (int i = 0; i < 6; ++i) net.fluents.push_back(net.net.variable());
    const auto& f = net.fluents;
    for (int i = 2; i < 6; ++i) {
        std::vector<Wire> wires{f[0], f[1], f[static_cast<size_t>(i)]};
        net.next.push_back(net.net.conjunction(wires));
    }
    Budget budget(10, uint64_t{1} << 30, 1'000'000);
    const Circuit circuit = share(net, 1000, budget);
    size_t gates = 0;
    for (uint32_t n = 0; n < circuit.graph.size(); ++n) gates += circuit.graph.is_gate(n);
    CHECK(gates == 5);  // the pair, and one for each output
}
