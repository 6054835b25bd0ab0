// Which wires are never true together, proved by induction over the course of play; and, built on
// it, the choosers of the moves of all roles.
//
// Moves that are never legal together share a candidate, and roles that never choose at the same
// time share a chooser: in a turn-taking game one chooser serves all roles. Nothing here is learnt
// from play alone: play only refutes. What a proof needs is assumed, and must then hold at the
// start and be kept by every move, by reasoning over the gates.
#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circuit/chooser.h"
#include "circuit/share.h"

namespace omnilude {

class Exclusion {
  public:
    Exclusion(const Circuit& circuit, const std::vector<bool>& initial);

    // True if it follows from pairs of fluents that are assumed to be exclusive; only what is said
    // between two calls of `settle`, of which the second gave true, is proved.
    bool never_both(Wire a, Wire b) { return prove(a, b, query_depth); }
    // Whether the proofs became too long to be worth it.
    bool exhausted() const { return work_ > max_work; }
    void restart() {
        work_ = 0;
        assumed_.clear();
        known_.clear();
    }
    void assume_nothing() { together_.clear(); }
    // Tests the assumptions made so far: each must hold at the start and be kept by every move,
    // given the others. False if one was wrong: it is not made again, and all questions must be put
    // anew.
    bool settle();
    // Wires that must be true for `w` to be true, found through conjunctions.
    std::vector<Wire> implied(Wire w) const;

  private:
    static constexpr int query_depth = 6, max_depth = 10;
    static constexpr uint64_t max_work = 1'500'000;
    void play_at_random(const std::vector<bool>& initial);
    bool prove(Wire a, Wire b, int depth);
    bool prove_fresh(Wire a, Wire b, int depth);
    bool assume(uint32_t a, uint32_t b);

    const Circuit& circuit_;
    std::vector<int32_t> fluent_of_;  // by node, or -1
    struct Move {
        int32_t role = -1;
        uint32_t number = 0;
    };
    std::vector<Move> move_of_;  // by node
    // By fluent and fluent: seen together, or not provably apart. Empty where nothing is assumed.
    std::vector<std::vector<bool>> together_;
    std::set<std::pair<uint32_t, uint32_t>> assumed_;
    std::unordered_map<uint64_t, bool> known_;
    uint64_t work_ = 0;
};

struct MoveChoice {
    std::vector<Chooser> choosers;
    std::vector<std::vector<Wire>> made;  // by role and move: the move is made
    Wire stuck = wire_false;              // some role has no legal move
};
MoveChoice choose_moves(Circuit& circuit, const std::vector<bool>& initial);

}  // namespace omnilude
