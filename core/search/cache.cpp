#include "search/cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace omnilude {

namespace {

// The memory that evaluations may take, whatever was asked for.
constexpr size_t most_bytes = size_t{96} << 20;

uint64_t hash_bytes(const uint8_t* bytes, size_t count) {
    uint64_t hash = count;
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes + at, std::min<size_t>(8, count - at));
        hash = (hash ^ word) * 0x9FB21C651E98DF25ull;
        hash ^= hash >> 32;
    }
    return split_mix(hash);
}

}  // namespace

EvaluationCache::EvaluationCache(const Shape& shape, uint32_t entries)
    : shape_(shape), width_(shape.policy_size + shape.players) {
    const size_t each = width_ * sizeof(float) + shape.state_bytes + sizeof(Entry);
    const size_t count = std::min<size_t>(entries, most_bytes / each);
    if (count < 2) return;
    entries_.assign(std::bit_floor(count), {0, 0, 0, Status::Free});
    states_.resize(entries_.size() * shape.state_bytes);
    numbers_.resize(entries_.size() * width_);
}

uint32_t EvaluationCache::find(const uint8_t* state) {
    if (entries_.empty()) return none;
    const size_t bytes = shape_.state_bytes;
    last_hash_ = hash_bytes(state, bytes);
    const auto first = static_cast<uint32_t>(last_hash_ & (entries_.size() - 1) & ~size_t{1});
    uint32_t oldest = none;
    for (uint32_t e = first; e < first + 2; ++e) {
        const Entry& entry = entries_[e];
        if (entry.status != Status::Free && entry.hash == last_hash_ &&
            std::memcmp(&states_[e * bytes], state, bytes) == 0) {
            entries_[e].age = ++clock_;
            return e;
        }
        if (entry.status == Status::Pending) continue;
        if (oldest == none || entry.status == Status::Free ||
            (entries_[oldest].status == Status::Ready && entry.age < entries_[oldest].age))
            oldest = e;
    }
    if (oldest != none) entries_[oldest].status = Status::Free;
    return oldest;
}

void EvaluationCache::reserve(uint32_t e, const uint8_t* state, uint32_t row) {
    entries_[e] = {last_hash_, row, ++clock_, Status::Pending};
    std::memcpy(&states_[e * shape_.state_bytes], state, shape_.state_bytes);
}

void EvaluationCache::fill(uint32_t e, const float* logits, const float* values) {
    float* to = &numbers_[size_t{e} * width_];
    std::copy_n(logits, shape_.policy_size, to);
    std::copy_n(values, shape_.players, to + shape_.policy_size);
    entries_[e].status = Status::Ready;
}

void EvaluationCache::clear() {
    for (Entry& entry : entries_) entry.status = Status::Free;
}

}  // namespace omnilude
