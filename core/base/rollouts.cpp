// Random play from given states, for any game: through describe and advance, in batches.
#include <algorithm>

#include "base/game.h"
#include "base/random.h"

namespace omnilude {

void Game::rollouts(const uint8_t* from, size_t count, uint32_t each, uint64_t seed,
                    uint32_t max_length, float* rewards) const {
    constexpr size_t lanes = 1024;
    const uint32_t n = roles();
    const size_t bytes = state_bytes(), total = count * each;
    std::fill_n(rewards, count * n, 0.0f);
    struct Lane {
        RandomStream random;
        size_t start;
        uint32_t length;
    };
    std::vector<Lane> running;
    std::vector<uint8_t> states;
    std::vector<int32_t> moves;
    Description description;
    for (size_t started = 0; started < total || !running.empty();) {
        for (; running.size() < lanes && started < total; ++started) {
            const uint8_t* state = from + started / each * bytes;
            running.push_back({RandomStream(seed, started), started / each, 0});
            states.insert(states.end(), state, state + bytes);
        }
        describe(states.data(), running.size(), description);
        moves.clear();
        size_t kept = 0;
        for (size_t i = 0; i < running.size(); ++i) {
            Lane& lane = running[i];
            const uint32_t* offsets = &description.offsets[i * n];
            float* sums = rewards + lane.start * n;
            bool ended = description.terminal[i];
            if (ended) {
                for (uint32_t r = 0; r < n; ++r) sums[r] += description.rewards[i * n + r];
            } else if (lane.length >= max_length) {
                ended = true;
                for (uint32_t r = 0; r < n; ++r) sums[r] += 0.5f;
            } else {
                for (uint32_t r = 0; r < n; ++r) ended |= offsets[r] == offsets[r + 1];
            }
            if (ended) continue;
            for (uint32_t r = 0; r < n; ++r) {
                const uint32_t legal = offsets[r + 1] - offsets[r];
                const size_t pick = legal > 1 ? lane.random.below(legal) : 0;
                moves.push_back(description.moves[offsets[r] + pick]);
            }
            ++lane.length;
            if (kept != i) {
                running[kept] = lane;
                std::copy_n(&states[i * bytes], bytes, &states[kept * bytes]);
            }
            ++kept;
        }
        running.resize(kept, {RandomStream(0, 0), 0, 0});
        states.resize(kept * bytes);
        if (kept) advance(states.data(), kept, moves.data());
    }
    for (size_t i = 0; i < count * n; ++i) rewards[i] /= static_cast<float>(each);
}

}  // namespace omnilude
