// Generators of moves of pieces over the board: hops over others, leaps.
#include <algorithm>

#include "ludeme/building.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

// --- over other pieces ---

struct Hop final : MovesNode {
    Kind kind;
    IntPtr from;
    BoolPtr from_test;
    Ways ways;
    bool has_between;
    IntPtr before_count, after_count;
    RangePtr range;
    BoolPtr hurdle;
    Apply hurdle_apply;
    BoolPtr go;
    Apply to_apply;
    bool stack, decision;
    Consequence then;
    Precheck hurdle_check, landing_check;
    bool starts_here;
    explicit Hop(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          from_test(r.boolean()),
          ways(r.program, kind, r.directions(), starts_at_register(from)),
          has_between(r.flag()),
          before_count(r.integer()),
          after_count(r.integer()),
          range(r.range()),
          hurdle(r.boolean()),
          hurdle_apply(r),
          go(r.boolean()),
          to_apply(r),
          stack(r.flag()),
          decision(r.flag()),
          then(r),
          hurdle_check(r.program, ways, is_plain() ? hurdle.get() : nullptr, &Registers::between),
          landing_check(r.program, ways, is_plain() && !to_apply.test ? go.get() : nullptr,
                        &Registers::to),
          starts_here(starts_at_register(from)) {}
    // Whether it goes over one piece right beside it, to the site beyond.
    bool is_plain() const { return has_between && !before_count && !after_count && !range; }
    bool excluded(const Context& c, int f) const {
        return (landing_check.known() && landing_check.excludes(c, ways.beyond(c, f))) ||
               (hurdle_check.known() && hurdle_check.excludes(c, ways.beside(c, f)));
    }

    bool is_hurdle(Context& c) const { return has_between ? hurdle && hurdle->eval(c) : true; }

    // Where a hop ends, and what it passes over.
    struct Landing {
        int to;
        int first, hurdles;  // on the ray
        int taken;           // hurdles that effects apply to
        bool blocked;        // it ends where it could not go
    };
    struct Span {
        int least = 1, most = 1, before = 0, after = 0;
    };
    Span spans(Context& c) const {
        Span span;
        if (range) range->eval(c, span.least, span.most);
        if (before_count) span.before = before_count->eval(c);
        if (after_count) span.after = after_count->eval(c);
        return span;
    }

    // Calls `found` for every landing on a ray, until it returns true; returns whether it did.
    template <class Found>
    bool along(Context& c, std::span<const int32_t> sites, const Span& span, Found&& found) const {
        Registers& g = c.registers;
        const auto length = static_cast<int>(sites.size());
        auto site = [&](int n) { return static_cast<int>(sites[static_cast<size_t>(n)]); };
        for (int i = 1; i < length; ++i) {
            if (from_test && !from_test->eval(c)) continue;
            g.between = site(i);
            if (!is_hurdle(c)) {
                g.to = site(i);
                if (i > span.before || !go->eval(c)) return false;
                continue;
            }
            int j = i + 1;
            while (j < length && j - i < span.most) {
                g.between = site(j);
                if (!is_hurdle(c)) break;
                ++j;
            }
            const int hurdles = j - i;
            if (hurdles < span.least) return false;
            for (int k = hurdles - span.least; k >= 0; --k)
                for (int a = j - k; a < length; ++a) {
                    g.to = site(a);
                    if (!go->eval(c)) {
                        if (to_apply.test && to_apply.test->eval(c) &&
                            found(Landing{site(a), i, hurdles, 0, true}))
                            return true;
                        break;
                    }
                    if (!to_apply.test && found(Landing{site(a), i, hurdles, hurdles - k, false}))
                        return true;
                    if (a - j + 1 > span.after - k) break;
                }
            return false;
        }
        return false;
    }

    void add(Context& c, int f, std::span<const int32_t> sites, const Landing& end,
             MoveList& out) const {
        uint32_t move = c.arena.make_move(move_action(kind, f, -1, end.to, -1, stack, decision));
        move = prepend_effect(c, to_apply.effect.get(), move);
        for (int h = 0; h < end.taken; ++h) {
            c.registers.between = sites[static_cast<size_t>(end.first + h)];
            move = prepend_apply(c, hurdle_apply, move);
        }
        set_ends(c, move, f, end.to);
        if (stack) set_levels(c, move, 0, top_level(c, kind, f));
        c.arena.append(out, move);
    }

    // A hop over nothing.
    bool steps_to(Context& c, int t) const {
        c.registers.to = t;
        return (!from_test || from_test->eval(c)) && go->eval(c);
    }
    void add_step(Context& c, int f, int t, MoveList& out) const {
        uint32_t move = c.arena.make_move(move_action(kind, f, -1, t, -1, stack, decision));
        move = prepend_apply(c, hurdle_apply, move);
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f) || excluded(c, f)) return;
        WayBuffer for_rays, for_steps;
        const auto rays = ways.rays(c, f, for_rays);
        const auto steps = range ? ways.steps(c, f, for_steps) : std::span<const int32_t>();
        const Span span = spans(c);
        Registers& g = c.registers;
        const uint32_t before = out.last;
        {
            const Keep keep_from(g.from), keep_to(g.to), keep_between(g.between);
            g.from = f;
            if (span.least == 0)
                for (int t : steps)
                    if (steps_to(c, t)) add_step(c, f, t, out);
            if (span.most > 0)
                for (int number : rays) {
                    const auto sites = ray(c.program, kind, number);
                    along(c, sites, span, [&](const Landing& end) {
                        add(c, f, sites, end, out);
                        return false;
                    });
                }
        }
        then.attach(c, out, before);
    }

    // Whether a ray has one landing at most.
    bool single() const { return !after_count && (!range || range->is_exact()); }
    int64_t most_draws(const Program&, int piece, int site) const override {
        if (!single()) return -1;
        if (!starts_at_register(from)) piece = site = -1;
        const int rays = ways.most_rays(piece, site);
        return range && rays >= 0 ? std::max(rays, ways.most_steps(piece, site)) : rays;
    }
    int64_t draws(Context& c) const override {
        if (!single()) return -1;
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return 0;
        WayBuffer buffer;
        const size_t rays = ways.rays(c, f, buffer).size();
        return static_cast<int64_t>(range ? std::max(rays, ways.steps(c, f, buffer).size()) : rays);
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f) || excluded(c, f)) return false;
        const auto n = static_cast<size_t>(number);
        WayBuffer buffer;
        int chosen = -1, t = -1;
        if (const auto rays = ways.rays(c, f, buffer); n < rays.size()) chosen = rays[n];
        if (range)
            if (const auto steps = ways.steps(c, f, buffer); n < steps.size()) t = steps[n];
        Registers& g = c.registers;
        // Where the range depends on the site, it is that of the piece.
        const Span span = spans(c);
        const uint32_t before = out.last;
        {
            const Keep keep_from(g.from), keep_to(g.to), keep_between(g.between);
            g.from = f;
            if (span.least == 0 && t >= 0 && steps_to(c, t)) add_step(c, f, t, out);
            if (span.most > 0 && chosen >= 0) {
                const auto sites = ray(c.program, kind, chosen);
                along(c, sites, span, [&](const Landing& end) {
                    add(c, f, sites, end, out);
                    return true;
                });
            }
        }
        if (out.last == before) return false;
        then.attach(c, out, before);
        return true;
    }

    template <class Wanted>
    bool ends_on(Context& c, Wanted&& wanted) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f) || excluded(c, f)) return false;
        WayBuffer for_rays, for_steps;
        const auto rays = ways.rays(c, f, for_rays);
        const auto steps = range ? ways.steps(c, f, for_steps) : std::span<const int32_t>();
        const Span span = spans(c);
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        const Keep keep_between(c.registers.between);
        c.registers.from = f;
        if (span.least == 0)
            for (int t : steps)
                if (wanted(t) && steps_to(c, t)) return true;
        if (span.most > 0)
            for (int number : rays)
                if (along(c, ray(c.program, kind, number), span,
                          [&](const Landing& end) { return wanted(end.to); }))
                    return true;
        return false;
    }
    bool rules_out(const Context& c, int site) const override {
        return starts_here && on_board(c.program, kind, site) && excluded(c, site);
    }
    void drop_ruled_out(const Context& c, SiteSet& sites) const override {
        SiteSet hurdles, landings;
        hurdle_check.all_passing(c, hurdles);
        landing_check.all_passing(c, landings);
        // In stacks it remains to be seen whose piece is on top.
        if (ways.keep_leaping(c, hurdles, landings, sites) && !c.state.stacking()) return;
        const auto count = static_cast<int>(c.program.board.tables[kind].count);
        sites.each(ways.words(), [&](int site) {
            if (site < count && !can_leap(c, site, hurdles, landings))
                sites.remove(static_cast<uint32_t>(site));
        });
    }
    // Whether a ray has a hurdle and then a landing, as far as the checks tell.
    bool can_leap(const Context& c, int site, const SiteSet& hurdles,
                  const SiteSet& landings) const {
        const auto leaps = ways.leaps(c, site);
        for (size_t n = 0; n < leaps.size(); n += 2)
            if (hurdles.has(static_cast<uint32_t>(leaps[n])) &&
                landings.has(static_cast<uint32_t>(leaps[n + 1])) &&
                !hurdle_check.excludes_top(c, leaps[n]))
                return true;
        return false;
    }
    bool is_rare() const override {
        return starts_here && (hurdle_check.known() || landing_check.known());
    }
    bool can_drop() const override { return is_rare(); }
    bool any(Context& c) const override {
        return ends_on(c, [](int) { return true; });
    }
    bool can_move_to(Context& c, int site) const override {
        return ends_on(c, [site](int t) { return t == site; });
    }
};

