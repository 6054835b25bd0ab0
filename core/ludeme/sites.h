// Sets of sites, as bits. How many words count is known to whoever uses them: it is the same for
// all sets of a game.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace omnilude::ludeme {

constexpr uint32_t max_words = 32;
constexpr uint32_t max_sites = max_words * 64;

struct SiteSet {
    uint64_t bits[max_words];

    void clear(uint32_t words) { std::memset(bits, 0, words * sizeof(uint64_t)); }
    void copy(const SiteSet& other, uint32_t words) {
        std::memcpy(bits, other.bits, words * sizeof(uint64_t));
    }
    bool has(uint32_t site) const { return bits[site >> 6] >> (site & 63) & 1; }
    void add(uint32_t site) { bits[site >> 6] |= uint64_t{1} << (site & 63); }
    void remove(uint32_t site) { bits[site >> 6] &= ~(uint64_t{1} << (site & 63)); }
    bool empty(uint32_t words) const {
        uint64_t any = 0;
        for (uint32_t w = 0; w < words; ++w) any |= bits[w];
        return any == 0;
    }
    uint32_t count(uint32_t words) const {
        uint32_t total = 0;
        for (uint32_t w = 0; w < words; ++w) total += static_cast<uint32_t>(std::popcount(bits[w]));
        return total;
    }
    // The lowest site, or -1.
    int first(uint32_t words) const {
        for (uint32_t w = 0; w < words; ++w)
            if (bits[w]) return static_cast<int>(w * 64 + std::countr_zero(bits[w]));
        return -1;
    }
    // Number n in order, or -1.
    int nth(uint32_t n, uint32_t words) const { return nth_bit(bits, n, words); }
    static int nth_bit(const uint64_t* bits, uint32_t n, uint32_t words) {
        for (uint32_t w = 0; w < words; ++w) {
            const auto here = static_cast<uint32_t>(std::popcount(bits[w]));
            if (n >= here) {
                n -= here;
                continue;
            }
            uint64_t left = bits[w];
            for (; n > 0; --n) left &= left - 1;
            return static_cast<int>(w * 64 + static_cast<uint32_t>(std::countr_zero(left)));
        }
        return -1;
    }
    template <class Visit>
    void each(uint32_t words, Visit&& visit) const {
        for (uint32_t w = 0; w < words; ++w)
            for (uint64_t left = bits[w]; left; left &= left - 1)
                visit(static_cast<int>(w * 64 + std::countr_zero(left)));
    }
    // The same, until `visit` returns true; returns whether it did.
    template <class Visit>
    bool any(uint32_t words, Visit&& visit) const {
        for (uint32_t w = 0; w < words; ++w)
            for (uint64_t left = bits[w]; left; left &= left - 1)
                if (visit(static_cast<int>(w * 64 + std::countr_zero(left)))) return true;
        return false;
    }
};

}  // namespace omnilude::ludeme
