// Effects on pieces around: captures, pulls, pushes, flips, sowing.
#include <algorithm>
#include <cstring>

#include "ludeme/building.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

constexpr int endless = 1000;

struct Custodial final : MovesNode {
    Kind kind;
    IntPtr from;
    int direction;
    RangePtr range;
    BoolPtr target, ally;
    Apply apply;
    Consequence then;
    explicit Custodial(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          direction(r.number()),
          range(r.range()),
          target(r.boolean()),
          ally(r.boolean()),
          apply(r),
          then(r) {}

    // Calls `found(sites)` for every run that is shut in, until it returns true.
    template <class Found>
    bool each_run(Context& c, Found&& found) const {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return false;
        Registers& g = c.registers;
        const Keep keep_from(g.from), keep_to(g.to), keep_between(g.between);
        int least = 0, most = endless;
        if (range) range->eval(c, least, most);
        for (int number : rays_of(c.program, kind, f, direction)) {
            const auto sites = ray(c.program, kind, number);
            const auto length = static_cast<int>(sites.size());
            auto site = [&](int n) { return static_cast<int>(sites[static_cast<size_t>(n)]); };
            int i = 1;
            while (i < length && i <= most) {
                g.between = site(i);
                if (!target->eval(c)) break;
                ++i;
            }
            // A run of one must have a site behind it; a longer one may end at the edge.
            if (i == 1 || (most == 1 && length < 3)) continue;
            g.to = i < length ? site(i) : off;
            if (!ally->eval(c)) continue;
            if (found(sites.subspan(1, static_cast<size_t>(i) - 1))) return true;
        }
        return false;
    }

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        each_run(c, [&](std::span<const int32_t> run) {
            for (int s : run) {
                c.registers.between = s;
                apply.eval(c, out);
            }
            return false;
        });
        if (then.node) then.attach(c, out, before, false);
    }
    bool any(Context& c) const override {
        const Arena::Mark mark = c.arena.mark();
        MoveList list;
        const bool found = each_run(c, [&](std::span<const int32_t> run) {
            for (size_t n = 0; n < run.size() && list.empty(); ++n) {
                c.registers.between = run[n];
                apply.eval(c, list);
            }
            return !list.empty();
        });
        c.arena.release(mark);
        return found;
    }
};

