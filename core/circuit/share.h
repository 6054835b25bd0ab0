// From conjunctions of any width to two-input gates, sharing what they have in common: the pair of
// wires that occurs together in most conjunctions becomes a gate first, and so on.
#pragma once

#include "base/budget.h"
#include "circuit/build.h"
#include "circuit/graph.h"

namespace omnilude {

// The circuit as gates. Wires mean the same as in CircuitNet, but belong to `graph`.
struct Circuit {
    Graph graph;
    std::vector<Wire> fluents, next;
    std::vector<std::vector<Wire>> does, legal;
    Wire terminal = wire_false;
    std::vector<std::vector<CircuitNet::Goal>> goals;
    std::vector<std::vector<CircuitNet::Percept>> sees;
    std::vector<CircuitNet::View> views;
};

// `effort` is the number of pairs looked at before sharing stops improving and cutting begins.
Circuit share(const CircuitNet& net, uint64_t effort, Budget& budget);

}  // namespace omnilude
