// Moves: what they do, as lists of plain actions, and what follows from them.
//
// Moves live in an arena that is emptied all at once; lists are chains of numbers. An action may be
// a whole move, which is then done with its own consequences before the next action.
#pragma once

#include <cstdint>
#include <vector>

namespace omnilude::ludeme {

struct MovesNode;
constexpr uint32_t none = UINT32_MAX;

enum class Act : uint8_t {
    Nested,
    Move,       // of a piece: top, a level, to a level, or a whole stack
    MoveCount,  // `count` pieces of a pile
    MovePart,   // the top `count` of a stack
    Copy,
    Add,
    Insert,
    Remove,
    RemoveLater,  // at the end of the turn
    Promote,
    Select,
    Pass,
    Swap,
    Propose,
    Vote,
    Bet,
    SetState,
    SetRotation,
    SetValue,
    SetCount,
    SetNextPlayer,
    SetScore,
    AddScore,
    SetCounter,
    SetVariable,
    SetTemp,
    SetPending,
    SetPlayerValue,
    SetAmount,
    SetPot,
    SetTeam,
    Remember,
    Forget,
    StoreState,
    Trigger,
    UpdateDie,
    UseDie,
    SetDiceEqual,
    Note,
};

struct Action {
    Act act = Act::Pass;
    bool decision = false, stack = false;
    uint8_t kind_from = 0, kind_to = 0;
    int16_t from = -1, to = -1;
    int16_t level_from = -1, level_to = -1;
    int32_t what = 0;   // piece, player, or number of a variable or list
    int32_t count = 1;  // pieces, or the value that is set
    int16_t state = -1, rotation = -1;
    int32_t value = -1;
    uint32_t nested = none;  // move
    uint32_t next = none;
};

struct Move {
    int16_t from = -1, to = -1;
    int16_t level_min = 0, level_max = 0;
    int16_t state = -1;
    int16_t mover = 0;
    bool oriented = true, forced = false;
    uint32_t first_action = none, last_action = none;
    uint32_t first_then = none, last_then = none;
    uint32_t first_between = none, last_between = none;
    uint32_t next = none;  // in its list
};

struct MoveList {
    uint32_t first = none, last = none, count = 0;
    bool empty() const { return count == 0; }
};

class Arena {
  public:
    struct Mark {
        size_t actions, moves, cells, bytes;
    };
    Mark mark() const { return {actions_.size(), moves_.size(), cells_.size(), used_}; }
    void release(const Mark& mark) {
        actions_.resize(mark.actions);
        moves_.resize(mark.moves);
        cells_.resize(mark.cells);
        used_ = mark.bytes;
    }

    Action& action(uint32_t n) { return actions_[n]; }
    Move& move(uint32_t n) { return moves_[n]; }
    uint32_t add_action(const Action& action) {
        actions_.push_back(action);
        actions_.back().next = none;
        return static_cast<uint32_t>(actions_.size() - 1);
    }
    uint32_t add_move() {
        moves_.emplace_back();
        return static_cast<uint32_t>(moves_.size() - 1);
    }

    void append_action(uint32_t move, const Action& action) {
        const uint32_t n = add_action(action);
        Move& m = moves_[move];
        if (m.last_action == none)
            m.first_action = n;
        else
            actions_[m.last_action].next = n;
        m.last_action = n;
    }
    void prepend_action(uint32_t move, const Action& action) {
        const uint32_t n = add_action(action);
        Move& m = moves_[move];
        actions_[n].next = m.first_action;
        m.first_action = n;
        if (m.last_action == none) m.last_action = n;
    }
    // A move with this one action, from and to being those of the action.
    uint32_t make_move(const Action& action) {
        const uint32_t n = add_move();
        append_action(n, action);
        moves_[n].from = action.from;
        moves_[n].to = action.to;
        return n;
    }
    Action as_action(uint32_t move) {
        Action action;
        action.act = Act::Nested;
        action.nested = move;
        action.from = moves_[move].from;
        action.to = moves_[move].to;
        return action;
    }

    void append(MoveList& list, uint32_t move) {
        moves_[move].next = none;
        if (list.last == none)
            list.first = move;
        else
            moves_[list.last].next = move;
        list.last = move;
        ++list.count;
    }
    void concatenate(MoveList& list, const MoveList& more) {
        if (more.empty()) return;
        if (list.last == none)
            list.first = more.first;
        else
            moves_[list.last].next = more.first;
        list.last = more.last;
        list.count += more.count;
    }

    // Chains of pointers and numbers.
    struct CellItem {
        const MovesNode* node;
        int32_t number;
        uint32_t next;
    };
    const CellItem& cell(uint32_t n) const { return cells_[n]; }
    void append_then(uint32_t move, const MovesNode* node) {
        Move& m = moves_[move];
        append_cell(m.first_then, m.last_then, {node, 0, none});
    }
    void append_between(uint32_t move, int site) {
        Move& m = moves_[move];
        append_cell(m.first_between, m.last_between, {nullptr, site, none});
    }

    // Scratch for states that are tried out: `mark` and `release` nest.
    void set_block(size_t bytes) { block_ = (bytes + 15) / 16 * 16; }
    void release_state() { --used_; }
    // A copy's worth of bytes, which stays where it is until it is released.
    uint8_t* state_bytes() {
        if (used_ == blocks_.size()) blocks_.emplace_back(block_ + 16);
        return reinterpret_cast<uint8_t*>(
            (reinterpret_cast<uintptr_t>(blocks_[used_++].data()) + 15) / 16 * 16);
    }

  private:
    void append_cell(uint32_t& first, uint32_t& last, const CellItem& item) {
        cells_.push_back(item);
        const auto n = static_cast<uint32_t>(cells_.size() - 1);
        if (last == none)
            first = n;
        else
            cells_[last].next = n;
        last = n;
    }

    std::vector<Action> actions_;
    std::vector<Move> moves_;
    std::vector<CellItem> cells_;
    std::vector<std::vector<uint8_t>> blocks_;
    size_t used_ = 0, block_ = 0;
};

}  // namespace omnilude::ludeme
