// Random playouts in all lanes at once.
//
// One step is two pieces of code with the random ranks drawn between them: `before_choice` computes
// who may do what and which lanes have ended; `after_choice` selects the moves, applies them and
// puts lanes that ended back to the initial position. A lane that ends starts the next playout at
// once; the number of playouts is fixed beforehand and every one that starts is finished, so the
// sample is not biased towards short games.
#pragma once

#include <memory>
#include <vector>

#include "base/game.h"
#include "circuit/chooser.h"
#include "circuit/code.h"
#include "circuit/share.h"

namespace omnilude {

struct PlayoutPlan {
    struct Draw {                                    // one random rank for each lane
        std::vector<uint32_t> top_rank, mask, rank;  // frame slots, low bit first
    };
    struct GoalCount {
        uint32_t role;
        int value;
        uint32_t count;  // number of its wire in goal_slots
    };
    uint32_t width = 1;
    uint32_t frame_slots = 0, fluents = 0;
    std::vector<bool> initial;  // by fluent
    uint32_t terminal_slot = 0, stuck_slot = 0, restart_slot = 0, hold_slot = 0;
    // Goals that cost much are computed only when enough lanes wait for them; those lanes are held.
    bool hold = false;
    std::vector<GoalCount> goals;
    std::vector<uint32_t> goal_slots;  // one for each different wire: one's win is another's loss
    std::vector<Draw> draws;
    std::vector<std::vector<uint32_t>> legal;  // by role: frame slots, for detailed statistics
    std::unique_ptr<Code> before_choice, after_choice, goal;

    PlayoutResult run(const PlayoutSettings& settings) const;
    // From the positions in the lanes of `fluents`: adds the value of its end for each lane and
    // role to `goals`. False where some role did not end with exactly one value.
    bool roll_out(uint64_t seed, uint64_t unit, const Lanes* fluents, uint64_t lanes,
                  uint32_t max_length, uint32_t roles, float* goals) const;
};

struct PlayoutOptions {
    uint32_t width;
    bool machine_code;
};
// Adds gates to the circuit. Null where the circuit has none: see Game::playouts.
std::unique_ptr<PlayoutPlan> make_playout_plan(Circuit& circuit, const std::vector<bool>& initial,
                                               const PlayoutOptions& options);

// One unit of work: `playouts` from a stream of random numbers of its own.
PlayoutResult run_playout_unit_generic(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                       uint64_t unit, uint64_t playouts);
PlayoutResult run_playout_unit_avx2(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                    uint64_t unit, uint64_t playouts);
bool roll_out_unit_generic(const PlayoutPlan& plan, uint64_t seed, uint64_t unit,
                           const Lanes* fluents, uint64_t lanes, uint32_t max_length,
                           uint32_t roles, float* goals);
bool roll_out_unit_avx2(const PlayoutPlan& plan, uint64_t seed, uint64_t unit, const Lanes* fluents,
                        uint64_t lanes, uint32_t max_length, uint32_t roles, float* goals);

}  // namespace omnilude
