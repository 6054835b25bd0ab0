#include <algorithm>

#include "base/game.h"
#include "base/random.h"

namespace omnilude {

void PlayoutResult::add(const PlayoutResult& other) {
    if (outcomes.empty()) {
        outcomes = other.outcomes;
    } else {
        for (size_t i = 0; i < other.outcomes.size(); ++i)
            outcomes[i].count += other.outcomes[i].count;
    }
    finished += other.finished;
    stuck += other.stuck;
    cut += other.cut;
    steps += other.steps;
    auto sum = [](std::vector<uint64_t>& to, const std::vector<uint64_t>& from) {
        if (to.size() < from.size()) to.resize(from.size(), 0);
        for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    sum(lengths, other.lengths);
    sum(legal_moves, other.legal_moves);
    sum(choices, other.choices);
}

void Game::views(const uint8_t*, size_t, uint8_t*) const {
    throw std::logic_error("this game was made without views");
}

// Playout number p draws from stream p, so that the result depends on the seed alone.
PlayoutResult Game::playouts(const PlayoutSettings& settings) const {
    const size_t batch = std::min<uint64_t>(settings.playouts, 256);
    const uint32_t n = roles();
    PlayoutResult result;
    std::vector<std::vector<uint64_t>> counts(n, std::vector<uint64_t>(101, 0));
    if (settings.detailed) {
        result.legal_moves.assign(n, 0);
        result.choices.assign(n, 0);
    }
    struct Lane {
        RandomStream random;
        uint64_t length;
    };
    std::vector<Lane> lanes;
    std::vector<uint8_t> states;
    std::vector<int32_t> moves;
    Description description;
    uint64_t started = 0;
    for (;;) {
        for (; lanes.size() < batch && started < settings.playouts; ++started) {
            lanes.push_back({RandomStream(settings.seed, started), 0});
            states.resize(lanes.size() * state_bytes());
            initial(&states[(lanes.size() - 1) * state_bytes()]);
        }
        if (lanes.empty()) break;
        describe(states.data(), lanes.size(), description);
        moves.clear();
        size_t kept = 0;
        for (size_t i = 0; i < lanes.size(); ++i) {
            bool ended = true;
            const uint32_t* offsets = &description.offsets[i * n];
            if (description.terminal[i]) {
                ++result.finished;
                for (uint32_t r = 0; r < n; ++r)
                    ++counts[r][static_cast<size_t>(description.rewards[i * n + r] * 100 + 0.5f)];
            } else if (lanes[i].length >= settings.max_length) {
                ++result.cut;
            } else {
                ended = false;
                for (uint32_t r = 0; r < n; ++r) ended |= offsets[r] == offsets[r + 1];
                result.stuck += ended;
            }
            if (ended) {
                if (settings.detailed) {
                    if (result.lengths.size() <= lanes[i].length)
                        result.lengths.resize(lanes[i].length + 1, 0);
                    ++result.lengths[lanes[i].length];
                }
                continue;
            }
            for (uint32_t r = 0; r < n; ++r) {
                const uint32_t legal = offsets[r + 1] - offsets[r];
                moves.push_back(description.moves[offsets[r] + lanes[i].random.below(legal)]);
                if (settings.detailed) {
                    result.legal_moves[r] += legal;
                    result.choices[r] += legal > 1;
                }
            }
            ++lanes[i].length;
            ++result.steps;
            if (kept != i) {
                lanes[kept] = lanes[i];
                std::copy_n(&states[i * state_bytes()], state_bytes(),
                            &states[kept * state_bytes()]);
            }
            ++kept;
        }
        lanes.resize(kept, {RandomStream(0, 0), 0});
        states.resize(kept * state_bytes());
        if (kept) advance(states.data(), kept, moves.data());
    }
    for (uint32_t r = 0; r < n; ++r)
        for (int value = 0; value <= 100; ++value)
            if (counts[r][static_cast<size_t>(value)])
                result.outcomes.push_back({r, value, counts[r][static_cast<size_t>(value)]});
    return result;
}

}  // namespace omnilude
