// Generators of moves of pieces over the board: steps, slides, hops, leaps.
#include <algorithm>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

constexpr int endless = 1000;

bool already_there(Context& c, const MoveList& list, uint32_t before, int from, int to) {
    uint32_t n = before == none ? list.first : c.arena.move(before).next;
    for (; n != none; n = c.arena.move(n).next)
        if (c.arena.move(n).from == from && c.arena.move(n).to == to) return true;
    return false;
}

int top_level(const Context& c, Kind kind, int site) {
    const int place = c.state.place_anywhere(kind, site);
    return place < 0 ? -1 : c.state.height(place) - 1;
}

// The most ends that steps in these directions have from any site, counted by direction.
int64_t most_steps(const Program& p, Kind kind, const DirectionsNode& directions) {
    const auto count = static_cast<int>(p.board.tables[kind].count);
    const std::vector<int32_t>* fixed = directions.fixed();
    int64_t most = 0;
    for (int site = 0; site < count; ++site) {
        int64_t here = 0;
        if (fixed) {
            for (int d : *fixed) here += static_cast<int64_t>(steps_of(p, kind, site, d).size());
        } else {
            // Directions that depend on the piece are specific ones, each once.
            for (int d = direction::first; d < direction::count; ++d)
                here += static_cast<int64_t>(steps_of(p, kind, site, d).size());
        }
        most = std::max(most, here);
    }
    return most;
}

int64_t most_rays(const Program& p, Kind kind, const DirectionsNode& directions) {
    const auto count = static_cast<int>(p.board.tables[kind].count);
    const std::vector<int32_t>* fixed = directions.fixed();
    int64_t most = 0;
    for (int site = 0; site < count; ++site) {
        int64_t here = 0;
        if (fixed) {
            for (int d : *fixed) here += static_cast<int64_t>(rays_of(p, kind, site, d).size());
        } else {
            for (int d = direction::first; d < direction::count; ++d)
                here += static_cast<int64_t>(rays_of(p, kind, site, d).size());
        }
        most = std::max(most, here);
    }
    return most;
}

// --- one step ---

struct Step final : MovesNode {
    Kind kind;
    IntPtr from, level;
    BoolPtr from_test;
    DirectionsPtr directions;
    BoolPtr to_test;
    Apply apply;
    bool stack, decision;
    Consequence then;
    int64_t most_;
    explicit Step(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          level(r.integer()),
          from_test(r.boolean()),
          directions(r.directions()),
          to_test(r.boolean()),
          apply(r),
          stack(r.flag()),
          decision(r.flag()),
          then(r),
          most_(most_steps(r.program, kind, *directions)) {}

    int64_t most_draws() const override { return most_; }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        const DirectionList list(c, *directions, kind, f);
        int t = -1;
        int64_t at = 0;
        for (const int32_t* d = list.begin(); d != list.end() && t < 0; ++d) {
            const auto steps = steps_of(c.program, kind, f, *d);
            const auto here = static_cast<int64_t>(steps.size());
            if (number < at + here) t = steps[static_cast<size_t>(number - at)];
            at += here;
        }
        if (t < 0) return false;
        // The same end by an earlier direction is the same move.
        at = 0;
        for (int d : list)
            for (int other : steps_of(c.program, kind, f, d)) {
                if (at == number) break;
                if (other == t) return false;
                ++at;
            }
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const int given = level ? level->eval(c) : -1;
        g.from = f;
        bool fine = given >= -1 && (!from_test || from_test->eval(c));
        g.to = t;
        fine = fine && (!to_test || to_test->eval(c));
        const uint32_t before = out.last;
        if (fine) add(c, f, t, given, out);
        g.from = old_from;
        g.to = old_to;
        if (fine) then.attach(c, out, before);
        return fine;
    }