struct Enclose final : MovesNode {
    Kind kind;
    IntPtr from;
    Ways ways;
    BoolPtr target;
    Apply apply;
    IntPtr exceptions;
    Consequence then;
    explicit Enclose(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          ways(r.program, kind, r.directions()),
          target(r.boolean()),
          apply(r),
          exceptions(r.integer()),
          then(r) {}

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        auto empty = [&](int s) { return c.state.what(c.state.place(kind, s)) == 0; };
        if (empty(f)) return;
        Registers& g = c.registers;
        const Keep keep_to(g.to), keep_between(g.between);
        const int allowed = exceptions ? exceptions->eval(c) : 0;
        auto is_target = [&](int s) {
            g.between = s;
            return target->eval(c);
        };
        const uint32_t words = c.program.words(), before = out.last;
        WayBuffer for_start, buffer;
        const auto around = ways.steps(c, f, for_start);
        SiteSet checked, targets, open;
        checked.clear(words);
        const bool sets = allowed == 0 && ways.can_flood() &&
                          target->sites_where(c, &Registers::between, kind, targets);
        if (sets) {
            sites_of_places(c.program, kind, c.state.empties(), open);
            // What is empty and a target belongs to the group.
            for (uint32_t w = 0; w < words; ++w) open.bits[w] &= ~targets.bits[w];
        }
        Group group(words);
        for (int a : around) {
            // Most have a liberty, which sets tell sooner than a group that is grown.
            if (sets && (!targets.has(static_cast<uint32_t>(a)) || ways.touches(targets, a, open)))
                continue;
            if (!is_target(a) && !(allowed > 0 && empty(a))) continue;
            if (checked.has(static_cast<uint32_t>(a))) continue;
            for (uint32_t n = 0; n < group.size; ++n) group.inside.remove(group.sites[n]);
            group.size = 0;
            group.add(a);
            int left = allowed - (empty(a) ? 1 : 0);
            bool free = false;
            for (uint32_t n = 0; n < group.size && !free; ++n)
                for (int b : ways.steps(c, group.sites[n], buffer)) {
                    if (group.has(b)) continue;
                    if (is_target(b)) {
                        group.add(b);
                    } else if (empty(b)) {
                        if (left-- > 0) {
                            group.add(b);
                        } else {
                            free = true;
                            break;
                        }
                    }
                }
            for (uint32_t n = 0; n < group.size; ++n) checked.add(group.sites[n]);
            if (free) continue;
            for (uint32_t n = 0; n < group.size; ++n) {
                g.between = group.sites[n];
                apply.eval(c, out);
            }
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct Surround final : MovesNode {
    Kind kind;
    IntPtr from;
    int direction;
    BoolPtr target, ally;
    Apply apply;
    IntPtr except, with;
    explicit Surround(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          direction(r.number()),
          target(r.boolean()),
          ally(r.boolean()),
          apply(r),
          except(r.integer()),
          with(r.integer()) {}

    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        Registers& g = c.registers;
        const Keep keep_to(g.to), keep_between(g.between);
        const int allowed = except ? except->eval(c) : 0;
        const int needed = with ? with->eval(c) : -1;
        for (int number : rays_of(c.program, kind, f, direction)) {
            const int v = ray(c.program, kind, number)[1];
            g.between = v;
            if (!target->eval(c)) continue;
            int misses = 0;
            bool fine = !with;
            for (int other : rays_of(c.program, kind, v, direction)) {
                const int n = ray(c.program, kind, other)[1];
                g.to = n;
                if (n != f && !ally->eval(c)) ++misses;
                if (with && c.state.what(c.state.place(kind, n)) == needed) fine = true;
                if (misses > allowed) break;
            }
            if (misses > allowed || !fine) continue;
            g.between = v;
            apply.eval(c, out);
        }
    }
};

struct Directional final : MovesNode {
    Kind kind;
    IntPtr from;
    DirectionsPtr directions;
    BoolPtr target;
    Apply apply;
    explicit Directional(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          directions(r.directions()),
          target(r.boolean()),
          apply(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        Registers& g = c.registers;
        const Keep keep_from(g.from), keep_to(g.to);
        for (int d : DirectionList(c, *directions, kind, f))
            for (int number : rays_of(c.program, kind, f, d)) {
                const auto sites = ray(c.program, kind, number);
                for (size_t n = 1; n < sites.size(); ++n) {
                    g.to = sites[n];
                    if (!target->eval(c)) break;
                    const int old = g.from;
                    g.from = off;
                    apply.eval(c, out);
                    g.from = old;
                }
            }
    }
};

struct Intervene final : MovesNode {
    Kind kind;
    IntPtr from;
    int direction;
    RangePtr range;
    BoolPtr target;
    Apply apply;
    Consequence then;
    explicit Intervene(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          direction(r.number()),
          range(r.range()),
          target(r.boolean()),
          apply(r),
          then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        Registers& g = c.registers;
        const Keep keep_to(g.to);
        int least = 1, most = 1;
        if (range) range->eval(c, least, most);
        const SiteTables& t = c.program.board.tables[kind];
        const uint32_t before = out.last;
        auto run = [&](int number, std::vector<int32_t>& found) {
            const auto sites = t.rays[static_cast<size_t>(number)];
            for (int n = 1; n < static_cast<int>(sites.size()) && n <= most; ++n) {
                g.to = sites[static_cast<size_t>(n)];
                if (!target->eval(c)) break;
                found.push_back(g.to);
            }
        };
        auto capture = [&](const std::vector<int32_t>& sites) {
            for (int s : sites) {
                g.to = s;
                apply.eval(c, out);
            }
        };
        for (int number : distinct_rays_of(c.program, kind, f, direction)) {
            const int opposite = t.opposite[static_cast<size_t>(number)];
            if (opposite < 0) continue;
            const NumberBuffer one_room(c), other_room(c);
            std::vector<int32_t>&one = *one_room, &other = *other_room;
            run(number, one);
            run(opposite, other);
            auto fits = [&](size_t size) {
                return static_cast<int>(size) >= least && static_cast<int>(size) <= most;
            };
            if (!fits(one.size()) || !fits(other.size())) continue;
            capture(other);
            capture(one);
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

void remove_and_add(Context& c, MoveList& out, Kind kind, int site, int piece, bool removed) {
    if (removed) add_single(c, out, site_action(Act::Remove, kind, site));
    if (piece > 0) {
        Action a = site_action(Act::Add, kind, site);
        a.what = piece;
        add_single(c, out, a);
    }
}

struct Attract final : MovesNode {
    Kind kind;
    IntPtr from;
    int direction;
    Consequence then;
    bool acts;  // pieces can be moved without looking at what comes of others
    explicit Attract(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          direction(r.number()),
          then(r),
          acts(!then.node && r.program.layout.bare && r.program.layout.layer[kind] == 0 &&
               (!r.program.layout.hands || kind == r.program.board.kind) && rays_part(r.program)) {}
    // Whether no two rays from a site have another one in common.
    bool rays_part(const Program& program) const {
        const uint32_t count = program.board.tables[kind].count;
        for (uint32_t site = 0; site < count; ++site) {
            std::vector<bool> met(count);
            for (int number : rays_of(program, kind, static_cast<int>(site), direction))
                for (int s : ray(program, kind, number).subspan(1)) {
                    if (met[static_cast<size_t>(s)] || s == static_cast<int>(site)) return false;
                    met[static_cast<size_t>(s)] = true;
                }
        }
        return true;
    }
    bool act(Context& c, Applied& applied) const override {
        if (!acts) return false;
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return true;
        State& s = c.state;
        ++c.changes;
        for (int number : rays_of(c.program, kind, f, direction)) {
            const auto sites = ray(c.program, kind, number);
            size_t packed = 0;
            for (size_t n = 1; n < sites.size(); ++n) {
                const int what = s.what(sites[n]);
                if (what == 0 || ++packed == n) continue;
                s.take_bare(sites[n]);
                s.put_bare(sites[packed], what);
            }
            if (packed) applied.from_after = applied.to_after = sites[packed];
        }
        return true;
    }
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        const uint32_t before = out.last;
        for (int number : rays_of(c.program, kind, f, direction)) {
            const auto sites = ray(c.program, kind, number);
            const NumberBuffer pieces_room(c);
            std::vector<int32_t>& pieces = *pieces_room;
            for (size_t n = 1; n < sites.size(); ++n) {
                const int what = c.state.what(c.state.place(kind, sites[n]));
                if (what == 0) continue;
                pieces.push_back(what);
                add_single(c, out, site_action(Act::Remove, kind, sites[n]));
            }
            for (size_t n = 0; n < pieces.size(); ++n)
                remove_and_add(c, out, kind, sites[n + 1], pieces[n], false);
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct Push final : MovesNode {
    Kind kind;
    IntPtr from;
    DirectionsPtr directions;
    Consequence then;
    explicit Push(Reader& r)
        : kind(r.kind()), from(r.integer()), directions(r.directions()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        const DirectionList list(c, *directions, kind, f);
        if (list.empty()) return;
        const uint32_t before = out.last;
        for (int number : rays_of(c.program, kind, f, *list.begin())) {
            const auto sites = ray(c.program, kind, number);
            int carried = c.state.what(c.state.place(kind, f));
            add_single(c, out, site_action(Act::Remove, kind, f));
            for (size_t n = 1; n < sites.size(); ++n) {
                const int there = c.state.what(c.state.place(kind, sites[n]));
                remove_and_add(c, out, kind, sites[n], carried, there != 0);
                if (there == 0) break;
                carried = there;
            }
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct Flip final : MovesNode {
    Kind kind;
    IntPtr site;
    Consequence then;
    explicit Flip(Reader& r) : kind(r.kind()), site(r.integer()), then(r) {}
    static int flipped(const Context& c, int piece, int state) {
        const Component& one = c.program.board.components[static_cast<size_t>(piece)];
        if (one.flip_a < 0) return state;
        return state == one.flip_a ? one.flip_b : state == one.flip_b ? one.flip_a : state;
    }
    void eval(Context& c, MoveList& out) const override {
        const int s = site->eval(c);
        const int place = c.state.place_anywhere(kind, s);
        if (s < 0 || place < 0) return;
        const uint32_t before = out.last;
        const int height = c.state.height(place);
        if (height == 1) {
            const int piece = c.state.what(place);
            if (c.program.board.components[static_cast<size_t>(piece)].flip_a < 0) return;
            Action a = site_action(Act::SetState, kind, s);
            a.count = flipped(c, piece, c.state.state(place));
            add_single(c, out, a);
        } else if (height > 1) {
            const uint32_t move = c.arena.add_move();
            for (int level = 0; level < height; ++level) {
                Action a = site_action(Act::Remove, kind, s);
                a.level_from = a.level_to = static_cast<int16_t>(level);
                c.arena.append_action(move, a);
            }
            for (int level = height - 1; level >= 0; --level) {
                Action a = site_action(Act::Add, kind, s);
                a.what = c.state.what(place, level);
                a.state = static_cast<int16_t>(flipped(c, a.what, c.state.state(place, level)));
                a.rotation = static_cast<int16_t>(c.state.rotation(place, level));
                a.value = c.state.value(place, level);
                c.arena.append_action(move, a);
            }
            set_ends(c, move, s, s);
            c.arena.append(out, move);
        }
        then.attach(c, out, before, false);
    }
};

struct Sow final : MovesNode {
    static constexpr int most_skipped = 10000;  // holes in a row, then one is sown all the same
    Kind kind;
    IntPtr start, count, per_hole;
    std::vector<int32_t> tracks;  // by owner, or one for all
    IntPtr owner;
    BoolPtr test;
    MovesPtr sow_effect;
    MovesPtr capture;
    BoolPtr include_self, origin, skip;
    BoolPtr backtracking, forward;
    Consequence then;
    explicit Sow(Reader& r)
        : kind(r.kind()),
          start(r.integer()),
          count(r.integer()),
          per_hole(r.integer()),
          tracks(r.numbers()),
          owner(r.integer()),
          test(r.boolean()),
          sow_effect(r.moves()),
          capture(r.moves()),
          include_self(r.boolean()),
          origin(r.boolean()),
          skip(r.boolean()),
          backtracking(r.boolean()),
          forward(r.boolean()),
          then(r) {}

    const Track* find_track(Context& c) const {
        int number = -1;
        if (owner) {
            const int p = owner->eval(c);
            if (p >= 0 && static_cast<size_t>(p) < tracks.size())
                number = tracks[static_cast<size_t>(p)];
        } else if (!tracks.empty()) {
            number = tracks[0];
        }
        return number < 0 ? nullptr : &c.program.board.tracks[static_cast<size_t>(number)];
    }

    Action seed(const Context& c, int from, int to) const {
        Action a = move_action(kind, from, -1, to, -1, false, false);
        const int f = c.state.place_anywhere(kind, from), t = c.state.place_anywhere(kind, to);
        if (f >= 0 && t >= 0) {
            // The hole keeps its own fields.
            if (c.state.state(f) != c.state.state(t))
                a.state = static_cast<int16_t>(c.state.state(t));
            if (c.state.rotation(f) != c.state.rotation(t))
                a.rotation = static_cast<int16_t>(c.state.rotation(t));
            if (c.state.value(f) != c.state.value(t)) a.value = c.state.value(t);
        }
        return a;
    }

    void add_effects(Context& c, uint32_t move) const {
        if (!sow_effect) return;
        MoveList found;
        sow_effect->eval(c, found);
        for (uint32_t n = found.first; n != none; n = c.arena.move(n).next)
            for (uint32_t a = c.arena.move(n).first_action; a != none; a = c.arena.action(a).next)
                c.arena.append_action(move, Action(c.arena.action(a)));
    }

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int s = start->eval(c), many = count->eval(c);
        const Track* track = find_track(c);
        if (!track) return;
        const auto& e = track->elements;
        size_t i = 0;
        while (i < e.size() && e[i].site != s) ++i;
        const int old_from = g.from, old_to = g.to, old_value = g.value;
        const uint32_t move = c.arena.add_move();
        set_ends(c, move, 0, 0);
        int sown = 0;
        g.from = s;
        if (origin && origin->eval(c)) {
            add_effects(c, move);
            const int each = per_hole ? per_hole->eval(c) : 1;
            for (int n = 0; n < each && sown < many; ++n, ++sown)
                c.arena.append_action(move, seed(c, s, s));
            g.to = s;
        }
        g.from = old_from;
        int skipped = 0;
        for (int n = 0; n < many && sown < many;) {
            g.value = many - n;
            if (i >= e.size()) {
                g.from = old_from, g.to = old_to, g.value = old_value;
                return;
            }
            int t = e[i].next;
            g.to = t;
            if (skip && skipped < most_skipped && skip->eval(c)) {
                ++skipped;
                i = static_cast<size_t>(e[i].next_index);
                continue;
            }
            skipped = 0;
            if (include_self && !include_self->eval(c) && t == s) {
                i = static_cast<size_t>(e[i].next_index);
                if (i >= e.size()) break;
                t = e[i].next;
            }
            const int each = per_hole ? per_hole->eval(c) : 1;
            add_effects(c, move);
            for (int m = 0; m < each && sown < many; ++m, ++sown)
                c.arena.append_action(move, seed(c, s, t));
            i = static_cast<size_t>(e[i].next_index);
            ++n;
        }
        if (capture) add_captures(c, move, s, i, e);
        g.from = old_from;
        g.to = old_to;
        g.value = old_value;
        const uint32_t before = out.last;
        c.arena.append(out, move);
        then.attach(c, out, before, false);
    }

    // What was sown is tried out; captures are judged by the board right after sowing.
    void add_captures(Context& c, uint32_t move, int s, size_t i,
                      const std::vector<TrackElement>& e) const {
        Trial sown(c);
        Context& trial = sown.context;
        Applied applied;
        apply_move(trial, move, false, applied);
        for (size_t n = 0; n < e.size(); ++n) {
            if (test && !test->eval(trial)) break;
            trial.registers.from = s;
            MoveList found;
            capture->eval(trial, found);
            for (uint32_t m = found.first; m != none;) {
                const uint32_t next = c.arena.move(m).next;
                Trial further(trial);
                const uint32_t flat = c.arena.add_move();
                Applied ignored;
                apply_move(further.context, m, false, ignored, flat);
                for (uint32_t a = c.arena.move(flat).first_action; a != none;
                     a = c.arena.action(a).next)
                    c.arena.append_action(move, Action(c.arena.action(a)));
                m = next;
            }
            if (backtracking) {
                if (!backtracking->eval(trial)) break;
                if (i >= e.size() || e[i].previous == off) break;
                const int t = e[i].previous;
                i = static_cast<size_t>(e[i].previous_index);
                trial.registers.to = t;
                if (!backtracking->eval(trial) || t == s) break;
            } else if (forward) {
                if (!forward->eval(trial)) break;
                if (i >= e.size() || e[i].next == off) break;
                const int t = e[i].next;
                i = static_cast<size_t>(e[i].next_index);
                trial.registers.to = t;
                if (!forward->eval(trial)) break;
            } else {
                break;
            }
        }
    }
};

}  // namespace

void add_captures(Makers<MovesPtr>& m) {
    m["custodial"] = [](Reader& r) { return MovesPtr(std::make_unique<Custodial>(r)); };
    m["enclose"] = [](Reader& r) { return MovesPtr(std::make_unique<Enclose>(r)); };
    m["surround"] = [](Reader& r) { return MovesPtr(std::make_unique<Surround>(r)); };
    m["directional"] = [](Reader& r) { return MovesPtr(std::make_unique<Directional>(r)); };
    m["intervene"] = [](Reader& r) { return MovesPtr(std::make_unique<Intervene>(r)); };
    m["attract"] = [](Reader& r) { return MovesPtr(std::make_unique<Attract>(r)); };
    m["push"] = [](Reader& r) { return MovesPtr(std::make_unique<Push>(r)); };
    m["flip"] = [](Reader& r) { return MovesPtr(std::make_unique<Flip>(r)); };
    m["sow"] = [](Reader& r) { return MovesPtr(std::make_unique<Sow>(r)); };
}

}  // namespace omnilude::ludeme
