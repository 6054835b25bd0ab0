// Open addressing from a 64-bit hash to a 32-bit number. Equality is the caller's: the table keeps
// no keys, which lets terms, gates and index keys live in whatever array they already have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omnilude {

inline uint64_t mix_hash(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 29);
}

class HashTable {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    // The number stored under `hash` for which `equal(number)` holds, or none.
    template <class Equal>
    uint32_t find(uint64_t hash, Equal equal) const {
        if (slots_.empty()) return none;
        for (size_t i = position(hash);; i = (i + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[i];
            if (slot.value == none) return none;
            if (slot.hash == fold(hash) && equal(slot.value)) return slot.value;
        }
    }

    // Caller has made sure that the key is absent.
    void insert(uint64_t hash, uint32_t value) {
        if ((count_ + 1) * 3 > slots_.size() * 2) grow();
        place({fold(hash), value}, position(hash));
        ++count_;
    }

    size_t bytes() const { return slots_.size() * sizeof(Slot); }
    size_t size() const { return count_; }

  private:
    struct Slot {
        uint32_t hash = 0;
        uint32_t value = none;
    };
    static uint32_t fold(uint64_t hash) { return static_cast<uint32_t>(hash >> 32 ^ hash); }
    size_t position(uint64_t hash) const { return spread(fold(hash)) & (slots_.size() - 1); }
    static size_t spread(uint32_t hash) { return (hash * 0x9E3779B97F4A7C15ull) >> 20; }
    void place(Slot slot, size_t i) {
        while (slots_[i].value != none) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = slot;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.value != none) place(slot, spread(slot.hash) & (slots_.size() - 1));
    }
    std::vector<Slot> slots_;
    size_t count_ = 0;
};

}  // namespace omnilude
