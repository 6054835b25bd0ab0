// A word of lanes: one bit for each of 256 games (or positions) that are computed side by side.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace omnilude {

constexpr size_t lanes_per_word = 256;

struct alignas(32) Lanes {
    uint64_t part[4];
};

}  // namespace omnilude
