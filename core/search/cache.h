// Evaluations by state, so that no state is evaluated twice with the same weights, neither in one
// batch nor later. Two places for each hash; the older entry gives way.
#pragma once

#include <cstdint>
#include <vector>

#include "search/tree.h"

namespace omnilude {

class EvaluationCache {
  public:
    EvaluationCache(const Shape& shape, uint32_t entries);

    enum class Status : uint8_t { Free, Pending, Ready };
    struct Entry {
        uint64_t hash;
        uint32_t row, age;  // row: of the batch that is being gathered
        Status status;
    };
    static constexpr uint32_t none = UINT32_MAX;

    // The entry of a state, or a place reserved for it (then Free), or `none`.
    uint32_t find(const uint8_t* state);
    Entry& entry(uint32_t e) { return entries_[e]; }
    const float* logits(uint32_t e) const { return &numbers_[size_t{e} * width_]; }
    const float* values(uint32_t e) const { return logits(e) + shape_.policy_size; }
    void reserve(uint32_t e, const uint8_t* state, uint32_t row);
    void fill(uint32_t e, const float* logits, const float* values);
    void clear();

  private:
    const Shape& shape_;
    size_t width_;
    uint64_t last_hash_ = 0;
    uint32_t clock_ = 0;
    std::vector<Entry> entries_;
    std::vector<uint8_t> states_;
    std::vector<float> numbers_;
};

}  // namespace omnilude
