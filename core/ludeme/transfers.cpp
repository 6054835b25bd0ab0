// Generators of moves from anywhere to anywhere, and of choices of sites.
#include <algorithm>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

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

    // A start with a piece that may move from there.
    struct Start {
        int site, place;
        Kind kind;
        bool copying;
        int count = 1;
    };
    int count_at(Context& c, int f) const {
        if (!count) return 1;
        const Keep keep(c.registers.from);
        c.registers.from = f;
        return count->eval(c);
    }
    // Levels and counts may depend on the end that was tried before.
    bool depends_on_order() const {
        auto varies = [](const IntPtr& node) { return node && !node->is_steady(); };
        return varies(from_level) || varies(to_level) || varies(count);
    }
    bool may_start(Context& c, int f, Start& start) const {
        if (f < 0) return false;
        const Board& board = c.program.board;
        const bool away = static_cast<size_t>(f) < board.container_of.size() &&
                          board.container_of[static_cast<size_t>(f)] > 0;
        start.site = f;
        start.kind = away ? Cell : from_kind >= 0 ? static_cast<Kind>(from_kind) : board.kind;
        start.place = c.state.place(start.kind, f);
        if (start.place < 0 || c.state.what(start.place) <= 0) return false;
        const Keep keep(c.registers.from);
        c.registers.from = f;
        start.copying = copy && copy->eval(c);
        return !from_test || from_test->eval(c);
    }
    Sites targets(Context& c, int f) const {
        const Keep keep(c.registers.from);
        c.registers.from = f;
        return Sites(c, to.get(), to_region.get());
    }
    bool may_end(Context& c, int f, int t) const {
        if (t < 0) return false;
        if (!to_test) return true;
        const Keep keep(c.registers.from);
        c.registers.from = f;
        c.registers.to = t;
        return to_test->eval(c);
    }

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep(c.registers.to);
            Sites(c, from.get(), from_region.get()).each([&](int f) {
                Start start;
                if (!may_start(c, f, start)) return;
                start.count = count_at(c, f);
                targets(c, f).each([&](int t) { add(c, start, t, out); });
            });
        }
        finish(c, out, before);
    }

    // If it may end there.
    void add(Context& c, const Start& start, int t, MoveList& out) const {
        if (t < 0) return;
        Registers& g = c.registers;
        const int f = start.site, old_from = g.from;
        const Action a =
            make_action(c, start.kind, f, kind_at(c, to_kind, t), t, start.count, start.copying);
        g.to = t;
        if (!may_end(c, f, t)) return;
        uint32_t move = c.arena.make_move(a);
        if (c.state.stacking()) {
            const int top = c.state.height(start.place) - 1;
            const int level = from_level ? from_level->eval(c) : top;
            set_levels(c, move, stack ? 0 : level, stack ? top : level);
        }
        if (apply.effect && (!apply.test || apply.test->eval(c))) {
            g.from = f;
            move = prepend_effect(c, apply.effect.get(), move);
            g.from = old_from;
        }
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    void finish(Context& c, MoveList& out, uint32_t before) const {
        then.attach(c, out, before);
        if (!mover) return;
        const int who = mover->eval(c);
        for (uint32_t n = following(c, out, before); n != none; n = c.arena.move(n).next)
            c.arena.move(n).mover = static_cast<int16_t>(who);
    }

    bool any(Context& c) const override {
        const Keep keep(c.registers.to);
        return Sites(c, from.get(), from_region.get()).any([&](int f) {
            Start start;
            return may_start(c, f, start) &&
                   targets(c, f).any([&](int t) { return may_end(c, f, t); });
        });
    }
    bool can_move_to(Context& c, int site) const override {
        const Keep keep(c.registers.to);
        return Sites(c, from.get(), from_region.get()).any([&](int f) {
            Start start;
            return may_start(c, f, start) &&
                   targets(c, f).any([&](int t) { return t == site && may_end(c, f, t); });
        });
    }
    int64_t most_draws(const Program&, int, int) const override {
        return from_region || to_region || depends_on_order() ? -1 : 1;
    }
    int64_t draws(Context& c) const override {
        if (depends_on_order()) return -1;
        int64_t sum = 0;
        const Keep keep(c.registers.to);
        Sites(c, from.get(), from_region.get()).each([&](int f) {
            Start start;
            if (may_start(c, f, start)) sum += targets(c, f).count();
        });
        return sum;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep(c.registers.to);
            Sites(c, from.get(), from_region.get()).any([&](int f) {
                Start start;
                if (!may_start(c, f, start)) return false;
                const Sites ends = targets(c, f);
                const int64_t here = ends.count();
                if (number >= here) {
                    number -= here;
                    return false;
                }
                start.count = count_at(c, f);
                add(c, start, ends.nth(number), out);
                return true;
            });
        }
        if (out.last == before) return false;
        finish(c, out, before);
        return true;
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

    // Sites of hands are cells, and must be called so where the board has none.
    static bool is_called(const Context& c, int kind, int site) {
        const Board& board = c.program.board;
        return kind >= 0 || board.kind == Cell ||
               static_cast<size_t>(site) >= board.container_of.size() ||
               board.container_of[static_cast<size_t>(site)] == 0;
    }
    bool may_start(Context& c, int s) const {
        if (s < 0 || !is_called(c, from_kind, s)) return false;
        if (c.state.place_anywhere(kind_at(c, from_kind, s), s) < 0) return false;
        c.registers.from = c.registers.to = s;
        return !from_test || from_test->eval(c);
    }
    bool may_end(Context& c, int t) const {
        if (t < 0 || !is_called(c, to_kind, t)) return false;
        if (c.state.place_anywhere(kind_at(c, to_kind, t), t) < 0) return false;
        c.registers.to = t;
        return !to_test || to_test->eval(c);
    }
    void add(Context& c, int s, int t, MoveList& out) const {
        const Kind kind = kind_at(c, from_kind, s);
        Action a = site_action(Act::Select, kind, s, decision);
        auto top = [&](Kind k, int site) {
            return static_cast<int16_t>(c.state.height(c.state.place_anywhere(k, site)) - 1);
        };
        if (c.state.stacking()) {
            const Keep keep(c.registers.to);
            c.registers.to = s;
            a.level_from = from_level ? static_cast<int16_t>(from_level->eval(c)) : top(kind, s);
            a.level_to = a.level_from;
        }
        if (has_to) {
            const Kind kind_to = kind_at(c, to_kind, t);
            a.kind_to = kind_to;
            a.to = static_cast<int16_t>(t);
            if (c.state.stacking()) a.level_to = top(kind_to, t);
        }
        add_single(c, out, a);
    }

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            Sites(c, from.get(), from_region.get()).each([&](int s) {
                if (!may_start(c, s)) return;
                if (!has_to) {
                    add(c, s, s, out);
                    return;
                }
                Sites(c, to.get(), to_region.get()).each([&](int t) {
                    if (may_end(c, t)) add(c, s, t, out);
                });
            });
        }
        then.attach(c, out, before);
    }
    int64_t most_draws(const Program&, int, int) const override {
        return from_region || to_region ? -1 : 1;
    }
    // Every start that may be one, with every end.
    int64_t draws(Context& c) const override {
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        const Sites starts(c, from.get(), from_region.get());
        if (!has_to) return starts.count();
        int64_t sum = 0;
        starts.each([&](int s) {
            if (may_start(c, s)) sum += Sites(c, to.get(), to_region.get()).count();
        });
        return sum;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            const Sites starts(c, from.get(), from_region.get());
            if (!has_to) {
                const int s = starts.nth(number);
                if (may_start(c, s)) add(c, s, s, out);
            } else {
                starts.any([&](int s) {
                    if (!may_start(c, s)) return false;
                    const Sites ends(c, to.get(), to_region.get());
                    if (number >= ends.count()) {
                        number -= ends.count();
                        return false;
                    }
                    const int t = ends.nth(number);
                    if (may_end(c, t)) add(c, s, t, out);
                    return true;
                });
            }
        }
        if (out.last == before) return false;
        then.attach(c, out, before);
        return true;
    }
};

}  // namespace

void add_transfers(Makers<MovesPtr>& m) {
    m["fromTo"] = [](Reader& r) { return MovesPtr(std::make_unique<FromToMove>(r)); };
    m["select"] = [](Reader& r) { return MovesPtr(std::make_unique<Select>(r)); };
}

}  // namespace omnilude::ludeme
