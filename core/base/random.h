// A counter-based generator: word number c of stream k is a hash of (c, k), so that any part of any
// stream can be had without the rest, and results do not depend on how work is spread.
//
// Each 32-bit element of a word of lanes has a key of its own (two 32-bit numbers); the hash is two
// rounds of multiply and xor-shift (constants of Wellons' low-bias search) with the second half of
// the key added between them. Tests measure the uniformity of what is built on it.
#pragma once

#include <cmath>
#include <cstdint>

namespace omnilude {

inline uint64_t split_mix(uint64_t& state) {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

constexpr uint32_t random_multiplier_1 = 0x21F0AAADu, random_multiplier_2 = 0xD35A2D97u;
constexpr uint32_t random_counter_step = 0x9E3779B9u;

inline uint32_t random_element(uint32_t counter, uint32_t key1, uint32_t key2) {
    uint32_t x = counter * random_counter_step + key1;
    x ^= x >> 16;
    x *= random_multiplier_1;
    x ^= x >> 15;
    x += key2;
    x *= random_multiplier_2;
    return x ^ (x >> 15);
}

// A plain stream for work that is not bit-sliced.
class RandomStream {
  public:
    RandomStream(uint64_t seed, uint64_t stream) : state_(seed) {
        state_ = split_mix(state_) ^ (stream * 0xD1342543DE82EF95ull);
        split_mix(state_);
    }
    // Exactly uniform in [0, bound).
    uint64_t below(uint64_t bound) {
        for (;;) {
            const unsigned __int128 product =
                static_cast<unsigned __int128>(split_mix(state_)) * bound;
            const auto low = static_cast<uint64_t>(product);
            // Almost always known without a division: the remainder is less than the bound.
            if (low >= bound || low >= -bound % bound) return static_cast<uint64_t>(product >> 64);
        }
    }

    // In [0, 1).
    double uniform() { return static_cast<double>(split_mix(state_) >> 11) * 0x1p-53; }
    double gumbel() { return -std::log(-std::log(uniform() + 0x1p-54)); }
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform() + 0x1p-54));
        return radius * std::cos(6.283185307179586 * uniform());
    }
    // Gamma with the given shape and scale 1 (Marsaglia and Tsang 2000).
    double gamma(double shape) {
        if (shape < 1) {
            const double larger = gamma(shape + 1);  // drawn first, whatever the compiler
            return larger * std::pow(uniform() + 0x1p-54, 1 / shape);
        }
        const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal(), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
            if (v > 0 && std::log(uniform() + 0x1p-54) < 0.5 * x * x + d - d * v + d * std::log(v))
                return d * v;
        }
    }

  private:
    uint64_t state_;
};

}  // namespace omnilude