    void add(Context& c, int f, int t, int given, MoveList& out) const {
        int l = given;
        if (given < 0 || stack) l = c.state.stacking() && !stack ? top_level(c, kind, f) : -1;
        uint32_t move = c.arena.make_move(move_action(kind, f, l, t, -1, stack, decision));
        move = prepend_apply(c, apply, move);
        set_ends(c, move, f, t);
        c.arena.append(out, move);
    }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        const DirectionList list(c, *directions, kind, f);
        const int given = level ? level->eval(c) : -1;
        if (given < -1) return;
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        g.from = f;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        for (int d : list)
            for (int t : steps_of(c.program, kind, f, d)) {
                g.to = t;
                if (to_test && !to_test->eval(c)) continue;
                if (already_there(c, out, before, f, t)) continue;
                add(c, f, t, given, out);
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
    DirectionsPtr directions;
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
    int64_t longest_ = 1, most_rays_ = -1;  // -1 on tracks: not drawn
    bool needs_passed_ = true;
    explicit Slide(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          level(r.integer()),
          from_test(r.boolean()),
          directions(r.directions()),
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
        if (on_track) return;
        const SiteTables& t = r.program.board.tables[kind];
        for (size_t n = 0; n + 1 < t.rays.start.size(); ++n)
            longest_ = std::max(longest_, static_cast<int64_t>(t.rays[n].size()) - 1);
        most_rays_ = most_rays(r.program, kind, *directions);
    }

    int64_t most_draws() const override { return most_rays_ * longest_; }
    // A ray, and how far along it.
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        int least = -1, most = endless;
        if (range) range->eval(c, least, most);
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to, old_between = g.between;
        const uint32_t before = out.last;
        g.from = f;
        const int wanted = static_cast<int>(number % longest_) + 1;
        int64_t skip = number / longest_;
        int chosen = -1;
        {
            const DirectionList list(c, *directions, kind, f);
            for (const int32_t* d = list.begin(); d != list.end() && chosen < 0; ++d) {
                const auto rays = rays_of(c.program, kind, f, *d);
                if (skip < static_cast<int64_t>(rays.size()))
                    chosen = rays[static_cast<size_t>(skip)];
                else
                    skip -= static_cast<int64_t>(rays.size());
            }
        }
        const int given = level ? level->eval(c) : -1;
        if (chosen >= 0 && wanted <= most && given >= -1 && (!from_test || from_test->eval(c))) {
            const auto sites = ray(c.program, kind, chosen);
            std::vector<int32_t> passed;
            if (wanted < static_cast<int>(sites.size()))
                for (int i = 1; i <= wanted; ++i) {
                    const int t = sites[static_cast<size_t>(i)];
                    g.to = t;
                    if (stop && stop->eval(c) && least <= i) {
                        if (i == wanted) add(c, f, t, given, sites, i, passed, true, out);
                        break;
                    }
                    g.between = t;
                    if (!may_pass(c, t)) break;
                    if (i == wanted && least <= i)
                        add(c, f, t, given, sites, i, passed, given < 0 && !stack, out);
                    if (needs_passed_) passed.push_back(t);
                }
        }
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        if (out.last == before) return false;
        then.attach(c, out, before);
        return true;
    }

    bool may_pass(Context& c, int site) const {
        if (go) return go->eval(c);
        return c.state.empty(c.state.place(kind, site));
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
        const DirectionList list(c, *directions, kind, f);
        const int given = level ? level->eval(c) : -1;
        if (given < -1) return;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        std::vector<int32_t> passed;
        for (int d : list)
            for (int number : rays_of(c.program, kind, f, d)) {
                g.between = old_between;
                passed.clear();
                const auto sites = ray(c.program, kind, number);
                for (int i = 1; i < static_cast<int>(sites.size()) && i <= most; ++i) {
                    const int t = sites[static_cast<size_t>(i)];
                    g.to = t;
                    if (stop && stop->eval(c) && least <= i) {
                        add(c, f, t, given, sites, i, passed, true, out);
                        break;
                    }
                    g.between = t;
                    if (!may_pass(c, t)) break;
                    if (least <= i) add(c, f, t, given, sites, i, passed, given < 0 && !stack, out);
                    passed.push_back(t);
                }
            }
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        then.attach(c, out, before);
    }

