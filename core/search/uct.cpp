#include "search/uct.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace omnilude {

namespace {

constexpr size_t block = 256;

Analysis search_block(const Game& game, const std::vector<bool>& is_player, const uint8_t* states,
                      size_t count, const uint64_t* streams, const UctSettings& settings,
                      uint64_t seed) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(settings.seconds);
    SearchSettings search;
    search.rule = SearchSettings::Rule::Uct;
    search.simulations = settings.iterations ? settings.iterations : UINT32_MAX - 2;
    search.exploration = settings.exploration;
    search.noise_fraction = 0;
    search.solver = false;
    search.cache = 0;
    // Below the root, which has ply 0: where nobody has a choice for ever, walks must end too.
    search.max_length = settings.max_length;
    search.moves_only = settings.moves_only;
    if (settings.seconds > 0) search.most_bytes = settings.most_bytes / count;
    SearchPool pool(game, is_player, nullptr, search, static_cast<uint32_t>(count), seed, 0, count);
    const std::vector<uint32_t> plies(count, 0);
    pool.set_roots(states, count, streams, plies.data());
    const Shape& shape = pool.shape();
    std::vector<float> rewards(count * shape.roles), values(count * shape.players);
    uint64_t random = seed ^ 0x5851F42D4C957F2Dull;
    for (size_t i = 0; i < count; ++i) random = random * 0xD1342543DE82EF95ull + streams[i];
    for (bool first = true; pool.busy(); first = false) {
        if (!first && settings.seconds > 0 && Clock::now() >= end) {
            pool.stop();
            break;
        }
        const size_t rows = pool.gather(nullptr);
        if (rows == 0) continue;
        game.rollouts(pool.row_states(), rows, settings.playouts, split_mix(random),
                      settings.max_length, rewards.data());
        for (size_t i = 0; i < rows; ++i)
            for (uint32_t p = 0; p < shape.players; ++p)
                values[i * shape.players + p] = rewards[i * shape.roles + shape.role_of[p]];
        pool.scatter(nullptr, values.data());
    }
    return pool.results();
}

void append(Analysis& to, const Analysis& from) {
    auto add = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
    const auto shift = static_cast<uint32_t>(to.slots.size());
    if (to.offsets.empty()) to.offsets.push_back(0);
    for (size_t i = 1; i < from.offsets.size(); ++i) to.offsets.push_back(from.offsets[i] + shift);
    add(to.moves, from.moves);
    add(to.slots, from.slots);
    add(to.values, from.values);
    add(to.visits, from.visits);
    add(to.priors, from.priors);
    add(to.q, from.q);
    add(to.simulations, from.simulations);
    add(to.solved, from.solved);
    add(to.proven, from.proven);
}

}  // namespace

Analysis search_uct(const Game& game, const std::vector<bool>& is_player, const uint8_t* states,
                    size_t count, const uint64_t* streams, const UctSettings& settings,
                    uint64_t seed, uint32_t threads) {
    const size_t blocks = (count + block - 1) / block;
    std::vector<Analysis> results(blocks);
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto work = [&] {
        try {
            for (size_t b = next++; b < blocks; b = next++)
                results[b] = search_block(game, is_player, states + b * block * game.state_bytes(),
                                          std::min(block, count - b * block), streams + b * block,
                                          settings, seed);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> helpers;
    for (uint32_t t = 1; t < std::min<size_t>(threads, blocks); ++t) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
    Analysis all;
    for (const Analysis& result : results) append(all, result);
    if (all.offsets.empty()) all.offsets.push_back(0);
    return all;
}

}  // namespace omnilude