// --- to where a walk ends ---

struct Leap final : MovesNode {
    Kind kind;
    IntPtr from;
    BoolPtr from_test;
    std::vector<std::vector<int32_t>> ends;  // by site
    BoolPtr forward, to_test;
    Apply apply;
    bool decision;
    Consequence then;
    explicit Leap(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          from_test(r.boolean()),
          ends(read_ends(r)),
          forward(r.boolean()),
          to_test(r.boolean()),
          apply(r),
          decision(r.flag()),
          then(r) {}
    static std::vector<std::vector<int32_t>> read_ends(Reader& r) {
        std::vector<std::vector<int32_t>> lists(static_cast<size_t>(r.number()));
        for (auto& list : lists) list = r.numbers();
        return lists;
    }

    bool is_ahead(const Context& c, int f, int t) const {
        const int place = c.state.place(kind, f);
        const int piece = c.state.what(place);
        if (!piece) return true;
        const int facing = c.program.board.components[static_cast<size_t>(piece)].facing;
        if (facing < 0) return true;
        const SiteTables& tables = c.program.board.tables[kind];
        const int rows = tables.row[static_cast<size_t>(t)] - tables.row[static_cast<size_t>(f)];
        const int columns =
            tables.column[static_cast<size_t>(t)] - tables.column[static_cast<size_t>(f)];
        switch (facing) {
            case direction::N:
                return rows > 0;
            case direction::S:
                return rows < 0;
            case direction::E:
                return columns > 0;
            case direction::W:
                return columns < 0;
            case direction::NE:
                return rows > 0 && columns > 0;
            case direction::NW:
                return rows > 0 && columns < 0;
            case direction::SE:
                return rows < 0 && columns > 0;
            case direction::SW:
                return rows < 0 && columns < 0;
            default:
                return false;
        }
    }

    bool may_end(Context& c, int f, int t, bool only_ahead) const {
        if (only_ahead && !is_ahead(c, f, t)) return false;
        c.registers.to = t;
        return to_test && to_test->eval(c);
    }
    void add(Context& c, int f, int t, MoveList& out) const {
        uint32_t move = c.arena.make_move(move_action(kind, f, -1, t, -1, false, decision));
        move = prepend_apply(c, apply, move);
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    bool leaves_start() const { return from_test && !starts_at_register(from); }
    int64_t most_draws(const Program&, int, int site) const override {
        if (leaves_start()) return -1;
        if (starts_at_register(from) && site >= 0)
            return static_cast<size_t>(site) < ends.size()
                       ? static_cast<int64_t>(ends[static_cast<size_t>(site)].size())
                       : 0;
        size_t most = 0;
        for (const auto& list : ends) most = std::max(most, list.size());
        return static_cast<int64_t>(most);
    }
    int64_t draws(Context& c) const override {
        if (leaves_start()) return -1;
        const int f = from->eval(c);
        if (f < 0 || static_cast<size_t>(f) >= ends.size()) return 0;
        return static_cast<int64_t>(ends[static_cast<size_t>(f)].size());
    }
    // Calls `found(f, t)` with the registers set if a number stands for a move.
    template <class Found>
    bool draw_with(Context& c, int64_t number, Found&& found) const {
        const int f = from->eval(c);
        if (f < 0 || static_cast<size_t>(f) >= ends.size()) return false;
        const auto& list = ends[static_cast<size_t>(f)];
        if (static_cast<size_t>(number) >= list.size()) return false;
        c.registers.from = f;
        if (from_test && !from_test->eval(c)) return false;
        const int t = list[static_cast<size_t>(number)];
        if (!may_end(c, f, t, forward && forward->eval(c))) return false;
        found(f, t);
        return true;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            if (!draw_with(c, number, [&](int f, int t) { add(c, f, t, out); })) return false;
        }
        then.attach(c, out, before);
        return true;
    }
    int singles() const override { return apply.effect ? -1 : then.count(); }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        return draw_with(c, number, [&](int f, int t) {
            single.set(move_action(kind, f, -1, t, -1, false, decision), f, t, then.node.get());
        });
    }