    void add(Context& c, int f, int t, int given, std::span<const int32_t> sites, int i,
             const std::vector<int32_t>& passed, bool effects, MoveList& out) const {
        const bool decided = decision || stack || given >= 0;
        uint32_t move = c.arena.make_move(move_action(kind, f, given, t, -1, stack, decided));
        if (stack) set_levels(c, move, 0, top_level(c, kind, f));
        if (effects) move = prepend_effect(c, to_apply.effect.get(), move);
        if (trail) {
            const int piece = trail->eval(c);
            for (int n = 0; n < i; ++n) {
                Action mark = site_action(Act::Add, kind, sites[static_cast<size_t>(n)]);
                mark.what = piece;
                c.arena.append_action(move, mark);
            }
        }
        for (int b : passed) {
            c.registers.between = b;
            move = prepend_apply(c, between_apply, move);
        }
        if (to_apply.test && !to_apply.test->eval(c)) return;
        set_ends(c, move, f, t);
        for (int b : passed) c.arena.append_between(move, b);
        c.arena.append(out, move);
    }

    void along_tracks(Context& c, int f, int least, int most, MoveList& out) const {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to, old_between = g.between;
        g.from = f;
        if (from_test && !from_test->eval(c)) return;
        const uint32_t before = out.last;
        for (int number : tracks) {
            const auto& elements = c.program.board.tracks[static_cast<size_t>(number)].elements;
            for (size_t first = 0; first < elements.size(); ++first) {
                if (elements[first].site != f) continue;
                size_t at = first;
                int bumps = elements[at].bump;
                for (int n = 1;
                     elements[at].next != off && n < static_cast<int>(elements.size()) && n <= most;
                     ++n) {
                    const int t = elements[at].next;
                    g.to = t;
                    if (bumps > 0 || !all_tracks) {
                        if (stop && stop->eval(c)) {
                            if (least <= n) {
                                uint32_t move = c.arena.make_move(
                                    move_action(kind, f, -1, t, -1, false, decision));
                                move = prepend_effect(c, to_apply.effect.get(), move);
                                set_ends(c, move, f, t);
                                c.arena.append(out, move);
                                break;
                            }
                        } else if (least <= n && (!to_apply.test || to_apply.test->eval(c))) {
                            add_single(c, out, move_action(kind, f, -1, t, -1, false, decision));
                        }
                    }
                    g.between = t;
                    if (!may_pass(c, t)) break;
                    at = static_cast<size_t>(elements[at].next_index);
                    bumps += elements[at].bump;
                }
            }
        }
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        then.attach(c, out, before, false);
    }
};

// --- over other pieces ---

struct Hop final : MovesNode {
    Kind kind;
    IntPtr from;
    BoolPtr from_test;
    DirectionsPtr directions;
    bool has_between;
    IntPtr before_count, after_count;
    RangePtr range;
    BoolPtr hurdle;
    Apply hurdle_apply;
    BoolPtr go;
    Apply to_apply;
    bool stack, decision;
    Consequence then;
    explicit Hop(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          from_test(r.boolean()),
          directions(r.directions()),
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
          then(r) {}

    bool is_hurdle(Context& c) const { return has_between ? hurdle && hurdle->eval(c) : true; }

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        const DirectionList list(c, *directions, kind, f);
        int least = 1, most = 1;
        if (range) range->eval(c, least, most);
        const int before_most = before_count ? before_count->eval(c) : 0;
        const int after = after_count ? after_count->eval(c) : 0;
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to, old_between = g.between;
        g.from = f;
        const uint32_t before = out.last;
        if (least == 0) steps(c, f, list, out, before);
        if (most > 0)
            for (int d : list)
                for (int number : rays_of(c.program, kind, f, d))
                    along(c, f, ray(c.program, kind, number), least, most, before_most, after, out);
        g.from = old_from;
        g.to = old_to;
        g.between = old_between;
        then.attach(c, out, before);
    }

    void steps(Context& c, int f, const DirectionList& list, MoveList& out, uint32_t before) const {
        for (int d : list)
            for (int t : steps_of(c.program, kind, f, d)) {
                c.registers.to = t;
                if (from_test && !from_test->eval(c)) continue;
                if (!go->eval(c) || already_there(c, out, before, f, t)) continue;
                uint32_t move = c.arena.make_move(move_action(kind, f, -1, t, -1, stack, decision));
                move = prepend_apply(c, hurdle_apply, move);
                set_ends(c, move, f, t);
                c.arena.append(out, move);
            }
    }

