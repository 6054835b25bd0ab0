// Generators of moves that put, take, choose or change pieces.
#include <algorithm>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

// --- from anywhere to anywhere ---

struct FromToMove final : MovesNode {
    int from_kind, to_kind;  // or -1: cells of hands, else the board's own
    IntPtr from;
    RegionPtr from_region;
    IntPtr from_level;
    BoolPtr from_test;
    IntPtr to;
    RegionPtr to_region;
    IntPtr to_level;
    BoolPtr to_test;
    Apply apply;
    IntPtr count;
    BoolPtr copy;
    bool stack, decision;
    IntPtr mover;
    Consequence then;
    explicit FromToMove(Reader& r)
        : from_kind(r.number()),
          to_kind(r.number()),
          from(r.integer()),
          from_region(r.region()),
          from_level(r.integer()),
          from_test(r.boolean()),
          to(r.integer()),
          to_region(r.region()),
          to_level(r.integer()),
          to_test(r.boolean()),
          apply(r),
          count(r.integer()),
          copy(r.boolean()),
          stack(r.flag()),
          decision(r.flag()),
          mover(r.integer()),
          then(r) {}

    static Kind kind_at(const Context& c, int kind, int site) {
        const Board& b = c.program.board;
        if (static_cast<size_t>(site) < b.container_of.size() &&
            b.container_of[static_cast<size_t>(site)] > 0 && kind != Vertex && kind != Edge)
            return Cell;
        return kind >= 0 ? static_cast<Kind>(kind) : b.kind;
    }

    static void gather(Context& c, const IntNode* site, const RegionNode* region,
                       std::vector<int32_t>& out) {
        if (region) {
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), [&](int s) { out.push_back(s); });
        } else {
            out.push_back(site->eval(c));
        }
    }

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const uint32_t before = out.last;
        std::vector<int32_t> sources, targets;
        gather(c, from.get(), from_region.get(), sources);
        for (int f : sources) {
            if (f < 0) continue;
            const Board& board = c.program.board;
            const bool away = static_cast<size_t>(f) < board.container_of.size() &&
                              board.container_of[static_cast<size_t>(f)] > 0;
            const Kind kind = away             ? Cell
                              : from_kind >= 0 ? static_cast<Kind>(from_kind)
                                               : board.kind;
            const int place = c.state.place(kind, f);
            if (place < 0 || c.state.what(place) <= 0) continue;
            g.from = f;
            const bool copying = copy && copy->eval(c);
            if (from_test && !from_test->eval(c)) continue;
            targets.clear();
            gather(c, to.get(), to_region.get(), targets);
            const int many = count ? count->eval(c) : 1;
            g.from = old_from;
            for (int t : targets) {
                if (t < 0) continue;
                const Kind kind_to = kind_at(c, to_kind, t);
                Action a = make_action(c, kind, f, kind_to, t, many, copying);
                g.from = f;
                g.to = t;
                if (to_test && !to_test->eval(c)) continue;
                g.from = old_from;
                uint32_t move = c.arena.make_move(a);
                if (c.state.stacking()) {
                    const int top = c.state.height(place) - 1;
                    const int level = from_level ? from_level->eval(c) : top;
                    set_levels(c, move, stack ? 0 : level, stack ? top : level);
                }
                if (apply.effect && (!apply.test || apply.test->eval(c))) {
                    g.from = f;
                    g.to = t;
                    move = prepend_effect(c, apply.effect.get(), move);
                }
                g.from = old_from;
                set_ends(c, move, f, t);
                c.arena.append(out, move);
            }
        }
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
        if (mover) {
            const int who = mover->eval(c);
            for (uint32_t n = before == none ? out.first : c.arena.move(before).next; n != none;
                 n = c.arena.move(n).next)
                c.arena.move(n).mover = static_cast<int16_t>(who);
        }
    }

    Action make_action(Context& c, Kind kind_from, int f, Kind kind_to, int t, int many,
                       bool copying) const {
        const int lf = from_level ? from_level->eval(c) : -1;
        const int lt = to_level ? to_level->eval(c) : -1;
        Action a = move_action(kind_from, f, -1, t, -1, false, decision);
        a.kind_to = kind_to;
        if (to_level) {
            a.stack = stack;
            a.level_to = static_cast<int16_t>(lt);
            if (!stack) a.level_from = static_cast<int16_t>(lf);
        } else if (from_level) {
            a.level_from = static_cast<int16_t>(lf);
        } else if (count) {
            a.act = !c.state.stacking() && !stack ? Act::MoveCount : Act::MovePart;
            a.count = many;
        } else if (copying) {
            a.act = Act::Copy;
        } else {
            a.stack = stack;
        }
        return a;
    }
};

// --- new pieces, gone pieces, other pieces ---

