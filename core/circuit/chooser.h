// Gates that choose one of the true wires of a list, uniformly, in every lane at once.
//
// A tree counts the true wires below each of its nodes. A lane that is given a rank r below its
// count finds the r-th true wire by walking down: left if r is less than the left count, else right
// with that count taken off. All lanes walk together, level by level.
#pragma once

#include <vector>

#include "circuit/graph.h"

namespace omnilude {

struct Chooser {
    std::vector<Wire> candidates;
    // The largest rank (count - 1) and the smallest mask of ones that covers it, low bit first;
    // both all ones where no candidate is true.
    std::vector<Wire> top_rank, mask;
    std::vector<Wire> rank;      // variables: to be set to a number from 0 to top_rank
    std::vector<Wire> selected;  // by candidate; none where no candidate is true
    Wire none;                   // no candidate is true
};

Chooser make_chooser(Graph& graph, const std::vector<Wire>& candidates);

}  // namespace omnilude
