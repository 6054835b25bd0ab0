#include "circuit/rows.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace omnilude {

#ifdef __AVX2__

namespace {

#include "circuit/rows_kernel.h"

// Bytes first: after the unpacking, each register holds one byte of each of 32 rows; the signs of
// those bytes, taken eight times with a shift between, are the transposed rows.
void transpose_avx2(uint64_t* rows) {
    const __m256i pair_up = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
                                             0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    __m256i bytes[2][8];
    for (int half = 0; half < 2; ++half) {
        const uint64_t* from = rows + 32 * half;
        __m256i r[8], s[8];
        for (int i = 0; i < 8; ++i) {
            const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
            const __m128i high =
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 + 2 * i));
            r[i] = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), pair_up);
        }
        for (int i = 0; i < 4; ++i) {
            s[i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);      // bytes 0..3 of 4 rows
            s[i + 4] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);  // bytes 4..7
        }
        for (int k = 0; k < 2; ++k) {
            const __m256i a = _mm256_unpacklo_epi32(s[4 * k], s[4 * k + 1]);
            const __m256i b = _mm256_unpackhi_epi32(s[4 * k], s[4 * k + 1]);
            const __m256i c = _mm256_unpacklo_epi32(s[4 * k + 2], s[4 * k + 3]);
            const __m256i d = _mm256_unpackhi_epi32(s[4 * k + 2], s[4 * k + 3]);
            bytes[half][4 * k] = _mm256_unpacklo_epi64(a, c);
            bytes[half][4 * k + 1] = _mm256_unpackhi_epi64(a, c);
            bytes[half][4 * k + 2] = _mm256_unpacklo_epi64(b, d);
            bytes[half][4 * k + 3] = _mm256_unpackhi_epi64(b, d);
        }
    }
    for (int byte = 0; byte < 8; ++byte) {
        __m256i low = bytes[0][byte], high = bytes[1][byte];
        for (int bit = 7; bit >= 0; --bit) {
            const auto a = static_cast<uint32_t>(_mm256_movemask_epi8(low));
            const auto b = static_cast<uint32_t>(_mm256_movemask_epi8(high));
            rows[8 * byte + bit] = uint64_t{b} << 32 | a;
            low = _mm256_add_epi8(low, low);
            high = _mm256_add_epi8(high, high);
        }
    }
}

}  // namespace

RowFunctions row_functions_avx2() { return {transpose_avx2, count_rows, list_rows}; }

#else

RowFunctions row_functions_avx2() { return row_functions_generic(); }

#endif

}  // namespace omnilude
