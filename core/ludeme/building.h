// How generators put moves together.
#pragma once

#include <cstring>

#include "ludeme/reader.h"

namespace omnilude::ludeme {

// Reads an optional `then`; its node lives as long as the generator.
struct Consequence {
    MovesPtr node;
    explicit Consequence(Reader& r) : node(r.moves()) {}
    int count() const { return node ? 1 : 0; }
    // To the moves of a list that came after `before`; they are made by the mover.
    void attach(Context& c, MoveList& list, uint32_t before, bool set_mover = true,
                bool own = false) const {
        uint32_t n = before == none ? list.first : c.arena.move(before).next;
        for (; n != none; n = c.arena.move(n).next) {
            if (node) c.arena.append_then(n, node.get());
            if (node && !own && c.arena.move(n).twin) c.arena.append_then(n, node.get());
            if (set_mover) c.arena.move(n).mover = static_cast<int16_t>(c.scalars().mover);
        }
    }
};

// An `apply` clause: effects, perhaps under a condition.
struct Apply {
    BoolPtr test;
    MovesPtr effect;
    bool given;
    explicit Apply(Reader& r) : test(r.boolean()), effect(r.moves()), given(r.flag()) {}
    // All of it.
    void eval(Context& c, MoveList& out) const {
        if (effect && (!test || test->eval(c))) effect->eval(c, out);
    }
};

inline void drop_decisions(Context& c, uint32_t move) {
    for (uint32_t n = c.arena.move(move).first_action; n != none; n = c.arena.action(n).next) {
        c.arena.action(n).decision = false;
        if (c.arena.action(n).act == Act::Nested) drop_decisions(c, c.arena.action(n).nested);
    }
}

// Whether any action of a move was chosen, rather than follows.
inline bool has_decision(Context& c, uint32_t move) {
    for (uint32_t n = c.arena.move(move).first_action; n != none; n = c.arena.action(n).next) {
        const Action& a = c.arena.action(n);
        if (a.act == Act::Nested ? has_decision(c, a.nested) : a.decision) return true;
    }
    return false;
}

// Puts effects before a move: they are done first. Returns the move that does both.
inline uint32_t prepend_effects(Context& c, const MoveList& effects, uint32_t move) {
    if (effects.empty()) return move;
    const uint32_t both = c.arena.add_move();
    for (uint32_t n = effects.first; n != none; n = c.arena.move(n).next) {
        drop_decisions(c, n);
        c.arena.append_action(both, c.arena.as_action(n));
    }
    c.arena.append_action(both, c.arena.as_action(move));
    return both;
}

inline uint32_t prepend_effect(Context& c, const MovesNode* effect, uint32_t move) {
    if (!effect) return move;
    MoveList list;
    effect->eval(c, list);
    return prepend_effects(c, list, move);
}

inline uint32_t prepend_apply(Context& c, const Apply& apply, uint32_t move) {
    if (!apply.effect) return move;
    MoveList list;
    apply.eval(c, list);
    return prepend_effects(c, list, move);
}

inline void set_ends(Context& c, uint32_t move, int from, int to) {
    c.arena.move(move).from = static_cast<int16_t>(from);
    c.arena.move(move).to = static_cast<int16_t>(to);
}

inline void set_levels(Context& c, uint32_t move, int low, int high) {
    c.arena.move(move).level_min = static_cast<int16_t>(low);
    c.arena.move(move).level_max = static_cast<int16_t>(high);
}

inline Action move_action(Kind kind, int from, int level_from, int to, int level_to, bool stack,
                          bool decision) {
    Action a;
    a.act = Act::Move;
    a.decision = decision;
    a.stack = stack;
    a.kind_from = a.kind_to = kind;
    a.from = static_cast<int16_t>(from);
    a.to = static_cast<int16_t>(to);
    a.level_from = static_cast<int16_t>(level_from);
    a.level_to = static_cast<int16_t>(level_to);
    return a;
}

inline Action site_action(Act act, Kind kind, int site, bool decision = false) {
    Action a;
    a.act = act;
    a.decision = decision;
    a.kind_from = a.kind_to = kind;
    a.from = a.to = static_cast<int16_t>(site);
    return a;
}

inline void add_single(Context& c, MoveList& out, const Action& action) {
    c.arena.append(out, c.arena.make_move(action));
}

inline int top_level(const Context& c, Kind kind, int site) {
    const int place = c.state.place_anywhere(kind, site);
    return place < 0 ? -1 : c.state.height(place) - 1;
}

// Whether a generator starts at the site that is in the register `from`.
inline bool starts_at_register(const IntPtr& from) { return from->slot() == &Registers::from; }

// A site, or those of a region.
struct Sites {
    bool many;
    int one = off;
    SiteSet set;
    uint32_t words;
    Sites(Context& c, const IntNode* site, const RegionNode* region)
        : many(region != nullptr), words(c.program.words()) {
        if (many)
            region->eval(c, set);
        else
            one = site->eval(c);
    }
    int64_t count() const { return many ? set.count(words) : 1; }
    int nth(int64_t n) const {
        if (many) return set.nth(static_cast<uint32_t>(n), words);
        return n == 0 ? one : off;
    }
    // Until it returns true; returns whether it did.
    template <class Visit>
    bool any(Visit&& visit) const {
        return many ? set.any(words, visit) : visit(one);
    }
    template <class Visit>
    void each(Visit&& visit) const {
        if (many)
            set.each(words, visit);
        else
            visit(one);
    }
};

inline Kind kind_at(const Context& c, int kind, int site) {
    const Board& b = c.program.board;
    if (static_cast<size_t>(site) < b.container_of.size() &&
        b.container_of[static_cast<size_t>(site)] > 0 && kind != Vertex && kind != Edge)
        return Cell;
    return kind >= 0 ? static_cast<Kind>(kind) : b.kind;
}

// A copy of the state to try moves on, for as long as it lives. Moves that were made meanwhile
// stay in the arena, as they may be part of what comes of it.
class Trial {
  public:
    // Whole plies can be made only on a whole copy: they record the position.
    enum Extent { Moves, Plies };
    explicit Trial(Context& c, Extent extent = Moves)
        : context(c.program, copy(c, extent), c.arena, c.random,
                  extent == Moves ? c.state.records() : nullptr) {
        context.registers = c.registers;
        context.trials = c.trials + 1;
        context.threat_test = c.threat_test;
        context.no_moves_test = c.no_moves_test;
        context.plain = c.plain;
    }
    ~Trial() { context.arena.release_state(); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    Context context;

  private:
    static constexpr int most_trials = 100;
    static uint8_t* copy(Context& c, Extent extent) {
        if (c.trials == most_trials) throw GameError("moves are tried out without end");
        const Layout& layout = c.program.layout;
        uint8_t* bytes = c.arena.state_bytes();
        std::memcpy(bytes, c.state.block(), layout.trial_bytes);
        if (extent == Plies)
            std::memcpy(bytes + layout.trial_bytes, c.state.records() + layout.trial_bytes,
                        layout.bytes - layout.trial_bytes);
        return bytes;
    }
};

// The first move of a list that came after `before`.
inline uint32_t following(Context& c, const MoveList& list, uint32_t before) {
    return before == none ? list.first : c.arena.move(before).next;
}

}  // namespace omnilude::ludeme