struct AddMove final : MovesNode {
    int kind;                    // or -1
    std::vector<IntPtr> pieces;  // none: that of the mover
    IntPtr piece_state;
    IntPtr to;
    RegionPtr region;
    IntPtr level;
    BoolPtr to_test;
    Apply apply;
    IntPtr count;
    bool decision;
    Consequence then;
    explicit AddMove(Reader& r)
        : kind(r.number()),
          pieces(r.integers()),
          piece_state(r.integer()),
          to(r.integer()),
          region(r.region()),
          level(r.integer()),
          to_test(r.boolean()),
          apply(r),
          count(r.integer()),
          decision(r.flag()),
          then(r) {}

    Kind kind_at(const Context& c, int site) const {
        const Board& b = c.program.board;
        if (static_cast<size_t>(site) < b.container_of.size() &&
            b.container_of[static_cast<size_t>(site)] > 0)
            return Cell;
        return kind >= 0 ? static_cast<Kind>(kind) : b.kind;
    }

    uint32_t make(Context& c, int site, int piece, int many) const {
        const Kind k = kind_at(c, site);
        Action a = site_action(level ? Act::Insert : Act::Add, k, site, decision);
        a.what = piece;
        if (level) a.level_to = static_cast<int16_t>(level->eval(c));
        if (piece_state) a.state = static_cast<int16_t>(piece_state->eval(c));
        const uint32_t move = c.arena.make_move(a);
        a.decision = false;
        for (int n = 1; n < many; ++n) c.arena.append_action(move, a);
        return move;
    }

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const uint32_t before = out.last;
        const int many = count ? count->eval(c) : 1;
        if (many < 1) return;
        std::vector<int32_t> which;
        for (const auto& piece : pieces) which.push_back(piece->eval(c));
        if (pieces.empty()) which.push_back(c.scalars().mover);
        for (int piece : which) {
            if (piece == -1) continue;
            if (!region) {
                const int s = to->eval(c);
                g.to = s;
                if (to_test && !to_test->eval(c)) return;
                uint32_t move = make(c, s, piece, many);
                if (apply.effect && (!apply.test || apply.test->eval(c))) {
                    g.from = g.to = s;
                    move = prepend_apply(c, apply, move);
                }
                finish(c, move, s);
                c.arena.append(out, move);
                g.from = old_from;
                g.to = old_to;
                then.attach(c, out, before);
                return;
            }
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), [&](int s) {
                g.to = s;
                if (to_test && !to_test->eval(c)) return;
                uint32_t move = make(c, s, piece, many);
                bool twice = false;
                if (apply.given && (!apply.test || apply.test->eval(c))) {
                    g.from = g.to = s;
                    move = prepend_apply(c, apply, move);
                    twice = true;
                }
                finish(c, move, s);
                c.arena.append(out, move);
                // With effects every move is offered twice: what a description counts on.
                if (twice) {
                    const uint32_t again = c.arena.add_move();
                    c.arena.move(again) = c.arena.move(move);
                    c.arena.append(out, again);
                }
            });
        }
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
    }

    // Effects offer a move twice, and several pieces have their own numbers: such are listed.
    int64_t draws(Context& c) const override {
        if (!region || apply.given || pieces.size() > 1) return -1;
        if (count && count->eval(c) < 1) return 0;
        return region->count(c);
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int piece = pieces.empty() ? c.scalars().mover : pieces[0]->eval(c);
        if (piece == -1) return false;
        const int s = region->nth(c, static_cast<uint32_t>(number));
        if (s < 0) return false;
        const Keep keep(c.registers.to);
        c.registers.to = s;
        if (to_test && !to_test->eval(c)) return false;
        const uint32_t before = out.last;
        const uint32_t move = make(c, s, piece, count ? count->eval(c) : 1);
        finish(c, move, s);
        c.arena.append(out, move);
        then.attach(c, out, before);
        return true;
    }

    void finish(Context& c, uint32_t move, int s) const {
        set_ends(c, move, s, s);
        if (kind_at(c, s) == Edge) c.arena.move(move).oriented = false;
    }
};

struct RemoveMove final : MovesNode {
    Kind kind;
    IntPtr site;
    RegionPtr region;
    IntPtr level, count;
    bool later, decision;
    Consequence then;
    explicit RemoveMove(Reader& r)
        : kind(r.kind()),
          site(r.integer()),
          region(r.region()),
          level(r.integer()),
          count(r.integer()),
          later(r.flag()),
          decision(r.flag()),
          then(r) {}

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        auto one = [&](int s) {
            if (s < 0) return;
            const int place = c.state.place_anywhere(kind, s);
            if (place < 0 || c.state.what(place) <= 0) return;
            const int top = c.state.height(place) - 1;
            int l = level ? level->eval(c) : top;
            if (l < 0) l = 0;
            if (!c.state.stacking() || l == top) l = -1;
            Action a = site_action(later ? Act::RemoveLater : Act::Remove, kind, s, decision);
            a.level_from = a.level_to = static_cast<int16_t>(l);
            const uint32_t move = c.arena.make_move(a);
            a.decision = false;
            const int many = std::max(1, count ? count->eval(c) : 1);
            for (int n = 1; n < many; ++n) c.arena.append_action(move, a);
            c.arena.append(out, move);
        };
        if (region) {
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), one);
        } else {
            one(site->eval(c));
        }
        then.attach(c, out, before);
    }
};

