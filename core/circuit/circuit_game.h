// A game as a circuit, evaluated for hundreds of states at once.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/budget.h"
#include "base/game.h"
#include "circuit/chooser.h"
#include "circuit/code.h"
#include "circuit/playout_plan.h"
#include "circuit/share.h"

namespace omnilude {

struct CircuitSettings {
    bool machine_code = true;
    uint64_t sharing_effort = 3'000'000;
    uint32_t width = 0;  // words of lanes for each wire; 0: chosen by the size of the circuit
    bool views = false;  // also evaluate every proposition of a position: see Game::views
};

class CircuitGame : public Game {
  public:
    // Grounds the program and builds the circuit; throws BudgetExceeded where that costs too much.
    CircuitGame(Program program, Budget& budget, const CircuitSettings& settings);

    size_t state_bytes() const override { return state_words_ * 8; }
    uint32_t roles() const override { return static_cast<uint32_t>(roles_.size()); }
    std::string role_name(uint32_t role) const override { return roles_[role]; }
    uint32_t slots(uint32_t role) const override {
        return static_cast<uint32_t>(moves_[role].size());
    }
    std::string move_name(uint32_t role, uint32_t slot) const override {
        return moves_[role][slot];
    }
    int32_t find_move(uint32_t role, const std::string& name) const override;

    void initial(uint8_t* state) const override;
    void advance(uint8_t* states, size_t count, const int32_t* moves) const override;
    void describe(const uint8_t* states, size_t count, Description& out) const override;
    PlayoutResult playouts(const PlayoutSettings& settings) const override;
    void rollouts(const uint8_t* states, size_t count, uint32_t each, uint64_t seed,
                  uint32_t max_length, float* rewards) const override;
    // The fluents, then whatever else the rules say of a position.
    size_t view_bytes() const override { return (view_names_.size() + 63) / 64 * 8; }
    void views(const uint8_t* states, size_t count, uint8_t* bits) const override;
    const std::vector<std::string>& view_names() const { return view_names_; }
    std::vector<std::string> facts(const uint8_t* state) const override;
    std::vector<std::string> percepts(const uint8_t* state, uint32_t role) const override;

    // What `check` reports.
    struct Size {
        uint64_t instances, gates, fluents, moves, recursions;
        uint64_t describe_gates, goal_gates, advance_gates;
        uint32_t width;
        bool machine_code;
        bool odd_goal;
    };
    const Size& size() const { return size_; }
    // Gates of one step of random play, selection included; 0 where there is no special code for
    // it.
    uint64_t playout_gates() const;
    const std::vector<std::string>& fluents() const { return fluents_; }

  private:
    struct Workspace {
        std::vector<Lanes> frame, before, after;
        std::vector<uint64_t> rows;
        std::vector<uint8_t> states;  // of the lanes of rollouts
        std::vector<float> goals;
    };
    class Lease;

    void name_things(const Program& program, const Grounding& grounding, const Circuit& circuit);
    void compile(Circuit& circuit, const CircuitSettings& settings);
    void load_states(Workspace& work, const uint8_t* states, size_t count) const;
    void store_states(Workspace& work, uint8_t* states, size_t count) const;
    void make_rows(const Lanes* words, uint32_t columns, size_t count,
                   std::vector<uint64_t>& rows) const;
    size_t block() const { return lanes_per_word * width_; }

    std::vector<std::string> roles_, fluents_;
    std::vector<std::string> view_names_;  // empty where the game was made without views
    std::vector<std::vector<std::string>> moves_;
    std::vector<std::unordered_map<std::string, int32_t>> move_numbers_;
    struct PerceptBit {
        uint32_t role;
        std::string text;
    };
    std::vector<PerceptBit> percepts_;  // state bits after the fluents
    std::vector<uint64_t> initial_;
    std::vector<uint32_t> does_first_;    // by role: first frame slot of its moves
    std::vector<uint32_t> role_borders_;  // by role: its first move among all; then their number
    uint32_t legal_first_ = 0, terminal_slot_ = 0, goals_first_ = 0, move_count_ = 0;
    uint32_t views_first_ = 0;
    std::vector<std::vector<CircuitNet::Goal>> goals_;
    size_t state_words_ = 0;
    uint32_t state_bits_ = 0, frame_slots_ = 0, width_ = 1;
    std::unique_ptr<Code> describe_, goal_, advance_;
    std::unique_ptr<Code> view_;  // null without views
    Size size_{};

    // Made when first asked for: proving what is exclusive takes longer than the rest of loading.
    const PlayoutPlan* playout_plan() const;
    mutable std::once_flag playout_once_;
    mutable std::unique_ptr<PlayoutPlan> playout_;
    mutable Circuit circuit_;  // grows by the gates of the plan, then nobody needs it
    std::vector<bool> initial_fluents_;
    bool machine_code_ = false;

    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace omnilude
