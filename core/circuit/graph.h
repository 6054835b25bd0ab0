// Two-input gates (AND, XOR) with complemented edges, hashed and folded as they are made.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_table.h"
#include "circuit/net.h"

namespace omnilude {

class Graph {
  public:
    enum class Kind : uint8_t { Constant, Variable, And, Xor };
    struct Node {
        Kind kind;
        Wire a, b;
    };

    Graph() { nodes_.push_back({Kind::Constant, 0, 0}); }

    Wire variable() {
        nodes_.push_back({Kind::Variable, 0, 0});
        return static_cast<Wire>((nodes_.size() - 1) << 1);
    }
    Wire land(Wire a, Wire b);
    Wire lor(Wire a, Wire b) { return negate(land(negate(a), negate(b))); }
    Wire lxor(Wire a, Wire b);
    Wire choose(Wire condition, Wire then, Wire otherwise) {
        return lor(land(condition, then), land(negate(condition), otherwise));
    }

    size_t size() const { return nodes_.size(); }
    const Node& node(uint32_t n) const { return nodes_[n]; }
    bool is_gate(uint32_t n) const { return nodes_[n].kind >= Kind::And; }
    size_t bytes() const { return nodes_.size() * sizeof(Node) + table_.bytes(); }

    // Recursive relations: variables of this graph and what defines them.
    std::vector<Recursion> recursions;
    // By node: the recursion whose variable it is, or -1.
    std::vector<int32_t> recursion_of;
    int32_t recursion_number(uint32_t n) const {
        return n < recursion_of.size() ? recursion_of[n] : -1;
    }

  private:
    Wire make(Kind kind, Wire a, Wire b);
    Wire simplify_pair(Wire a, Wire b) const;

    std::vector<Node> nodes_;
    HashTable table_;
};

}  // namespace omnilude
