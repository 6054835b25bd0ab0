#include "encoding/encoder.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace omnilude {

Encoder::Encoder(const Game& game, const std::vector<int32_t>& sources, bool views)
    : game_(game),
      size_(sources.size()),
      bytes_(views ? game.view_bytes() : game.state_bytes()),
      views_(views) {
    const auto bits = static_cast<int64_t>(bytes_) * 8;
    first_.assign(static_cast<size_t>(bits) + 1, 0);
    for (int32_t bit : sources) {
        if (bit >= bits) throw std::invalid_argument("no bit " + std::to_string(bit));
        if (bit >= 0) ++first_[static_cast<size_t>(bit) + 1];
    }
    for (size_t b = 0; b + 1 < first_.size(); ++b) first_[b + 1] += first_[b];
    targets_.resize(first_.back());
    std::vector<uint32_t> fill(first_.begin(), first_.end() - 1);
    for (uint32_t e = 0; e < sources.size(); ++e)
        if (sources[e] >= 0) targets_[fill[static_cast<size_t>(sources[e])]++] = e;
}

void Encoder::encode_bits(const uint8_t* bits, float* out) const {
    std::fill_n(out, size_, 0.0f);
    for (size_t at = 0; at < bytes_; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bits + at, std::min<size_t>(8, bytes_ - at));
        for (; word != 0; word &= word - 1) {
            const size_t bit = at * 8 + static_cast<size_t>(__builtin_ctzll(word));
            for (uint32_t i = first_[bit]; i < first_[bit + 1]; ++i) out[targets_[i]] = 1.0f;
        }
    }
}

void Encoder::encode(const uint8_t* states, size_t count, float* out) const {
    if (!views_) {
        for (size_t i = 0; i < count; ++i) encode_bits(states + i * bytes_, out + i * size_);
        return;
    }
    constexpr size_t block = 256;
    std::vector<uint8_t> bits(std::min(block, count) * bytes_);
    for (size_t first = 0; first < count; first += block) {
        const size_t some = std::min(block, count - first);
        game_.views(states + first * game_.state_bytes(), some, bits.data());
        for (size_t i = 0; i < some; ++i) encode_bits(&bits[i * bytes_], out + (first + i) * size_);
    }
}

}  // namespace omnilude
