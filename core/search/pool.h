// Many trees of one game, driven from outside: `gather` takes every tree to a position that needs
// an evaluation, `scatter` brings the evaluations, and so on. In self-play a tree whose search is
// over makes its move and goes on with the next position or game; in analysis it waits.
//
// Every game has its own stream of random numbers and no tree looks at another, so results do not
// depend on how many trees share a pool, nor on threads: several pools may run side by side. Only
// random playouts from leaves, where the settings ask for them, share lanes and random numbers:
// with them a pool of the same size and seed does the same again, but not one of another size.
#pragma once

#include <memory>
#include <vector>

#include "encoding/encoder.h"
#include "search/cache.h"
#include "search/select.h"
#include "search/tree.h"

namespace omnilude {

// Positions of finished games, one game after another. See search/pool.py for what each is.
struct Records {
    std::vector<uint8_t> states, full, solved;
    std::vector<int32_t> moves, policy_slots;
    std::vector<float> q, surprise, policy_probs;
    std::vector<uint32_t> policy_counts;  // [positions * players]
    void append(const Records& other);
    void clear();
};

struct FinishedGames {
    Records positions;
    std::vector<uint32_t> lengths;
    std::vector<uint64_t> numbers;
    std::vector<uint8_t> final_states, cut;
    std::vector<float> rewards;
};

struct Analysis {
    std::vector<int32_t> moves, slots;
    std::vector<float> values, visits, priors, q;
    std::vector<uint32_t> simulations, offsets;
    std::vector<uint8_t> solved, proven;
};

struct SearchCounters {
    uint64_t simulations = 0, evaluations = 0, cached = 0, positions = 0, games = 0, searches = 0;
};

class SearchPool {
  public:
    SearchPool(const Game& game, const std::vector<bool>& is_player, const Encoder* encoder,
               const SearchSettings& settings, uint32_t trees, uint64_t seed, uint64_t first_game,
               uint64_t stride);

    const Shape& shape() const { return shape_; }
    uint32_t trees() const { return static_cast<uint32_t>(slots_.size()); }
    const SearchCounters& counters() const { return counters_; }

    // Self-play.
    void play();
    void set_starts(std::vector<uint8_t> states, double share);
    FinishedGames drain();

    // Analysis of positions that are not terminal.
    void set_roots(const uint8_t* states, size_t count, const uint64_t* streams,
                   const uint32_t* plies);
    bool busy() const { return busy_ > 0; }
    size_t tree_bytes() const;  // of all trees together
    // Ends every search at once; each must have got as far as its first evaluation.
    void stop();
    Analysis results();

    // `inputs` is [trees, encoder.size()]; returns how many rows were written.
    size_t gather(float* inputs);
    void scatter(const float* logits, const float* values);
    size_t rows() const { return rows_; }
    size_t row_size() const { return encoder_ ? encoder_->size() : 0; }
    // The states of those rows.
    const uint8_t* row_states() const { return row_states_.data(); }

    void change(const SearchSettings& settings);
    void forget();

  private:
    enum class Phase : uint8_t { Idle, NewRoot, Search, Walk, Wait };
    struct Slot {
        explicit Slot(const Shape& shape) : tree(shape), random(0, 0) {}
        Tree tree;
        RandomStream random;
        RootPlan plan;
        Phase phase = Phase::Idle;
        bool selfplay = false;
        bool fresh = false;  // the new root is given, not reached by a move
        bool planned = false;
        bool full = true;
        uint32_t ply = 0;
        uint64_t game = 0;
        uint32_t row = 0;
        uint32_t entry = EvaluationCache::none;
        std::vector<uint8_t> root;  // the state that is, or is about to be, searched
        std::vector<int32_t> moves;
        std::vector<float> last_q;
        Records records;
    };

    void drop_rows();
    void start_game(Slot& slot);
    void end_game(Slot& slot, const uint8_t* final_state, const float* rewards, bool cut);
    bool advance_tree(Slot& slot);
    bool search_over(const Slot& slot) const;
    void begin_search(Slot& slot);
    void finish_search(Slot& slot);
    void record_position(Slot& slot);
    void settle_root(Slot& slot, size_t row);
    void request(Slot& slot);
    const float* mix_playouts(const float* values);
    void finish_walk(Slot& slot, const float* logits, const float* values);
    Tree::Stop descend(Slot& slot);

    Shape shape_;
    const Encoder* encoder_;
    SearchSettings settings_;
    uint64_t seed_, stride_;
    std::vector<Slot> slots_;
    EvaluationCache cache_;
    SearchCounters counters_;
    size_t busy_ = 0, roots_ = 0, rows_ = 0;

    // Scratch of one round: positions to advance and describe.
    std::vector<uint8_t> batch_;
    std::vector<int32_t> batch_moves_;
    std::vector<uint32_t> owners_, given_, active_, going_on_;
    std::vector<float> scratch_, values_;
    Description description_;
    std::vector<uint8_t> row_states_;
    std::vector<float> rewards_, mixed_;
    uint64_t playout_seed_ = 0;

    std::vector<uint8_t> starts_;
    double start_share_ = 0;
    FinishedGames finished_;
};

}  // namespace omnilude