struct Select final : MovesNode {
    int from_kind, to_kind;
    IntPtr from;
    RegionPtr from_region;
    IntPtr from_level;
    BoolPtr from_test;
    bool has_to;
    IntPtr to;
    RegionPtr to_region;
    BoolPtr to_test;
    bool decision;
    IntPtr mover;
    Consequence then;
    explicit Select(Reader& r)
        : from_kind(r.number()),
          to_kind(r.number()),
          from(r.integer()),
          from_region(r.region()),
          from_level(r.integer()),
          from_test(r.boolean()),
          has_to(r.flag()),
          to(r.integer()),
          to_region(r.region()),
          to_test(r.boolean()),
          decision(r.flag()),
          mover(r.integer()),
          then(r) {}

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const uint32_t before = out.last;
        std::vector<int32_t> sources, targets;
        FromToMove::gather(c, from.get(), from_region.get(), sources);
        for (int s : sources) {
            if (s < 0) continue;
            const Kind kind = FromToMove::kind_at(c, from_kind, s);
            if (c.state.place_anywhere(kind, s) < 0) continue;
            g.from = g.to = s;
            if (from_test && !from_test->eval(c)) continue;
            Action a = site_action(Act::Select, kind, s, decision);
            if (c.state.stacking()) {
                const int top = c.state.height(c.state.place_anywhere(kind, s)) - 1;
                a.level_from = static_cast<int16_t>(from_level ? from_level->eval(c) : top);
                a.level_to = a.level_from;
            }
            if (!has_to) {
                add_single(c, out, a);
                continue;
            }
            targets.clear();
            FromToMove::gather(c, to.get(), to_region.get(), targets);
            for (int t : targets) {
                const Kind kind_to = FromToMove::kind_at(c, to_kind, t);
                if (t < 0 || c.state.place_anywhere(kind_to, t) < 0) continue;
                g.to = t;
                if (to_test && !to_test->eval(c)) continue;
                a.kind_to = kind_to;
                a.to = static_cast<int16_t>(t);
                if (c.state.stacking())
                    a.level_to = static_cast<int16_t>(
                        c.state.height(c.state.place_anywhere(kind_to, t)) - 1);
                add_single(c, out, a);
            }
        }
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
    }
};

struct Promote final : MovesNode {
    Kind kind;
    IntPtr site;
    std::vector<IntPtr> pieces;
    bool decision;
    Consequence then;
    explicit Promote(Reader& r)
        : kind(r.kind()), site(r.integer()), pieces(r.integers()), decision(r.flag()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int s = site->eval(c);
        if (s < 0) return;
        const uint32_t before = out.last;
        for (const auto& piece : pieces) {
            const int what = piece->eval(c);
            if (what < 1) continue;
            Action a = site_action(Act::Promote, kind, s, decision);
            a.what = what;
            add_single(c, out, a);
        }
        then.attach(c, out, before);
    }
};

struct Shoot final : MovesNode {
    Kind kind;
    IntPtr piece, from;
    DirectionsPtr directions;
    BoolPtr to_test;
    bool decision;
    Consequence then;
    explicit Shoot(Reader& r)
        : kind(r.kind()),
          piece(r.integer()),
          from(r.integer()),
          directions(r.directions()),
          to_test(r.boolean()),
          decision(r.flag()),
          then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c), what = piece->eval(c);
        if (!on_board(c.program, kind, f) || what < 0) return;
        const Keep keep_to(c.registers.to), keep_between(c.registers.between);
        const uint32_t before = out.last;
        for (int d : DirectionList(c, *directions, kind, f))
            for (int number : rays_of(c.program, kind, f, d)) {
                const auto sites = ray(c.program, kind, number);
                for (size_t n = 1; n < sites.size(); ++n) {
                    const int t = sites[n];
                    c.registers.to = t;
                    const bool may = to_test ? to_test->eval(c)
                                             : c.state.place(Cell, t) >= 0 &&
                                                   c.state.empty(c.state.place(Cell, t));
                    if (!may) break;
                    c.registers.between = t;
                    Action a = site_action(Act::Add, kind, t, decision);
                    a.what = what;
                    add_single(c, out, a);
                }
            }
        then.attach(c, out, before);
    }
};

}  // namespace

void add_piece_moves(Makers<MovesPtr>& m) {
    m["fromTo"] = [](Reader& r) { return MovesPtr(std::make_unique<FromToMove>(r)); };
    m["add"] = [](Reader& r) { return MovesPtr(std::make_unique<AddMove>(r)); };
    m["remove"] = [](Reader& r) { return MovesPtr(std::make_unique<RemoveMove>(r)); };
    m["select"] = [](Reader& r) { return MovesPtr(std::make_unique<Select>(r)); };
    m["promote"] = [](Reader& r) { return MovesPtr(std::make_unique<Promote>(r)); };
    m["shoot"] = [](Reader& r) { return MovesPtr(std::make_unique<Shoot>(r)); };
}

}  // namespace omnilude::ludeme
