// The state of a game as one block of bytes, and what may be read from and written to it.
//
// Places are sites of all kinds that a game uses, one kind after another; hands and dice are cells
// behind those of the board. Which fields a place has depends on the game. The fields that make up
// a position, for rules against repetition, lie together.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ludeme/board.h"

namespace omnilude::ludeme {

constexpr uint32_t max_players = 16;

struct GameError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Numbers of the state that every game has. Plain bytes: no padding may hold garbage.
struct Scalars {
    int32_t counter, temp, pot;
    int32_t turn, turn_plies, plies, passes;
    int32_t mover, next, previous;
    int32_t winner;  // valid where over
    int32_t decided;
    int32_t last_from, last_to, last_level_from, last_level_to;
    int32_t last_from_after, last_to_after;  // by the last action that had such, consequences too
    int32_t turn_from;                       // from of the first ply of this turn
    uint32_t active, triggered, stalemated;  // bits by player
    uint32_t proposed;                       // bits by number of a proposal
    uint8_t over, dice_equal, last_pass, last_swap, last_kind_from, last_kind_to;
    uint8_t wins_decided, losses_decided, winners, losers;  // counts
    uint8_t start_moves;  // 1: something was placed before the first ply
    uint8_t rolled;       // the faces of the next roll are known
    float ranking[max_players + 1];
};

struct LayoutWants {
    bool kinds[3] = {false, false, false};
    bool count = false, state = false, rotation = false, value = false, stacking = false;
    bool scores = false, teams = false, visited = false, to_clear = false, amounts = false;
    bool laps = false;    // where on tracks pieces are
    bool hidden = false;  // whether players see everything is not a matter of course
    uint32_t height = 32, pending = 0, variables = 0, remembered_lists = 0, remembered = 0;
    uint32_t votes = 0, dice = 0, history = 0, turn_history = 0;
};

// Where everything is in the block; offsets in bytes.
struct Layout {
    Layout() = default;
    Layout(const Board& board, const LayoutWants& wants);
    LayoutWants wants;
    uint32_t players = 0, owners = 0;    // owners: 0, players, and the one that stands for all
    uint32_t layer[3] = {0, 0, 0};       // first place of each kind
    uint32_t layer_size[3] = {0, 0, 0};  // 0: not used
    uint32_t places = 0, words = 0;      // words of a set of places
    uint32_t who = 0, what = 0, count = 0, state = 0, rotation = 0, value = 0, heights = 0;
    uint32_t position_begin = 0, position_end = 0;
    uint32_t empty = 0, owned = 0;
    uint32_t phases = 0, scores = 0, player_values = 0, teams = 0, order = 0, amounts = 0;
    uint32_t variables = 0, remembered = 0, pending = 0, visited = 0, to_clear = 0;
    uint32_t votes = 0, dice = 0, rolled = 0, passes = 0, history = 0, turn_history = 0;
    uint32_t stored = 0, hash = 0;
    uint32_t laps = 0;  // [track, component, element]
    uint32_t components = 0;
    std::vector<uint32_t> first_lap;  // by track: elements of those before it
    uint32_t hidden = 0;              // [player, place]: what a player does not see there, as bits
    uint32_t trial_bytes = 0;         // all but the records of positions, which lie behind
    uint32_t bytes = 0;
    // A site of a kind behind all others, on which there is a piece like no other.
    int nowhere(Kind kind) const { return static_cast<int>(places - layer[kind]); }
    // Whether a position's hash is kept up to date, rather than found anew where it is asked for.
    bool hashed = false;
    bool bare = false;   // a place has a piece and its owner, and nothing else
    bool hands = false;  // there are sites beyond the board
};

// One ply that was made, for the rules about passing.
struct PlyMark {
    uint8_t mover, pass;
};

// A list of numbers of bounded length within the block: its length, then the numbers.
class NumberList {
  public:
    NumberList(int32_t* data, uint32_t capacity) : data_(data), capacity_(capacity) {}
    uint32_t size() const { return static_cast<uint32_t>(data_[0]); }
    int32_t operator[](uint32_t n) const { return data_[1 + n]; }
    void clear() {
        for (uint32_t n = 0; n < size(); ++n) data_[1 + n] = 0;
        data_[0] = 0;
    }
    void push(int32_t value) {
        if (size() == capacity_) throw GameError("more values are remembered than there is room");
        data_[1 + data_[0]++] = value;
    }
    bool has(int32_t value) const {
        for (uint32_t n = 0; n < size(); ++n)
            if (data_[1 + n] == value) return true;
        return false;
    }
    void erase_first(int32_t value) {
        for (uint32_t n = 0; n < size(); ++n)
            if (data_[1 + n] == value) {
                for (uint32_t m = n + 1; m < size(); ++m) data_[m] = data_[m + 1];
                data_[data_[0]--] = 0;
                return;
            }
    }

