// UCT with random playouts: the trees of the pool, evaluated by play itself.
#pragma once

#include "search/pool.h"

namespace omnilude {

struct UctSettings {
    uint32_t iterations = 1000;  // 0: only seconds count
    double seconds = 0;          // 0: only iterations count
    uint32_t playouts = 1;
    float exploration = 0.7071f;
    uint32_t max_length = 1000;  // of playouts, and of walks in the tree
    bool moves_only = false;     // nobody asks for visits and values, only for the moves
    // By seconds: the trees of a block end when they take so much, even if there is time left.
    size_t most_bytes = size_t{1} << 30;
};

// Positions are searched in blocks of fixed size, each with its own random stream, so that the
// result does not depend on the number of threads (by iterations; time is what it is).
Analysis search_uct(const Game& game, const std::vector<bool>& is_player, const uint8_t* states,
                    size_t count, const uint64_t* streams, const UctSettings& settings,
                    uint64_t seed, uint32_t threads);

}  // namespace omnilude
