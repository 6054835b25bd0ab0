// The program of a game: trees of nodes that are evaluated in a context.
//
// A node reads the state and the registers of its context and changes neither for good, except that
// some leave registers behind as the descriptions expect it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "ludeme/filled.h"
#include "ludeme/move.h"
#include "ludeme/state.h"

namespace omnilude::ludeme {

class Program;
struct Applied;

// What iterating ludemes set for those inside them. -1: unset.
struct Registers {
    int from = off, to = off, between = off, site = off, level = off, value = off, player = off;
    int pips = off, track = off;
    const SiteSet* region = nullptr;
    uint32_t team = 0;  // bits of players
};

using Slot = int Registers::*;

struct Context {
    // `records`: the block whose records of positions are read, where it is not this one.
    Context(const Program& p, uint8_t* block, Arena& a, RandomStream* r,
            uint8_t* records = nullptr);
    const Program& program;
    State state;
    Registers registers;
    Arena& arena;
    RandomStream* random;
    int trials = 0;              // states tried out within one another
    bool threat_test = false;    // within `is Threatened`
    bool no_moves_test = false;  // within `no Moves`
    bool stop_at_roll = false;   // dice that must be rolled are only asked for
    bool roll_needed = false;    // or were rolled
    bool plain = false;          // moves are ruled out by evaluating them alone: for tests
    // How often numbers stood for a move, by generator: whether to draw or to list.
    struct Luck {
        uint32_t generator = 0;
        int32_t tries = 0, hits = 0;
    };
    Luck luck[8];
    // The group that was found last, and from what: several conditions ask for the same.
    struct Grown {
        const uint64_t* neighbours = nullptr;
        int start = -1;
        SiteSet set, inside;
    };
    Grown grown;
    // The pieces of a player that a generator may move, with how many draws they have at most.
    // Good until something changes.
    struct Candidates {
        static constexpr uint32_t most = 128;
        const MovesNode* generator = nullptr;
        uint32_t changes = 0;
        int mover = 0, owner = 0;
        uint32_t count = 0;
        int32_t draws = 0;
        int32_t ends[most];  // of each one's draws, counted on from the one before
        uint16_t places[most];
    };
    Candidates candidates[4];
    // The places of all the mover's pieces but those that a generator rules out; good as long.
    struct Movable {
        const MovesNode* generator = nullptr;
        uint32_t changes = 0;
        int mover = 0;
        uint32_t count = 0;
        SiteSet places;
    };
    Movable movable[4];
    uint32_t changes = 1;
    Filled* filled = nullptr;  // while a board is filled
    Scalars& scalars() const { return state.scalars(); }
};

struct IntNode {
    virtual ~IntNode() = default;
    virtual int eval(Context& c) const = 0;
    virtual const int* constant() const { return nullptr; }
    // Whether it depends on no register, only on the state.
    virtual bool is_steady() const { return constant() != nullptr; }
    // The register that it is, or null.
    virtual Slot slot() const { return nullptr; }
    // Whether it is the owner of the site in a register, or of what is on top there.
    virtual bool is_owner_at(Kind&, Slot&) const { return false; }
    // Whether it is the piece on the site in a register, where there are no stacks.
    virtual bool is_piece_at(Kind&, Slot&) const { return false; }
    // By owner: the piece that it is, if it is that of the mover; or null.
    virtual const std::vector<int32_t>* piece_of_mover() const { return nullptr; }
    // Whether it is more than 0, which may be known sooner than how much.
    virtual bool is_positive(Context& c) const { return eval(c) > 0; }
};

// What a site must be for a condition to hold, as bits.
enum SiteHint : int { MustBeEmpty = 1, MustBeOccupied = 2, MustNotBeOwn = 4 };

struct BoolNode {
    virtual ~BoolNode() = default;
    virtual bool eval(Context& c) const = 0;
    virtual const bool* constant() const { return nullptr; }
    // What the site of a kind in a register must be, at least.
    virtual int hints(Slot, Kind) const { return 0; }
    // Whether it is that a site of a kind in a register is empty, and nothing else.
    virtual bool is_emptiness(Slot, Kind) const { return false; }
    // Sets `out` to the sites of the board for which it holds when they are in a register; false:
    // it cannot be told but by trying.
    virtual bool sites_where(Context&, Slot, Kind, SiteSet&) const { return false; }
    // Whether it holds when one of the mover's own pieces is on the site of a kind in a register;
    // -1: that is not all it takes to know.
    virtual int holds_for(Slot, Kind, int /*piece*/, int /*owner*/) const { return -1; }
};

struct RegionNode {
    virtual ~RegionNode() = default;
    // Sets all words of `out`.
    virtual void eval(Context& c, SiteSet& out) const = 0;
    virtual bool contains(Context& c, int site) const;
    virtual uint32_t count(Context& c) const;
    virtual int nth(Context& c, uint32_t n) const;  // in order; -1: there are not so many
    // The region where it never changes, else null.
    virtual const SiteSet* fixed() const { return nullptr; }
    // Whether it is all places of the game that are empty.
    virtual bool is_all_empty(const Program&) const { return false; }
};

// Numbers in an order, perhaps some of them twice.
struct ArrayNode {
    virtual ~ArrayNode() = default;
    virtual void eval(Context& c, std::vector<int32_t>& out) const = 0;
};

struct DirectionsNode {
    virtual ~DirectionsNode() = default;
    // Directions as seen from a site. `facing` overrides that of the piece there; -1: it does not.
    virtual void eval(Context& c, Kind kind, int site, int facing,
                      std::vector<int32_t>& out) const = 0;
    // The same, where there is a list of them already without a copy.
    virtual std::span<const int32_t> view(Context& c, Kind kind, int site, int facing,
                                          std::vector<int32_t>& room) const {
        eval(c, kind, site, facing, room);
        return room;
    }
    // The same for every site and position, or null.
    virtual const std::vector<int32_t>* fixed() const { return nullptr; }
    // Whether they depend on the site and where the piece there faces, and on nothing else.
    virtual bool by_facing() const { return fixed() != nullptr; }
    virtual void find(const Program&, Kind, int /*site*/, int /*facing*/,
                      std::vector<int32_t>& out) const {
        out.insert(out.end(), fixed()->begin(), fixed()->end());
    }
    // That which holds in a position, of those it is made of.
    virtual const DirectionsNode& chosen(Context&) const { return *this; }
    virtual void list_choices(std::vector<const DirectionsNode*>& out) const {
        out.push_back(this);
    }
    // That which holds for a piece of the mover's on the site of a kind in the register `from`;
    // null: that is not all it takes to know.
    virtual const DirectionsNode* chosen_for(Kind, int /*piece*/, int /*owner*/) const {
        return this;
    }
    // Whether they are those from the site of a kind in a register to that in another; then the
    // first of them, or -1.
    virtual bool is_from_to(Kind, Slot /*from*/, Slot /*to*/) const { return false; }
    virtual int first_between(int /*from*/, int /*to*/) const { return -1; }
};

struct RangeNode {
    virtual ~RangeNode() = default;
    virtual void eval(Context& c, int& low, int& high) const = 0;
    virtual bool is_exact() const { return false; }  // both ends are the same
};

// A move of one action, with what follows from it: the most frequent kind, and cheap to make.
struct Single {
    static constexpr int most_follows = 4;
    Action action;
    int from = off, to = off;
    const MovesNode* follows[most_follows];
    int following = 0;
    void add(const MovesNode* node) {
        if (node) follows[following++] = node;
    }
    void set(const Action& a, int start, int end, const MovesNode* follow) {
        action = a;
        from = start;
        to = end;
        add(follow);
    }
};

struct MovesNode {
    uint32_t number = 0;  // of the generators of a game; 0: none of them
    virtual ~MovesNode() = default;
    // Appends to `out`.
    virtual void eval(Context& c, MoveList& out) const = 0;
    // Whether it has any move.
    virtual bool any(Context& c) const;
    // Whether it has any that no rule for the whole game forbids.
    virtual bool can_move(Context& c) const;
    virtual bool can_move_to(Context& c, int site) const;
    // True only if it has no move when a site is in the register `from`.
    virtual bool rules_out(const Context&, int /*site*/) const { return false; }
    // Whether that can be expected of most sites.
    virtual bool is_rare() const { return false; }
    // Whether it takes such sites out of a set of sites of its kind with the mover's pieces, all at
    // once.
    virtual bool can_drop() const { return false; }
    virtual void drop_ruled_out(const Context&, SiteSet&) const {}