    void along(Context& c, int f, std::span<const int32_t> sites, int least, int most,
               int before_most, int after, MoveList& out) const {
        Registers& g = c.registers;
        const auto length = static_cast<int>(sites.size());
        auto site = [&](int n) { return static_cast<int>(sites[static_cast<size_t>(n)]); };
        for (int i = 1; i < length; ++i) {
            if (from_test && !from_test->eval(c)) continue;
            g.between = site(i);
            if (!is_hurdle(c)) {
                g.to = site(i);
                if (i > before_most || !go->eval(c)) return;
                continue;
            }
            int j = i + 1;
            while (j < length && j - i < most) {
                g.between = site(j);
                if (!is_hurdle(c)) break;
                ++j;
            }
            const int hurdles = j - i;
            if (hurdles < least) return;
            for (int k = hurdles - least; k >= 0; --k)
                for (int a = j - k; a < length; ++a) {
                    const int t = site(a);
                    g.to = t;
                    if (!go->eval(c)) {
                        if (to_apply.test && to_apply.test->eval(c)) {
                            uint32_t move =
                                c.arena.make_move(move_action(kind, f, -1, t, -1, stack, decision));
                            move = prepend_effect(c, to_apply.effect.get(), move);
                            finish(c, f, t, move, sites, i, hurdles, out);
                        }
                        break;
                    }
                    if (!to_apply.test) {
                        uint32_t move =
                            c.arena.make_move(move_action(kind, f, -1, t, -1, stack, decision));
                        move = prepend_effect(c, to_apply.effect.get(), move);
                        for (int h = 0; h < hurdles - k; ++h) {
                            g.between = site(i + h);
                            move = prepend_apply(c, hurdle_apply, move);
                        }
                        finish(c, f, t, move, sites, i, hurdles, out);
                    }
                    if (a - j + 1 > after - k) break;
                }
            return;
        }
    }

    void finish(Context& c, int f, int t, uint32_t move, std::span<const int32_t> sites, int first,
                int hurdles, MoveList& out) const {
        set_ends(c, move, f, t);
        if (stack) set_levels(c, move, 0, top_level(c, kind, f));
        for (int h = 0; h < hurdles; ++h)
            c.arena.append_between(move, sites[static_cast<size_t>(first + h)]);
        c.arena.append(out, move);
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
        int facing = c.program.board.components[static_cast<size_t>(piece)].facing;
        if (facing < 0) facing = direction::N;
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

    bool add(Context& c, int f, int t, bool only_ahead, MoveList& out) const {
        if (only_ahead && !is_ahead(c, f, t)) return false;
        c.registers.to = t;
        if (!to_test || !to_test->eval(c)) return false;
        uint32_t move = c.arena.make_move(move_action(kind, f, -1, t, -1, false, decision));
        move = prepend_apply(c, apply, move);
        set_ends(c, move, f, t);
        c.arena.append(out, move);
        return true;
    }

    int64_t most_draws() const override {
        size_t most = 0;
        for (const auto& list : ends) most = std::max(most, list.size());
        return static_cast<int64_t>(most);
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int f = from->eval(c);
        if (f < 0 || static_cast<size_t>(f) >= ends.size()) return false;
        const auto& list = ends[static_cast<size_t>(f)];
        if (static_cast<size_t>(number) >= list.size()) return false;
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        g.from = f;
        const uint32_t before = out.last;
        const bool fine =
            (!from_test || from_test->eval(c)) &&
            add(c, f, list[static_cast<size_t>(number)], forward && forward->eval(c), out);
        g.from = old_from;
        g.to = old_to;
        if (fine) then.attach(c, out, before);
        return fine;
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
        for (int t : ends[static_cast<size_t>(f)]) add(c, f, t, only_ahead, out);
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before);
    }
};

}  // namespace

void add_movements(Makers<MovesPtr>& m) {
    m["step"] = [](Reader& r) { return MovesPtr(std::make_unique<Step>(r)); };
    m["slide"] = [](Reader& r) { return MovesPtr(std::make_unique<Slide>(r)); };
    m["hop"] = [](Reader& r) { return MovesPtr(std::make_unique<Hop>(r)); };
    m["leap"] = [](Reader& r) { return MovesPtr(std::make_unique<Leap>(r)); };
}

}  // namespace omnilude::ludeme
