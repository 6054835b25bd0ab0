// A network of conjunctions of any width with complemented edges: the form in which a circuit is
// built, factored and shared, before it is cut into two-input gates.
//
// A wire is a node's number and a complement bit. OR is not a node of its own: a + b = (a'b')'.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_table.h"

namespace omnilude {

using Wire = uint32_t;
constexpr Wire wire_false = 0;
constexpr Wire wire_true = 1;
inline Wire negate(Wire w) { return w ^ 1; }
inline uint32_t node_of(Wire w) { return w >> 1; }
inline bool complemented(Wire w) { return w & 1; }

class Net {
  public:
    Net() { nodes_.push_back({0, 0}); }  // node 0 is the constant

    Wire variable() {
        nodes_.push_back({0, 0});
        return static_cast<Wire>((nodes_.size() - 1) << 1);
    }
    // Sorts and simplifies `wires` in place.
    Wire conjunction(std::vector<Wire>& wires);
    Wire disjunction(std::vector<Wire>& wires) {
        for (Wire& w : wires) w = negate(w);
        return negate(conjunction(wires));
    }

    size_t size() const { return nodes_.size(); }
    bool is_variable(uint32_t node) const { return nodes_[node].count == 0; }
    std::span<const Wire> inputs(uint32_t node) const {
        return {pool_.data() + nodes_[node].first, nodes_[node].count};
    }
    size_t bytes() const { return nodes_.size() * 8 + pool_.size() * 4 + table_.bytes(); }

  private:
    struct Node {
        uint32_t first, count;
    };
    std::vector<Node> nodes_;
    std::vector<Wire> pool_;
    HashTable table_;
};

// A relation that holds of itself (connectivity, reachability): its atoms are variables of the net
// that start false and are replaced by their definitions until nothing changes.
struct Recursion {
    std::vector<Wire> atoms;
    std::vector<Wire> definitions;
};

}  // namespace omnilude
