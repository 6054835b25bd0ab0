// Generators of moves of pieces over the board: steps and slides.
#include <algorithm>

#include "ludeme/building.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

constexpr int endless = 1000;

// --- one step ---

struct Step final : MovesNode {
    Kind kind;
    IntPtr from, level;
    BoolPtr from_test;
    Ways ways;
    BoolPtr to_test;
    Apply apply;
    bool stack, decision;
    Consequence then;
    Precheck precheck;
    bool starts_here;
    bool to_empty;  // to any empty site, whatever else there is
    explicit Step(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          level(r.integer()),
          from_test(r.boolean()),
          ways(r.program, kind, r.directions(), starts_at_register(from)),
          to_test(r.boolean()),
          apply(r),
          stack(r.flag()),
          decision(r.flag()),
          then(r),
          precheck(r.program, ways, to_test.get(), &Registers::to),
          starts_here(starts_at_register(from)),
          to_empty(precheck.known() && !level && !from_test && to_test &&
                   to_test->is_emptiness(&Registers::to, kind)) {}

    bool is_excluded(const Context& c, int f) const {
        return precheck.known() && precheck.excludes(c, ways.beside(c, f));
    }

    // A start that fails its test is left in the register, for what is listed next.
    bool leaves_start() const { return from_test && !starts_here; }
    int64_t most_draws(const Program&, int piece, int site) const override {
        if (leaves_start()) return -1;
        return starts_here ? ways.most_steps(piece, site) : ways.most_steps(-1, -1);
    }
    int64_t draws(Context& c) const override {
        if (leaves_start()) return -1;
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return 0;
        WayBuffer buffer;
        return static_cast<int64_t>(ways.steps(c, f, buffer).size());
    }
    // Calls `found(f, t, given)` with the registers set if a number stands for a move.
    template <class Found>
    bool draw_with(Context& c, int64_t number, Found&& found) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        WayBuffer buffer;
        const auto ends = ways.steps(c, f, buffer);
        if (static_cast<size_t>(number) >= ends.size()) return false;
        const int t = ends[static_cast<size_t>(number)];
        if (precheck.excludes_site(c, t)) return false;
        const int given = level ? level->eval(c) : -1;
        if (given < -1) return false;
        c.registers.from = f;
        if (from_test && !from_test->eval(c)) return false;
        c.registers.to = t;
        if (to_test && !to_test->eval(c)) return false;
        found(f, t, given);
        return true;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            auto found = [&](int f, int t, int given) { add(c, f, t, given, out); };
            if (!draw_with(c, number, found)) return false;
        }
        then.attach(c, out, before);
        return true;
    }

    int singles() const override { return apply.effect ? -1 : then.count(); }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        return draw_with(c, number, [&](int f, int t, int given) {
            single.set(make_action(c, f, t, given), f, t, then.node.get());
        });
    }

    // Whether a step ends on a site that is wanted.
    template <class Wanted>
    bool ends_on(Context& c, Wanted&& wanted) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f) || is_excluded(c, f)) return false;
        WayBuffer buffer;
        const auto ends = ways.steps(c, f, buffer);
        if (std::none_of(ends.begin(), ends.end(), wanted)) return false;
        if (level && level->eval(c) < -1) return false;
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        c.registers.from = f;
        if (from_test && !from_test->eval(c)) return false;
        for (int t : ends) {
            if (!wanted(t) || precheck.excludes_site(c, t)) continue;
            c.registers.to = t;
            if (!to_test || to_test->eval(c)) return true;
        }
        return false;
    }
    bool rules_out(const Context& c, int site) const override {
        return starts_here && on_board(c.program, kind, site) && is_excluded(c, site);
    }
    bool can_drop() const override {
        return starts_here && precheck.known() && ways.can_keep_stepping();
    }
    void drop_ruled_out(const Context& c, SiteSet& sites) const override {
        SiteSet ends;
        precheck.all_passing(c, ends);
        ways.keep_stepping(c, ends, sites);
    }
    bool any(Context& c) const override {
        if (to_empty && !c.plain) {
            const int f = from->eval(c);
            if (!on_board(c.program, kind, f)) return false;
            if (ways.has_exact_steps(c, f)) return !is_excluded(c, f);
        }
        return ends_on(c, [](int) { return true; });
    }
    bool can_move_to(Context& c, int site) const override {
        return ends_on(c, [site](int t) { return t == site; });
    }

    Action make_action(const Context& c, int f, int t, int given) const {
        int l = given;
        if (given < 0 || stack) l = c.state.stacking() && !stack ? top_level(c, kind, f) : -1;
        return move_action(kind, f, l, t, -1, stack, decision);
    }
    void add(Context& c, int f, int t, int given, MoveList& out) const {
        uint32_t move = c.arena.make_move(make_action(c, f, t, given));
        move = prepend_apply(c, apply, move);
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        if (!from_test && is_excluded(c, f)) return;
        WayBuffer buffer;
        const auto ends = ways.steps(c, f, buffer);
        const int given = level ? level->eval(c) : -1;
        if (given < -1) return;
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        g.from = f;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        for (int t : ends) {
            if (precheck.excludes_site(c, t)) continue;
            g.to = t;
            if (!to_test || to_test->eval(c)) add(c, f, t, given, out);
        }
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
    }
};

