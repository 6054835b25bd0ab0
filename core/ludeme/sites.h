// Sets of sites, as bits. How many words count is known to whoever uses them: it is the same for
// all sets of a game.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace omnilude::ludeme {

constexpr uint32_t max_words = 32;
constexpr uint32_t max_sites = max_words * 64;

// By byte and n: which of its bits is number n.
constexpr std::array<uint8_t, 2048> make_nth_of_byte() {
    std::array<uint8_t, 2048> table{};
    for (uint32_t byte = 0; byte < 256; ++byte)
        for (uint32_t bit = 0, n = 0; bit < 8; ++bit)
            if (byte >> bit & 1) table[n++ << 8 | byte] = static_cast<uint8_t>(bit);
    return table;
}
inline constexpr std::array<uint8_t, 2048> nth_of_byte = make_nth_of_byte();

// Which bit of a word that has more than n is number n, without a branch: bytes are counted side
// by side, and those whose bits all come before are skipped.
inline uint32_t nth_of_word(uint64_t word, uint32_t n) {
    constexpr uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t sums = word - (word >> 1 & 0x5555555555555555u);
    sums = (sums & 0x3333333333333333u) + (sums >> 2 & 0x3333333333333333u);
    sums = ((sums + (sums >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * ones;
    const uint64_t skipped = ((n * ones | tops) - sums) & tops;
    const auto place = static_cast<uint32_t>(std::popcount(skipped)) * 8;
    const auto before = static_cast<uint32_t>((sums << 8) >> place & 0xFF);
    return place + nth_of_byte[(n - before) << 8 | (word >> place & 0xFF)];
}

// Calls `visit` for every bit in order until it returns true; returns whether it did.
template <class Visit>
bool each_bit(const uint64_t* bits, uint32_t words, Visit&& visit) {
    for (uint32_t w = 0; w < words; ++w)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            if (visit(static_cast<int>(w * 64 + static_cast<uint32_t>(std::countr_zero(left)))))
                return true;
    return false;
}

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
            return static_cast<int>(w * 64 + nth_of_word(bits[w], n));
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
        return each_bit(bits, words, visit);
    }
};

}  // namespace omnilude::ludeme
