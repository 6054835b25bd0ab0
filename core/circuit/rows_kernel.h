// Included once for each instruction set, inside an anonymous namespace; see rows.cpp.

uint64_t count_rows(const uint64_t* rows, size_t words) {
    uint64_t total = 0;
    for (size_t i = 0; i < words; ++i)
        total += static_cast<uint64_t>(__builtin_popcountll(rows[i]));
    return total;
}

uint32_t list_rows(const uint64_t* rows, size_t row_words, size_t count,
                   std::span<const uint32_t> borders, int32_t* moves, uint32_t start,
                   uint32_t* offsets) {
    int32_t* out = moves + start;
    for (size_t i = 0; i < count; ++i, rows += row_words) {
        for (size_t r = 0; r + 1 < borders.size(); ++r) {
            const uint32_t first = borders[r], last = borders[r + 1];
            for (uint32_t w = first / 64; w * 64 < last; ++w) {
                uint64_t bits = rows[w];
                if (w * 64 < first) bits &= ~0ull << (first % 64);
                if (last - w * 64 < 64) bits &= (1ull << (last - w * 64)) - 1;
                const auto base = static_cast<int32_t>(w * 64 - first);
                for (; bits != 0; bits &= bits - 1) *out++ = base + __builtin_ctzll(bits);
            }
            *offsets++ = static_cast<uint32_t>(out - moves);
        }
    }
    return static_cast<uint32_t>(out - moves);
}
