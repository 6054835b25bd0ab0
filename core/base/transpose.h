// 64 x 64 bits, transposed in place: between states (a row each) and lanes (a column each).
#pragma once

#include <cstdint>

namespace omnilude {

inline void transpose64(uint64_t* rows) {
    uint64_t mask = 0x00000000FFFFFFFFull;
    for (int width = 32; width != 0; width >>= 1, mask ^= mask << width)
        for (int block = 0; block < 64; block += 2 * width)
            for (int i = block; i < block + width; ++i) {
                const uint64_t swap = ((rows[i] >> width) ^ rows[i + width]) & mask;
                rows[i] ^= swap << width;
                rows[i + width] ^= swap;
            }
}

}  // namespace omnilude
