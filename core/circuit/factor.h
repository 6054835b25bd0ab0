// Sums of products, factored: a.b + a.c + d becomes a.(b + c) + d, the most frequent literal first.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "circuit/net.h"

namespace omnilude {

// Sets of variables of which exactly one is true at any time: the moves of each role. An OR over
// more than half of a set is the complement of the OR over the rest.
class ExactlyOne {
  public:
    void add(std::span<const Wire> variables);
    // Rewrites a list of wires that are to be ORed.
    void simplify(std::vector<Wire>& wires, Net& net) const;

  private:
    std::vector<std::vector<Wire>> sets_;
    std::vector<int32_t> set_of_;  // by node; -1 where none
};

class SumOfProducts {
  public:
    void clear() {
        starts_.assign(1, 0);
        literals_.clear();
    }
    void literal(Wire w) { literals_.push_back(w); }
    void end() { starts_.push_back(static_cast<uint32_t>(literals_.size())); }
    size_t products() const { return starts_.size() - 1; }
    std::span<const Wire> product(size_t i) const {
        return {literals_.data() + starts_[i], starts_[i + 1] - starts_[i]};
    }

  private:
    std::vector<uint32_t> starts_{0};
    std::vector<Wire> literals_;
};

Wire factor(const SumOfProducts& sum, const ExactlyOne& exactly_one, Net& net, Budget& budget);

}  // namespace omnilude