  private:
    int32_t* data_;
    uint32_t capacity_;
};

// Reads and writes a block. Cheap to make.
class State {
  public:
    // `records`: the block whose records of positions are read, where it is not this one.
    State(uint8_t* block, const Layout& layout, const Board& board, uint8_t* records = nullptr)
        : block_(block),
          records_(records ? records : block),
          who_(block + layout.who),
          what_(reinterpret_cast<uint16_t*>(block + layout.what)),
          empty_(reinterpret_cast<uint64_t*>(block + layout.empty)),
          layout_(&layout),
          board_(&board),
          flat_(!layout.wants.stacking) {}

    uint8_t* block() const { return block_; }
    uint8_t* records() const { return records_; }
    const Layout& layout() const { return *layout_; }
    Scalars& scalars() const { return *reinterpret_cast<Scalars*>(block_); }
    bool stacking() const { return !flat_; }

    // The place of a site of a kind on the board, or of a cell anywhere; -1 if there is none.
    int place(Kind kind, int site) const {
        if (site < 0 || static_cast<uint32_t>(site) >= layout_->layer_size[kind]) return -1;
        return static_cast<int>(layout_->layer[kind]) + site;
    }
    // The same, where sites beyond the board are cells of hands whatever the kind.
    int place_anywhere(Kind kind, int site) const {
        if (layout_->hands && kind != Cell && site >= 0 &&
            static_cast<uint32_t>(site) < board_->container_of.size() &&
            board_->container_of[static_cast<size_t>(site)] > 0)
            kind = Cell;
        return place(kind, site);
    }

    // --- one place ---
    int who(int place) const { return flat_ ? who_[place] : owner_of(what(place)); }
    int what(int place) const {
        if (flat_) return what_[place];
        const int top = height(place) - 1;
        return top < 0 ? 0 : what_[level_index(place, top)];
    }
    int count(int place) const;
    int state(int place) const;
    int rotation(int place) const;
    int value(int place) const;
    int who(int place, int level) const {
        return flat_ ? who_[place] : owner_of(what(place, level));
    }
    int what(int place, int level) const {
        if (flat_) return what_[place];
        return level < 0 || level >= height(place) ? 0 : what_[level_index(place, level)];
    }
    int state(int place, int level) const;
    int rotation(int place, int level) const;
    int value(int place, int level) const;
    int height(int place) const {  // 1 where there is a piece and no stacks
        return flat_ ? !empty(place) : block_[layout_->heights + static_cast<uint32_t>(place)];
    }
    bool empty(int place) const {
        return empty_[static_cast<uint32_t>(place) >> 6] >> (place & 63) & 1;
    }

    // Puts a piece on an empty place, or takes it away again; where places are bare.
    void put_bare(int place, int what) {
        const int owner = owner_of(what);
        who_[place] = static_cast<uint8_t>(owner);
        what_[place] = static_cast<uint16_t>(what);
        toggle(empty_, place);
        toggle(owned_words(static_cast<uint32_t>(owner)), place);
    }
    void take_bare(int place) {
        toggle(owned_words(static_cast<uint32_t>(owner_of(what_[place]))), place);
        toggle(empty_, place);
        who_[place] = 0;
        what_[place] = 0;
    }
    // How many of a component are on the elements of a track.
    int16_t* laps(size_t track, int component) const {
        const uint32_t first = layout_->first_lap[track];
        const uint32_t length = layout_->first_lap[track + 1] - first;
        return array<int16_t>(layout_->laps) + size_t{first} * layout_->components +
               size_t{length} * static_cast<size_t>(component);
    }
    // What a player (from 1) does not see of a place, as bits: all, then its sides.
    uint8_t& hidden(uint32_t player, int place) const {
        const size_t at = size_t{player - 1} * layout_->places + static_cast<size_t>(place);
        return array<uint8_t>(layout_->hidden)[at];
    }
    void hide(uint32_t player, int place, int side, bool on) {
        uint8_t& bits = hidden(player, place);
        const auto bit = static_cast<uint8_t>(1u << side);
        bits = static_cast<uint8_t>(on ? bits | bit : bits & ~bit);
    }
    // What hides a piece goes with it.
    void move_hidden(int from, int to);
    // -1 leaves a field as it is; flat games only.
    void set_site(int place, int who, int what, int count, int state, int rotation, int value);
    void clear_site(int place);
    // Field of a place, or of the top or a level of a stack.
    void set_state(int place, int level, int value);
    void set_rotation(int place, int level, int value);
    void set_value(int place, int level, int value);
    // Stacks.
    void push(int place, int what, int state, int rotation, int value, bool with_values);
    void insert(int place, int level, int what, int state, int rotation, int value);
    void pop(int place);
    // Takes away the piece only: the fields of the level that falls vacant stay, and are found
    // again by the next piece that comes to lie there without fields of its own.
    void remove_level(int place, int level);
    void remove_stack(int place);

