// Moves: what they do, as lists of plain actions, and what follows from them.
//
// Moves live in an arena that is emptied all at once; lists are chains of numbers. An action may be
// a whole move, which is then done with its own consequences before the next action.
#pragma once

#include <cstdint>
#include <deque>
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
    SetHidden,  // `what`: from whom, `count`: which of its sides, `value`: whether
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
    bool twin = false;  // one of two that are the same: what follows either follows twice
    uint32_t first_action = none, last_action = none;
    uint32_t first_then = none, last_then = none;
    uint32_t next = none;  // in its list
};

struct MoveList {
    uint32_t first = none, last = none, count = 0;
    bool empty() const { return count == 0; }
};

// Items that are given back all at once, down to a mark; their room is kept.
template <class Item>
class Pool {
  public:
    Item& operator[](uint32_t n) { return items_[n]; }
    const Item& operator[](uint32_t n) const { return items_[n]; }
    uint32_t size() const { return used_; }
    void shrink(uint32_t size) { used_ = size; }
    uint32_t add(Item item) {  // by value: it may be one of its own
        if (used_ == items_.size()) items_.resize(items_.size() * 2 + 64);
        items_[used_] = item;
        return used_++;
    }

  private:
    std::vector<Item> items_;
    uint32_t used_ = 0;
};

class Arena {
  public:
    struct Mark {
        uint32_t actions, moves, follows;
        size_t states;
    };
    Mark mark() const { return {actions_.size(), moves_.size(), follows_.size(), states_}; }
    void release(const Mark& mark) {
        actions_.shrink(mark.actions);
        moves_.shrink(mark.moves);
        follows_.shrink(mark.follows);
        states_ = mark.states;
    }

    Action& action(uint32_t n) { return actions_[n]; }
    Move& move(uint32_t n) { return moves_[n]; }
    const Move& move(uint32_t n) const { return moves_[n]; }
    uint32_t add_action(const Action& action) {
        const uint32_t n = actions_.add(action);
        actions_[n].next = none;
        return n;
    }
    uint32_t add_move() { return moves_.add(Move()); }

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
        const uint32_t n = add_move(), a = add_action(action);
        Move& m = moves_[n];
        m.first_action = m.last_action = a;
        m.from = action.from;
        m.to = action.to;
        return n;
    }
    Action as_action(uint32_t move) const {
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

    // What follows from a move, as a chain.
    struct Follow {
        const MovesNode* node = nullptr;
        uint32_t next = none;
    };
    const Follow& follow(uint32_t n) const { return follows_[n]; }
    void append_then(uint32_t move, const MovesNode* node) {
        const uint32_t n = follows_.add({node, none});
        Move& m = moves_[move];
        if (m.last_then == none)
            m.first_then = n;
        else
            follows_[m.last_then].next = n;
        m.last_then = n;
    }

    // Lists of numbers that keep their room; the last that was borrowed is given back first.
    std::vector<int32_t>& borrow_numbers() {
        if (borrowed_ == numbers_.size()) numbers_.emplace_back();
        std::vector<int32_t>& list = numbers_[borrowed_++];
        list.clear();
        return list;
    }
    void return_numbers() { --borrowed_; }

    // Scratch for states that are tried out: `mark` and `release` nest.
    void set_block(size_t bytes) { block_ = (bytes + 15) / 16 * 16; }
    void release_state() { --states_; }
    // A copy's worth of bytes, which stays where it is until it is released.
    uint8_t* state_bytes() {
        if (states_ == blocks_.size()) blocks_.emplace_back(block_ + 16);
        return reinterpret_cast<uint8_t*>(
            (reinterpret_cast<uintptr_t>(blocks_[states_++].data()) + 15) / 16 * 16);
    }

  private:
    Pool<Action> actions_;
    Pool<Move> moves_;
    Pool<Follow> follows_;
    std::vector<std::vector<uint8_t>> blocks_;
    size_t states_ = 0, block_ = 0;
    std::deque<std::vector<int32_t>> numbers_;  // which stay where they are
    size_t borrowed_ = 0;
};

}  // namespace omnilude::ludeme
