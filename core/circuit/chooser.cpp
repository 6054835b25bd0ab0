#include "circuit/chooser.h"

#include <algorithm>

namespace omnilude {

namespace {

using Number = std::vector<Wire>;  // bits, low first

Wire bit(const Number& number, size_t i) { return i < number.size() ? number[i] : wire_false; }

Number add(Graph& g, const Number& a, const Number& b, size_t limit) {
    Number out;
    Wire carry = wire_false;
    size_t width = 0;
    while ((size_t{1} << width) <= limit) ++width;
    for (size_t i = 0; i < width; ++i) {
        const Wire x = bit(a, i), y = bit(b, i);
        const Wire either = g.lxor(x, y);
        out.push_back(g.lxor(either, carry));
        carry = g.lor(g.land(x, y), g.land(either, carry));
    }
    return out;
}

struct Node {
    uint32_t first, last;
    int32_t left = -1, right = -1;
    Number count;
};

class Tree {
  public:
    Tree(Graph& graph, const std::vector<Wire>& leaves) : g_(graph), leaves_(leaves) {
        make(0, static_cast<uint32_t>(leaves.size()));
    }

    const Number& total() const { return nodes_[0].count; }

    std::vector<Wire> select(Number rank, Wire any) {
        std::vector<Wire> selected(leaves_.size(), wire_false);
        struct Active {
            int32_t node;
            Wire here;
        };
        std::vector<Active> level{{0, any}};
        while (!level.empty()) {
            // The left count of the node at which each lane is.
            Number left;
            for (const Active& at : level) {
                const Node& node = nodes_[at.node];
                if (node.left < 0 || node.last - node.first == 2) continue;
                const Number& count = nodes_[node.left].count;
                if (left.size() < count.size()) left.resize(count.size(), wire_false);
                for (size_t i = 0; i < count.size(); ++i)
                    left[i] = g_.lor(left[i], g_.land(at.here, count[i]));
            }
            Wire below = wire_false;  // rank < left
            Number rest;
            for (size_t i = 0; i < std::max(rank.size(), left.size()); ++i) {
                const Wire r = bit(rank, i), l = bit(left, i);
                const Wire differ = g_.lxor(r, l);
                rest.push_back(g_.lxor(differ, below));
                below = g_.lor(g_.land(differ, l), g_.land(negate(differ), below));
            }
            size_t largest = 0;
            std::vector<Active> deeper;
            for (const Active& at : level) {
                const Node& node = nodes_[at.node];
                const uint32_t size = node.last - node.first;
                if (size == 1) {
                    selected[node.first] = at.here;
                } else if (size == 2) {
                    // Two leaves: the first if it is true and the rank is 0, else the second.
                    const Wire first = g_.land(leaves_[node.first], negate(bit(rank, 0)));
                    selected[node.first] = g_.land(at.here, first);
                    selected[node.first + 1] = g_.land(at.here, negate(first));
                } else {
                    deeper.push_back({node.left, g_.land(at.here, below)});
                    deeper.push_back({node.right, g_.land(at.here, negate(below))});
                    for (int32_t child : {node.left, node.right})
                        largest =
                            std::max<size_t>(largest, nodes_[child].last - nodes_[child].first);
                }
            }
            // Where the walk goes on, the rank is less than the number of leaves left.
            size_t width = 0;
            while ((size_t{1} << width) < largest) ++width;
            Number next;
            for (size_t i = 0; i < std::min(width, rest.size()); ++i)
                next.push_back(g_.choose(below, bit(rank, i), rest[i]));
            rank = std::move(next);
            level = std::move(deeper);
        }
        return selected;
    }

  private:
    int32_t make(uint32_t first, uint32_t last) {
        const auto number = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({first, last, -1, -1, {}});
        const uint32_t size = last - first;
        if (size == 1) {
            nodes_[number].count = {leaves_[first]};
            return number;
        }
        // The left part is the largest power of two, so that all its levels are full.
        uint32_t half = 1;
        while (half * 2 < size) half *= 2;
        const int32_t left = make(first, first + half);
        const int32_t right = make(first + half, last);
        nodes_[number].left = left;
        nodes_[number].right = right;
        nodes_[number].count = add(g_, nodes_[left].count, nodes_[right].count, size);
        return number;
    }

    Graph& g_;
    const std::vector<Wire>& leaves_;
    std::vector<Node> nodes_;
};

}  // namespace

Chooser make_chooser(Graph& graph, const std::vector<Wire>& candidates) {
    Chooser out;
    out.candidates = candidates;
    if (candidates.size() == 1) {
        out.none = negate(candidates[0]);
        out.selected = candidates;
        return out;
    }
    Tree tree(graph, candidates);
    const Number count = tree.total();
    out.none = wire_true;
    for (Wire w : count) out.none = graph.land(out.none, negate(w));
    // count - 1; its width is that of the largest rank.
    size_t width = 0;
    while ((size_t{1} << width) < candidates.size()) ++width;
    Wire borrow = wire_true;
    for (size_t i = 0; i < width; ++i) {
        out.top_rank.push_back(graph.lxor(bit(count, i), borrow));
        borrow = graph.land(borrow, negate(bit(count, i)));
    }
    out.mask = out.top_rank;
    for (size_t i = width; i-- > 1;) out.mask[i - 1] = graph.lor(out.mask[i - 1], out.mask[i]);
    for (size_t i = 0; i < width; ++i) out.rank.push_back(graph.variable());
    out.selected = tree.select(out.rank, negate(out.none));
    return out;
}

}  // namespace omnilude
