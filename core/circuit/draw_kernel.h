// Lanes that play at random: their frame, and the ranks drawn for them. Included once for each
// instruction set, inside an anonymous namespace; see playout.cpp and playout_avx2.cpp.
#pragma GCC diagnostic ignored "-Wpsabi"

typedef uint64_t Vector __attribute__((vector_size(32), may_alias));
typedef uint32_t Vector32 __attribute__((vector_size(32), may_alias));

inline uint64_t count_ones(const Vector& v) {
    return static_cast<uint64_t>(__builtin_popcountll(v[0]) + __builtin_popcountll(v[1]) +
                                 __builtin_popcountll(v[2]) + __builtin_popcountll(v[3]));
}
#ifdef __AVX2__
inline bool any_of(const Vector& v) {
    typedef long long Signed __attribute__((vector_size(32)));
    return !__builtin_ia32_ptestz256((Signed)v, (Signed)v);
}
#else
inline bool any_of(const Vector& v) { return (v[0] | v[1] | v[2] | v[3]) != 0; }
#endif

template <uint32_t W>
class RandomLanes {
  protected:
    RandomLanes(const PlayoutPlan& plan, uint64_t seed, uint64_t unit) : plan_(plan) {
        frame_.resize(size_t{plan.frame_slots} * W);
        before_.resize(size_t{plan.fluents} * W + 1);
        after_.resize(before_.size());
        for (uint32_t k = 0; k < W; ++k) word(frame_ones, k) = Vector{~0ull, ~0ull, ~0ull, ~0ull};
        uint64_t state = seed;
        state = split_mix(state) ^ (unit * 0xD1342543DE82EF95ull);
        for (uint32_t k = 0; k < W; ++k)
            for (int i = 0; i < 8; ++i) {
                const uint64_t key = split_mix(state);
                key1_[k][i] = static_cast<uint32_t>(key);
                key2_[k][i] = static_cast<uint32_t>(key >> 32);
            }
    }

    Vector& word(uint32_t slot, uint32_t k) {
        return reinterpret_cast<Vector*>(frame_.data())[size_t{slot} * W + k];
    }
    static Vector low_lanes(uint64_t count) {
        Vector out{0, 0, 0, 0};
        for (int i = 0; i < 4; ++i) {
            out[i] = count >= 64 ? ~0ull : (1ull << count) - 1;
            count -= std::min<uint64_t>(count, 64);
        }
        return out;
    }

    static Vector random_word(uint32_t counter, const Vector32& key1, const Vector32& key2) {
        Vector32 x = key1 + counter * random_counter_step;
        x ^= x >> 16;
        x *= random_multiplier_1;
        x ^= x >> 15;
        x += key2;
        x *= random_multiplier_2;
        x ^= x >> 15;
        return reinterpret_cast<const Vector&>(x);
    }

    // A number from 0 to top_rank in every lane, uniform: drawn below the next power of two and
    // drawn again, in the lanes where it was too large, until none is. The number of bits is a
    // constant of the code, so that everything stays in registers.
    template <size_t Bits>
    void draw_bits(const PlayoutPlan::Draw& draw) {
        uint32_t counter = counter_;
        for (uint32_t k = 0; k < W; ++k) {
            const Vector32 key1 = key1_[k], key2 = key2_[k];
            Vector rank[Bits], open{~0ull, ~0ull, ~0ull, ~0ull};
            for (size_t i = 0; i < Bits; ++i) rank[i] = Vector{0, 0, 0, 0};
            do {
                Vector above{0, 0, 0, 0};  // drawn > top_rank
                for (size_t i = 0; i < Bits; ++i) {
                    const Vector drawn = random_word(++counter, key1, key2) & word(draw.mask[i], k);
                    const Vector top = word(draw.top_rank[i], k);
                    above = (drawn & ~top) | (above & ~(drawn ^ top));
                    rank[i] ^= (rank[i] ^ drawn) & open;
                }
                open &= above;
            } while (any_of(open));
            for (size_t i = 0; i < Bits; ++i) word(draw.rank[i], k) = rank[i];
        }
        counter_ = counter;
    }

    void draw_ranks() {
        for (const PlayoutPlan::Draw& draw : plan_.draws) {
            switch (draw.rank.size()) {
                case 1:
                    draw_bits<1>(draw);
                    break;
                case 2:
                    draw_bits<2>(draw);
                    break;
                case 3:
                    draw_bits<3>(draw);
                    break;
                case 4:
                    draw_bits<4>(draw);
                    break;
                case 5:
                    draw_bits<5>(draw);
                    break;
                case 6:
                    draw_bits<6>(draw);
                    break;
                case 7:
                    draw_bits<7>(draw);
                    break;
                case 8:
                    draw_bits<8>(draw);
                    break;
                case 9:
                    draw_bits<9>(draw);
                    break;
                case 10:
                    draw_bits<10>(draw);
                    break;
                default:
                    draw_any(draw);
                    break;
            }
        }
    }

    void draw_any(const PlayoutPlan::Draw& draw) {
        const size_t bits = draw.rank.size();
        for (uint32_t k = 0; k < W; ++k) {
            Vector open{~0ull, ~0ull, ~0ull, ~0ull};
            for (size_t i = 0; i < bits; ++i) word(draw.rank[i], k) = Vector{0, 0, 0, 0};
            do {
                Vector above{0, 0, 0, 0};
                for (size_t i = 0; i < bits; ++i) {
                    const Vector drawn =
                        random_word(++counter_, key1_[k], key2_[k]) & word(draw.mask[i], k);
                    const Vector top = word(draw.top_rank[i], k);
                    above = (drawn & ~top) | (above & ~(drawn ^ top));
                    Vector& rank = word(draw.rank[i], k);
                    rank ^= (rank ^ drawn) & open;
                }
                open &= above;
            } while (any_of(open));
        }
    }

    const PlayoutPlan& plan_;
    std::vector<Lanes> frame_, before_, after_;
    Vector32 key1_[W], key2_[W];
    uint32_t counter_ = 0;
};
