// The program of a game: trees of nodes that are evaluated in a context.
//
// A node reads the state and the registers of its context and changes neither for good, except that
// some leave registers behind as the descriptions expect it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "ludeme/move.h"
#include "ludeme/state.h"

namespace omnilude::ludeme {

class Program;

// What iterating ludemes set for those inside them. -1: unset.
struct Registers {
    int from = off, to = off, between = off, site = off, level = off, value = off, player = off;
    int pips = off, track = off;
    const SiteSet* region = nullptr;
    uint32_t team = 0;  // bits of players
};

struct Context {
    Context(const Program& p, uint8_t* block, Arena& a, RandomStream* r);
    const Program& program;
    State state;
    Registers registers;
    Arena& arena;
    RandomStream* random;
    bool threat_test = false;    // within `is Threatened`
    bool no_moves_test = false;  // within `no Moves`
    bool stop_at_roll = false;   // dice that must be rolled are only asked for
    bool roll_needed = false;
    Scalars& scalars() const { return state.scalars(); }
};

struct IntNode {
    virtual ~IntNode() = default;
    virtual int eval(Context& c) const = 0;
    virtual bool is_constant() const { return false; }
};

struct BoolNode {
    virtual ~BoolNode() = default;
    virtual bool eval(Context& c) const = 0;
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
    // The same for every site and position, or null.
    virtual const std::vector<int32_t>* fixed() const { return nullptr; }
};

struct RangeNode {
    virtual ~RangeNode() = default;
    virtual void eval(Context& c, int& low, int& high) const = 0;
};

struct MovesNode {
    virtual ~MovesNode() = default;
    // Appends to `out`.
    virtual void eval(Context& c, MoveList& out) const = 0;
    virtual bool can_move(Context& c) const;
    virtual bool can_move_to(Context& c, int site) const;

    // Drawing a move at random without making them all. The numbers from 0 to draws - 1 stand for
    // at most one move each, and every move for one of them. -1: not known how.
    virtual int64_t draws(Context& c) const;
    // The same where it does not depend on the position.
    virtual int64_t most_draws() const { return -1; }
    // Appends the move of a number; false if it has none.
    virtual bool draw(Context& c, int64_t number, MoveList& out) const;
};

using IntPtr = std::unique_ptr<IntNode>;
using BoolPtr = std::unique_ptr<BoolNode>;
using RegionPtr = std::unique_ptr<RegionNode>;
using ArrayPtr = std::unique_ptr<ArrayNode>;
using DirectionsPtr = std::unique_ptr<DirectionsNode>;
using RangePtr = std::unique_ptr<RangeNode>;
using MovesPtr = std::unique_ptr<MovesNode>;

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