// --- any number of steps in one direction ---

struct Slide final : MovesNode {
    Kind kind;
    IntPtr from, level;
    BoolPtr from_test;
    Ways ways;
    RangePtr range;
    BoolPtr go;
    IntPtr trail;
    Apply between_apply;
    BoolPtr stop;
    Apply to_apply;
    bool stack, decision;
    std::vector<int32_t> tracks;
    bool on_track, all_tracks;
    Consequence then;
    struct Stop {
        int track;
        size_t element;
    };
    std::vector<std::vector<Stop>> stops_at;  // where tracks pass a site
    // Slides over empty sites alone, which depend on nothing but the board, are counted: it takes
    // no longer than to try a few numbers.
    bool counted = false;
    explicit Slide(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          level(r.integer()),
          from_test(r.boolean()),
          ways(r.program, kind, r.directions()),
          range(r.range()),
          go(r.boolean()),
          trail(r.integer()),
          between_apply(r),
          stop(r.boolean()),
          to_apply(r),
          stack(r.flag()),
          decision(r.flag()),
          tracks(r.numbers()),
          on_track(r.flag()),
          all_tracks(r.flag()),
          then(r) {
        if (on_track) find_stops(r.program);
        // That a site is empty is asked without a condition.
        if (!on_track && go && go->is_emptiness(&Registers::between, kind)) go.reset();
        counted = !on_track && !level && !from_test && !range && !go && !stop && !to_apply.test &&
                  starts_at_register(from) && ways.steady();
    }
    void find_stops(const Program& program) {
        stops_at.resize(program.board.tables[kind].count);
        for (int track : tracks) {
            const auto& elements = program.board.tracks[static_cast<size_t>(track)].elements;
            for (size_t n = 0; n < elements.size(); ++n)
                if (on_board(program, kind, elements[n].site))
                    stops_at[static_cast<size_t>(elements[n].site)].push_back({track, n});
        }
    }
    // Along tracks a slide has one end at most where it can end only with a capture.
    bool single_ends() const {
        return on_track && to_apply.test && to_apply.test->constant() &&
               !*to_apply.test->constant();
    }

    bool may_pass(Context& c, int site) const {
        if (go) return go->eval(c);
        const int place = c.state.place(kind, site);
        return place >= 0 && c.state.empty(place);
    }

    // Calls `found(n, effects)` for every site of a ray where a slide may end, by its number on
    // the ray, until it returns true; returns whether it did.
    template <class Found>
    bool along(Context& c, std::span<const int32_t> sites, int least, int most, bool plain,
               Found&& found) const {
        Registers& g = c.registers;
        for (int i = 1; i < static_cast<int>(sites.size()) && i <= most; ++i) {
            const int t = sites[static_cast<size_t>(i)];
            g.to = t;
            if (stop && stop->eval(c) && least <= i) return found(i, true);
            g.between = t;
            if (!may_pass(c, t)) return false;
            if (least <= i && found(i, plain)) return true;
            g.between = t;  // which `found` may have changed
        }
        return false;
    }

    // A number is a ray and how far along it.
    bool leaves_start() const { return from_test && !starts_at_register(from); }
    int64_t most_draws(const Program&, int piece, int site) const override {
        if (leaves_start()) return -1;
        if (on_track) {
            if (!single_ends()) return -1;
            size_t most = 0;
            for (size_t s = 0; s < stops_at.size(); ++s)
                if (site < 0 || !starts_at_register(from) || static_cast<size_t>(site) == s)
                    most = std::max(most, stops_at[s].size());
            return static_cast<int64_t>(most);
        }
        return starts_at_register(from) ? ways.most_ray_sites(piece, site)
                                        : ways.most_ray_sites(-1, -1);
    }
    bool draws_exactly() const override { return counted; }
    // How many sites of a ray are empty, up to the first that is not.
    int open_sites(const Context& c, int number) const {
        const SiteTables& t = c.program.board.tables[kind];
        const auto n = static_cast<size_t>(number);
        const int order = c.program.layout.layer[kind] == 0 ? t.ray_order[n] : 0;
        if (order == 0) {
            const auto sites = t.rays[n];
            size_t i = 1;
            while (i < sites.size() && c.state.empty(c.state.place(kind, sites[i]))) ++i;
            return static_cast<int>(i) - 1;
        }
        const uint64_t* set = t.ray_sets.data() + n * t.words;
        const uint64_t* empty = c.state.empties();
        int open = 0;
        for (uint32_t i = 0; i < t.words; ++i) {
            const uint32_t w = order > 0 ? i : t.words - 1 - i;
            const uint64_t taken = set[w] & ~empty[w];
            if (!taken) {
                open += std::popcount(set[w]);
                continue;
            }
            const uint64_t before =
                order > 0 ? (taken & -taken) - 1 : ~uint64_t{0} << (63 - std::countl_zero(taken));
            return open + std::popcount(set[w] & before & ~taken);
        }
        return open;
    }
    int64_t draws(Context& c) const override {
        if (leaves_start() || (on_track && !single_ends())) return -1;
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return 0;
        if (on_track) return static_cast<int64_t>(stops_at[static_cast<size_t>(f)].size());
        const Keep keep(c.registers.from);
        c.registers.from = f;
        if (counted) {
            WayBuffer buffer;
            int64_t sum = 0;
            for (int number : ways.rays(c, f, buffer)) sum += open_sites(c, number);
            return sum;
        }
        WayBuffer buffer;
        int64_t sum = 0;
        for (int number : ways.rays(c, f, buffer))
            sum += static_cast<int64_t>(ray(c.program, kind, number).size()) - 1;
        return sum;
    }
    // The ray of a number, and how far along it; nothing if there is none.
    std::span<const int32_t> find_ray(Context& c, int f, int64_t number, int& wanted) const {
        WayBuffer buffer;
        wanted = static_cast<int>(number) + 1;
        for (int one : ways.rays(c, f, buffer)) {
            const auto here = ray(c.program, kind, one);
            const int ends = counted ? open_sites(c, one) : static_cast<int>(here.size()) - 1;
            if (wanted <= ends) return here;
            wanted -= ends;
        }
        return {};
    }
    // Calls `found(f, given, sites, i, effects)` where a number stands for a move.
    template <class Found>
    bool draw_with(Context& c, int64_t number, Found&& found) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        int least = -1, most = endless, wanted = 0;
        if (range) range->eval(c, least, most);
        c.registers.from = f;
        const auto sites = find_ray(c, f, number, wanted);
        const int given = level ? level->eval(c) : -1;
        if (sites.empty() || wanted > most || given < -1) return false;
        if (from_test && !from_test->eval(c)) return false;
        return along(c, sites, least, wanted, given < 0 && !stack, [&](int i, bool effects) {
            return i == wanted && found(f, given, sites, i, effects);
        });
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        if (on_track) return draw_on_track(c, number, out);
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            const Keep keep_between(c.registers.between);
            if (!draw_with(
                    c, number,
                    [&](int f, int given, std::span<const int32_t> sites, int i, bool effects) {
                        add(c, f, given, sites, i, effects, out);
                        return out.last != before;
                    }))
                return false;
        }
        then.attach(c, out, before);
        return true;
    }
    int singles() const override {
        return to_apply.effect || between_apply.effect || trail || on_track ? -1 : then.count();
    }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        return draw_with(c, number,
                         [&](int f, int given, std::span<const int32_t> sites, int i, bool) {
                             if (!may_end(c, sites, i)) return false;
                             single.from = f;
                             single.to = sites[static_cast<size_t>(i)];
                             single.action = make_action(f, single.to, given);
                             single.add(then.node.get());
                             return true;
                         });
    }

    bool may_end(Context& c, std::span<const int32_t> sites, int i) const {
        if (!to_apply.test) return true;
        if (i > 1) c.registers.between = sites[static_cast<size_t>(i) - 1];
        return to_apply.test->eval(c);
    }
    // Whether a slide ends on one site, or on any where it is -1.
    bool ends_on(Context& c, int site) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        int least = -1, most = endless;
        if (range) range->eval(c, least, most);
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        const Keep keep_between(c.registers.between);
        c.registers.from = f;
        if (site >= 0 && !ways.may_reach(c, f, site)) return false;
        if (level && level->eval(c) < -1) return false;
        if (from_test && !from_test->eval(c)) return false;
        WayBuffer buffer;
        for (int number : ways.rays(c, f, buffer)) {
            const auto sites = ray(c.program, kind, number);
            int last = most;
            if (site >= 0) {
                const auto at = std::find(sites.begin() + 1, sites.end(), site);
                if (at == sites.end()) continue;
                // Rays that come back to a site are walked to their end.
                if (std::find(at + 1, sites.end(), site) == sites.end())
                    last = std::min(last, static_cast<int>(at - sites.begin()));
            }
            c.registers.between = keep_between.old();
            if (along(c, sites, least, last, true, [&](int i, bool) {
                    if (site >= 0 && sites[static_cast<size_t>(i)] != site) return false;
                    return may_end(c, sites, i);
                }))
                return true;
        }
        return false;
    }
    bool any(Context& c) const override { return on_track ? MovesNode::any(c) : ends_on(c, -1); }
    bool can_move_to(Context& c, int site) const override {
        return on_track ? MovesNode::can_move_to(c, site) : site >= 0 && ends_on(c, site);
    }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        int least = -1, most = endless;
        if (range) range->eval(c, least, most);
        if (on_track) {
            along_tracks(c, f, least, most, out);
            return;
        }
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to, old_between = g.between;
        g.from = f;
        WayBuffer buffer;
        const auto rays = ways.rays(c, f, buffer);
        const int given = level ? level->eval(c) : -1;
        if (given < -1) return;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        for (int number : rays) {
            g.between = old_between;
            const auto sites = ray(c.program, kind, number);
            along(c, sites, least, most, given < 0 && !stack, [&](int i, bool effects) {
                add(c, f, given, sites, i, effects, out);
                return false;
            });
        }
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        then.attach(c, out, before);
    }

    Action make_action(int f, int t, int given) const {
        const bool decided = decision || stack || given >= 0;
        return move_action(kind, f, given, t, -1, stack, decided);
    }
    void add(Context& c, int f, int given, std::span<const int32_t> sites, int i, bool effects,
             MoveList& out) const {
        const int t = sites[static_cast<size_t>(i)];
        const auto passed = sites.subspan(1, static_cast<size_t>(i) - 1);
        uint32_t move = c.arena.make_move(make_action(f, t, given));
        if (stack) set_levels(c, move, 0, top_level(c, kind, f));
        if (effects) move = prepend_effect(c, to_apply.effect.get(), move);
        if (trail) {
            const int piece = trail->eval(c);
            for (int n = 0; n < i && c.program.board.has_piece(piece); ++n) {
                Action mark = site_action(Act::Add, kind, sites[static_cast<size_t>(n)]);
                mark.what = piece;
                c.arena.append_action(move, mark);
            }
        }
        if (between_apply.effect)
            for (int b : passed) {
                c.registers.between = b;
                move = prepend_apply(c, between_apply, move);
            }
        if (!may_end(c, sites, i)) return;
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    void along_track(Context& c, int f, const Stop& start, int least, int most,
                     MoveList& out) const {
        Registers& g = c.registers;
        const auto& elements = c.program.board.tracks[static_cast<size_t>(start.track)].elements;
        size_t at = start.element;
        int bumps = elements[at].bump;
        for (int n = 1;
             elements[at].next != off && n < static_cast<int>(elements.size()) && n <= most; ++n) {
            const int t = elements[at].next;
            g.to = t;
            if (bumps > 0 || !all_tracks) {
                if (stop && stop->eval(c)) {
                    if (least <= n) {
                        uint32_t move =
                            c.arena.make_move(move_action(kind, f, -1, t, -1, false, decision));
                        move = prepend_effect(c, to_apply.effect.get(), move);
                        set_ends(c, move, f, t);
                        c.arena.append(out, move);
                        return;
                    }
                } else if (least <= n && (!to_apply.test || to_apply.test->eval(c))) {
                    add_single(c, out, move_action(kind, f, -1, t, -1, false, decision));
                }
            }
            g.between = t;
            if (!may_pass(c, t)) return;
            at = static_cast<size_t>(elements[at].next_index);
            bumps += elements[at].bump;
        }
    }

    void along_tracks(Context& c, int f, int least, int most, MoveList& out) const {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to, old_between = g.between;
        g.from = f;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        for (const Stop& start : stops_at[static_cast<size_t>(f)])
            along_track(c, f, start, least, most, out);
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        then.attach(c, out, before, false);
    }

    bool draw_on_track(Context& c, int64_t number, MoveList& out) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        const auto& starts = stops_at[static_cast<size_t>(f)];
        if (static_cast<size_t>(number) >= starts.size()) return false;
        int least = -1, most = endless;
        if (range) range->eval(c, least, most);
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            const Keep keep_between(c.registers.between);
            c.registers.from = f;
            if (from_test && !from_test->eval(c)) return false;
            along_track(c, f, starts[static_cast<size_t>(number)], least, most, out);
        }
        if (out.last == before) return false;
        then.attach(c, out, before, false);
        return true;
    }
};

}  // namespace

void add_movements(Makers<MovesPtr>& m) {
    m["step"] = [](Reader& r) { return MovesPtr(std::make_unique<Step>(r)); };
    m["slide"] = [](Reader& r) { return MovesPtr(std::make_unique<Slide>(r)); };
}

}  // namespace omnilude::ludeme
