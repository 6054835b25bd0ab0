// Which wires are never true together, proved by induction over the course of play; and, built on
// it, the choosers of the moves of all roles.
//
// Moves that are never legal together share a candidate, and roles that never choose at the same
// time share a chooser: in a turn-taking game one chooser serves all roles. Nothing here is learnt
// from play alone: play only suggests pairs, which must then hold at the start and be kept by every
// move, by reasoning over the gates.
#pragma once

#include <unordered_map>
#include <vector>

#include "circuit/chooser.h"
#include "circuit/share.h"

namespace omnilude {

class Exclusion {
   public:
    Exclusion(const Circuit& circuit, const std::vector<bool>& initial);

    // True only if proved.
    bool never_both(Wire a, Wire b) { return prove(a, b, max_depth); }
    // Wires that must be true for `w` to be true, found through conjunctions.
    std::vector<Wire> implied(Wire w) const;

   private:
    static constexpr int max_depth = 10;
    void suggest(const std::vector<bool>& initial);
    void keep_inductive();
    bool prove(Wire a, Wire b, int depth);
    bool prove_fresh(Wire a, Wire b, int depth);
    bool pair_holds(uint32_t a, uint32_t b) const;

    const Circuit& circuit_;
    std::vector<int32_t> fluent_of_;  // by node, or -1
    struct Move {
        int32_t role = -1;
        uint32_t number = 0;
    };
    std::vector<Move> move_of_;                // by node
    std::vector<std::vector<bool>> exclusive_;  // by fluent and fluent; empty when not attempted
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
