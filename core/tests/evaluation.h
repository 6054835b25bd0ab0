// Slow and obvious evaluation of networks and graphs, 64 assignments at a time.
#pragma once

#include <vector>

#include "circuit/graph.h"
#include "circuit/net.h"

namespace omnilude::testing {

using Values = std::vector<uint64_t>;  // by node

inline uint64_t value_of(const Values& values, Wire w) {
    return values[node_of(w)] ^ (complemented(w) ? ~uint64_t{0} : 0);
}

inline void evaluate_gates(const Net& net, Values& values) {
    for (uint32_t n = 1; n < net.size(); ++n) {
        if (net.is_variable(n)) continue;
        values[n] = ~uint64_t{0};
        for (Wire w : net.inputs(n)) values[n] &= value_of(values, w);
    }
}

inline void evaluate_gates(const Graph& graph, Values& values) {
    for (uint32_t n = 1; n < graph.size(); ++n) {
        const Graph::Node& node = graph.node(n);
        if (node.kind == Graph::Kind::And)
            values[n] = value_of(values, node.a) & value_of(values, node.b);
        if (node.kind == Graph::Kind::Xor)
            values[n] = value_of(values, node.a) ^ value_of(values, node.b);
    }
}

// `values` holds those of the variables. Recursions are completed one after the other.
template <class Circuit>
void evaluate(const Circuit& circuit, const std::vector<Recursion>& recursions, Values& values) {
    values.resize(circuit.size(), 0);
    for (const Recursion& recursion : recursions)
        for (Wire w : recursion.atoms) values[node_of(w)] = 0;
    for (const Recursion& recursion : recursions)
        for (bool changed = true; changed;) {
            evaluate_gates(circuit, values);
            changed = false;
            Values next;
            for (Wire w : recursion.definitions) next.push_back(value_of(values, w));
            for (size_t i = 0; i < next.size(); ++i) {
                changed |= values[node_of(recursion.atoms[i])] != next[i];
                values[node_of(recursion.atoms[i])] = next[i];
            }
        }
    evaluate_gates(circuit, values);
}

// The first 2^n assignments of n variables, n up to 6: bit a of variable i is bit i of a.
inline uint64_t truth_column(uint32_t i) {
    constexpr uint64_t columns[6] = {0xAAAAAAAAAAAAAAAAull, 0xCCCCCCCCCCCCCCCCull,
                                     0xF0F0F0F0F0F0F0F0ull, 0xFF00FF00FF00FF00ull,
                                     0xFFFF0000FFFF0000ull, 0xFFFFFFFF00000000ull};
    return columns[i];
}

}  // namespace omnilude::testing
