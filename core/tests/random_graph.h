// Random graphs with recursions, as circuits of games have them.
#pragma once

#include "base/random.h"
#include "circuit/graph.h"

namespace omnilude::testing {

inline Wire flip_at_random(RandomStream& random, Wire w) { return random.below(2) ? negate(w) : w; }

// Adds gates over `pool`, and to it. `reach` is how far back operands are looked for: with a large
// one, many values are alive at once.
inline void add_gates(RandomStream& random, Graph& graph, std::vector<Wire>& pool, size_t count,
                      size_t reach) {
    auto operand = [&] {
        const size_t window = std::min(pool.size(), random.below(3) ? reach : pool.size());
        return flip_at_random(random, pool[pool.size() - 1 - random.below(window)]);
    };
    for (size_t i = 0; i < count; ++i) {
        const Wire a = operand(), b = operand();
        pool.push_back(random.below(4) ? graph.land(a, b) : graph.lxor(a, b));
    }
}

// A recursion whose definitions are monotone in its own atoms, and rest on `pool` in any way.
inline void add_recursion(RandomStream& random, Graph& graph, std::vector<Wire>& pool, size_t atoms,
                          size_t gates) {
    Recursion recursion;
    std::vector<Wire> monotone;
    for (size_t i = 0; i < atoms; ++i) {
        recursion.atoms.push_back(graph.variable());
        graph.recursion_of.resize(graph.size(), -1);
        graph.recursion_of.back() = static_cast<int32_t>(graph.recursions.size());
    }
    monotone = recursion.atoms;
    for (size_t i = 0; i < gates; ++i) {
        const Wire a = monotone[random.below(monotone.size())];
        const Wire b = random.below(2) ? flip_at_random(random, pool[random.below(pool.size())])
                                       : monotone[random.below(monotone.size())];
        monotone.push_back(random.below(2) ? graph.land(a, b) : graph.lor(a, b));
    }
    for (size_t i = 0; i < atoms; ++i) {
        Wire definition = monotone[random.below(monotone.size())];
        const Wire start = flip_at_random(random, pool[random.below(pool.size())]);
        if (random.below(2)) definition = graph.lor(definition, start);
        recursion.definitions.push_back(random.below(12) ? definition : start);
    }
    graph.recursions.push_back(recursion);
    pool.insert(pool.end(), recursion.atoms.begin(), recursion.atoms.end());
    for (size_t i = 0; i < gates / 2; ++i) pool.push_back(monotone[random.below(monotone.size())]);
}

}  // namespace omnilude::testing