    // What is on the sites of a kind, in games without stacks.
    const uint16_t* pieces(Kind kind) const { return what_ + layout_->layer[kind]; }

    // --- sets of places ---
    const uint64_t* empties() const { return empty_; }
    const uint64_t* owned(uint32_t owner) const {
        return words(layout_->owned) + size_t{owner} * layout_->words;
    }

    // --- numbers by player and others ---
    int32_t& phase(uint32_t player) const { return number(layout_->phases, player); }
    int32_t& score(uint32_t player) const { return number(layout_->scores, player); }
    int32_t& player_value(uint32_t player) const { return number(layout_->player_values, player); }
    int32_t& team(uint32_t player) const { return number(layout_->teams, player); }
    int32_t& colour(uint32_t agent) const { return number(layout_->order, agent); }
    int32_t& amount(uint32_t player) const { return number(layout_->amounts, player); }
    int32_t& variable(uint32_t n) const { return number(layout_->variables, n); }
    int32_t& die(uint32_t n) const { return number(layout_->dice, n); }
    int32_t& rolled(uint32_t n) const { return number(layout_->rolled, n); }
    NumberList remembered(uint32_t list) const {
        const uint32_t each = layout_->wants.remembered + 1;
        return {&number(layout_->remembered, list * each), layout_->wants.remembered};
    }
    NumberList pending() const { return {&number(layout_->pending, 0), layout_->wants.pending}; }
    NumberList to_clear() const { return {&number(layout_->to_clear, 0), layout_->places}; }
    NumberList votes() const { return {&number(layout_->votes, 0), max_players}; }
    bool visited(int site) const { return bit(layout_->visited, site); }
    void visit(int site);
    void clear_visited();
    PlyMark* passes() const { return reinterpret_cast<PlyMark*>(block_ + layout_->passes); }
    uint64_t& stored_hash() const { return *reinterpret_cast<uint64_t*>(block_ + layout_->stored); }

    // --- repetition ---
    uint64_t position_hash() const;
    uint64_t situation_hash() const;
    void record(uint64_t hash, bool in_turn);
    void clear_turn_record();
    bool recorded(uint64_t hash, bool in_turn) const;
    uint32_t record_size() const;
    uint64_t record_at(uint32_t n) const;

    int owner_of(int what) const { return board_->owners[static_cast<size_t>(what)]; }

  private:
    template <class T>
    T* array(uint32_t offset) const {
        return reinterpret_cast<T*>(block_ + offset);
    }
    uint64_t* words(uint32_t offset) const { return array<uint64_t>(offset); }
    int32_t& number(uint32_t offset, uint32_t n) const { return array<int32_t>(offset)[n]; }
    bool bit(uint32_t offset, int n) const {
        return words(offset)[static_cast<uint32_t>(n) >> 6] >> (n & 63) & 1;
    }
    void set_bit(uint32_t offset, int n, bool on) const;
    uint32_t level_index(int place, int level) const {
        return static_cast<uint32_t>(place) * layout_->wants.height + static_cast<uint32_t>(level);
    }
    void take_level(int place, int level, bool wholly);
    void own(int place, int what, bool on) const;
    void review_owners(int place) const;

    static void toggle(uint64_t* set, int place) {
        set[static_cast<uint32_t>(place) >> 6] ^= uint64_t{1} << (place & 63);
    }
    uint64_t* owned_words(uint32_t owner) const {
        return words(layout_->owned) + size_t{owner} * layout_->words;
    }
    // Takes a place out of the hash, and puts it back as it is when this ends.
    class Rehash;
    const uint64_t* record_list(bool in_turn) const;
    uint64_t place_hash(int place) const;

    uint8_t* block_;
    uint8_t* records_;
    uint8_t* who_;
    uint16_t* what_;
    uint64_t* empty_;
    const Layout* layout_;
    const Board* board_;
    bool flat_;
};

}  // namespace omnilude::ludeme