    template <class Wanted>
    bool ends_on(Context& c, Wanted&& wanted) const {
        const int f = from->eval(c);
        if (f < 0 || static_cast<size_t>(f) >= ends.size()) return false;
        const auto& list = ends[static_cast<size_t>(f)];
        if (std::none_of(list.begin(), list.end(), wanted)) return false;
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        c.registers.from = f;
        if (from_test && !from_test->eval(c)) return false;
        const bool only_ahead = forward && forward->eval(c);
        return std::any_of(list.begin(), list.end(),
                           [&](int t) { return wanted(t) && may_end(c, f, t, only_ahead); });
    }
    bool any(Context& c) const override {
        return ends_on(c, [](int) { return true; });
    }
    bool can_move_to(Context& c, int site) const override {
        return ends_on(c, [site](int t) { return t == site; });
    }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (f < 0 || static_cast<size_t>(f) >= ends.size()) return;
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        g.from = f;
        if (from_test && !from_test->eval(c)) return;
        const bool only_ahead = forward && forward->eval(c);
        const uint32_t before = out.last;
        for (int t : ends[static_cast<size_t>(f)])
            if (may_end(c, f, t, only_ahead)) add(c, f, t, out);
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
    }
};

}  // namespace

void add_jumps(Makers<MovesPtr>& m) {
    m["hop"] = [](Reader& r) { return MovesPtr(std::make_unique<Hop>(r)); };
    m["leap"] = [](Reader& r) { return MovesPtr(std::make_unique<Leap>(r)); };
}

}  // namespace omnilude::ludeme
