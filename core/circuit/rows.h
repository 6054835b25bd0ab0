// Between words of lanes and rows of bits, and from rows of bits to lists of moves: what a batch
// costs beside the circuit itself. Chosen once for the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace omnilude {

struct RowFunctions {
    // 64 x 64 bits in place.
    void (*transpose)(uint64_t* rows);
    // Number of ones in `words` words.
    uint64_t (*count)(const uint64_t* rows, size_t words);
    // Lists the columns that are set in each of `count` rows, by role: role r has the columns from
    // borders[r] to borders[r + 1], and they are numbered from 0 within it. `offsets` receives the
    // end of each list, counted from `start`; returns the end of the last.
    uint32_t (*list)(const uint64_t* rows, size_t row_words, size_t count,
                     std::span<const uint32_t> borders, int32_t* moves, uint32_t start,
                     uint32_t* offsets);
};

const RowFunctions& row_functions();
RowFunctions row_functions_generic();
RowFunctions row_functions_avx2();

}  // namespace omnilude