    // Drawing a move at random without making them all. The numbers from 0 to draws - 1 stand for
    // at most one move each, and every move for one of them. -1: not known how.
    virtual int64_t draws(Context&) const { return -1; }
    // Never less than that, for a piece and a site in the register `from`; -1 stands for any.
    virtual int64_t most_draws(const Program&, int /*piece*/, int /*site*/) const { return -1; }
    // What it costs to list its moves, in draws, where there are so many.
    virtual int64_t list_cost(int64_t numbers) const { return numbers; }
    // Appends the move of a number; false if it has none, as numbers from `draws` on.
    virtual bool draw(Context&, int64_t, MoveList&) const { return false; }
    // Whether every number stands for a move: they are counted, not estimated.
    virtual bool draws_exactly() const { return false; }
    // Whether all its moves are such, with so many consequences at most; -1: they are not.
    virtual int singles() const { return -1; }
    // As `draw`, for such moves.
    virtual bool draw_single(Context&, int64_t, Single&) const { return false; }
    // One of its moves, each as likely as any other; none where it must be taken from a list.
    virtual uint32_t pick(Context&, RandomStream&) const { return none; }
    // Whether its moves put one piece on any empty site, and nothing that follows changes the
    // board.
    virtual bool adds_to_empty(const Program&) const { return false; }
    // The move to one of these sites, then.
    virtual void add_at(Context&, int /*site*/, Single&) const {}
    // Does all its moves at once, as an effect, where nobody asks for them one by one; false: it
    // did nothing and has to be asked.
    virtual bool act(Context&, Applied&) const { return false; }
    // Whether it leaves the pieces as they are, as an effect.
    virtual bool keeps_board() const { return false; }
    // The generator that has all moves in this position, if it is a matter of that; else null.
    // `follows`: what all of them have as a consequence besides, or null.
    virtual const MovesNode* narrow(Context&, const MovesNode*& /*follows*/) const {
        return nullptr;
    }
};

using IntPtr = std::unique_ptr<IntNode>;
using BoolPtr = std::unique_ptr<BoolNode>;
using RegionPtr = std::unique_ptr<RegionNode>;
using ArrayPtr = std::unique_ptr<ArrayNode>;
using DirectionsPtr = std::unique_ptr<DirectionsNode>;
using RangePtr = std::unique_ptr<RangeNode>;
using MovesPtr = std::unique_ptr<MovesNode>;

// A list of numbers, without allocation once there was one as long, for as long as it lives.
class NumberBuffer {
  public:
    explicit NumberBuffer(Context& c) : arena_(c.arena), list_(arena_.borrow_numbers()) {}
    ~NumberBuffer() { arena_.return_numbers(); }
    NumberBuffer(const NumberBuffer&) = delete;
    NumberBuffer& operator=(const NumberBuffer&) = delete;
    std::vector<int32_t>& operator*() const { return list_; }

  private:
    Arena& arena_;
    std::vector<int32_t>& list_;
};

// Sets a register for as long as it lives.
class Keep {
  public:
    explicit Keep(int& slot) : slot_(slot), old_(slot) {}
    ~Keep() { slot_ = old_; }
    Keep(const Keep&) = delete;
    Keep& operator=(const Keep&) = delete;
    int old() const { return old_; }

  private:
    int& slot_;
    int old_;
};

}  // namespace omnilude::ludeme
