// What decides how trees are searched; see src/omnilude/search/settings.py for what each means.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omnilude {

struct SearchSettings {
    enum class Rule : uint8_t { Puct, Gumbel, Uct };
    Rule rule = Rule::Gumbel;
    uint32_t simulations = 32;
    float policy_temperature = 1.0f;
    float c_puct = 1.5f;
    bool first_play_parent = true;
    float first_play_reduction = 0.2f;
    uint32_t considered = 16;
    float c_visit = 50.0f, c_scale = 0.2f;
    float noise_fraction = 0.25f, noise_total = 10.0f;
    float temperature = 1.0f, final_temperature = 0.0f;
    uint32_t temperature_moves = 12;
    bool reuse = false, solver = true;
    uint32_t cache = 1 << 16;
    float full_fraction = 1.0f;
    uint32_t fast_simulations = 8;
    uint32_t playouts = 0;
    float playout_weight = 0.5f;
    uint32_t max_length = 1000;
    float exploration = 0.7071f;   // UCT
    bool moves_only = false;       // UCT: ends when no walk can change the moves any more
    size_t most_bytes = SIZE_MAX;  // a tree that takes more is searched no further
};

}  // namespace omnilude
