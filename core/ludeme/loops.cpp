// Generators that make moves for each site, direction and so on.
#include <algorithm>

#include "ludeme/building.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

constexpr int longest_loop = 10000;

struct ForEachSite final : MovesNode {
    RegionPtr region;
    MovesPtr moves, otherwise;
    Consequence then;
    int64_t most_;  // draws on a site; -1: cannot be drawn from
    explicit ForEachSite(Reader& r)
        : region(r.region()),
          moves(r.moves()),
          otherwise(r.moves()),
          then(r),
          most_(otherwise ? -1 : moves->most_draws(r.program, -1, -1)) {}
    void eval(Context& c, MoveList& out) const override {
        SiteSet sites;
        region->eval(c, sites);
        const int old_to = c.registers.to, old_site = c.registers.site;
        const uint32_t before = out.last, count = out.count;
        sites.each(c.program.words(), [&](int s) {
            c.registers.to = c.registers.site = s;
            moves->eval(c, out);
        });
        if (out.count == count && otherwise) {
            otherwise->eval(c, out);
            return;
        }
        c.registers.to = old_to;
        c.registers.site = old_site;
        if (then.node) then.attach(c, out, before, false);
    }

    int singles() const override {
        const int each = otherwise ? -1 : moves->singles();
        return each < 0 ? -1 : each + then.count();
    }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        const int s = region->nth(c, static_cast<uint32_t>(number / most_));
        if (s < 0) return false;
        c.registers.to = c.registers.site = s;
        if (!moves->draw_single(c, number % most_, single)) return false;
        single.add(then.node.get());
        return true;
    }
    // A number is a site and one of the most draws that there can be on one.
    int64_t draws(Context& c) const override {
        return most_ < 0 ? -1 : most_ * static_cast<int64_t>(region->count(c));
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int s = region->nth(c, static_cast<uint32_t>(number / most_));
        if (s < 0) return false;
        const Keep keep_to(c.registers.to), keep_site(c.registers.site);
        c.registers.to = c.registers.site = s;
        const uint32_t before = out.last;
        if (!moves->draw(c, number % most_, out)) return false;
        if (then.node) then.attach(c, out, before, false);
        return true;
    }
    bool any(Context& c) const override {
        if (otherwise) return MovesNode::any(c);
        SiteSet sites;
        region->eval(c, sites);
        const Keep keep_to(c.registers.to), keep_site(c.registers.site);
        return sites.any(c.program.words(), [&](int s) {
            c.registers.to = c.registers.site = s;
            return moves->any(c);
        });
    }
};

struct ForEachDirection final : MovesNode {
    Kind kind;
    IntPtr from;
    DirectionsPtr directions;
    RangePtr range;
    BoolPtr between, to_test;
    MovesPtr moves;
    Consequence then;
    explicit ForEachDirection(Reader& r)
        : kind(r.kind()),
          from(r.integer()),
          directions(r.directions()),
          range(r.range()),
          between(r.boolean()),
          to_test(r.boolean()),
          moves(r.moves()),
          then(r) {}

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int f = from->eval(c);
        if (!on_board(c.program, kind, f)) return;
        int least = 1, most = 1;
        if (range) range->eval(c, least, most);
        if (!on_board(c.program, kind, g.from)) return;
        const int piece = c.state.what(c.state.place(kind, g.from));
        if (piece == 0) return;
        int facing = -1;
        if (g.to != off)
            for (int d : c.program.board.tables[kind].supported[0])
                for (int t : steps_of(c.program, kind, g.from, d))
                    if (t == g.to) facing = d;
        // Else it is that of the piece, wherever the ray begins.
        if (facing < 0) facing = c.program.board.components[static_cast<size_t>(piece)].facing;
        if (facing < 0) facing = static_cast<int>(direction::N);
        const Keep keep_to(g.to), keep_between(g.between);
        const uint32_t before = out.last;
        for (int d : DirectionList(c, *directions, kind, f, facing))
            for (int number : rays_of(c.program, kind, f, d)) {
                const auto sites = ray(c.program, kind, number);
                for (int i = 1; i < static_cast<int>(sites.size()) && i <= most; ++i) {
                    const int t = sites[static_cast<size_t>(i)];
                    if (between && least > 1 && i < least) {
                        const Keep keep(g.between);
                        g.between = t;
                        if (!between->eval(c)) break;
                    }
                    g.to = t;
                    if (to_test && !to_test->eval(c)) break;
                    if (i >= least) moves->eval(c, out);
                }
            }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct ForEachLevel final : MovesNode {
    Kind kind;
    IntPtr site;
    bool from_top;
    MovesPtr moves;
    Consequence then;
    explicit ForEachLevel(Reader& r)
        : kind(r.kind()), site(r.integer()), from_top(r.flag()), moves(r.moves()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int place = c.state.place_anywhere(kind, site->eval(c));
        if (place < 0) return;
        const uint32_t before = out.last;
        const int height = c.state.height(place);
        for (int n = 0; n < height; ++n) {
            c.registers.level = from_top ? height - 1 - n : n;
            moves->eval(c, out);
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct ForEachValue final : MovesNode {
    ArrayPtr values;
    IntPtr least, most;
    MovesPtr moves;
    Consequence then;
    explicit ForEachValue(Reader& r)
        : values(r.array()), least(r.integer()), most(r.integer()), moves(r.moves()), then(r) {}
    // Calls `visit` with each value in the register, until it returns true.
    template <class Visit>
    bool each(Context& c, Visit&& visit) const {
        const NumberBuffer list_room(c);
        std::vector<int32_t>& list = *list_room;
        if (values) {
            values->eval(c, list);
        } else {
            const int low = least->eval(c), high = most->eval(c);
            if (high - low > longest_loop) throw GameError("(forEach Value ...) over too many");
            for (int v = low; v <= high; ++v) list.push_back(v);
        }
        const Keep keep(c.registers.value);
        for (int v : list) {
            c.registers.value = v;
            if (visit()) return true;
        }
        return false;
    }
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        each(c, [&] {
            moves->eval(c, out);
            return false;
        });
        if (then.node) then.attach(c, out, before, false);
    }
    bool any(Context& c) const override {
        return each(c, [&] { return moves->any(c); });
    }
    int64_t draws(Context& c) const override {
        int64_t sum = 0;
        const bool unknown = each(c, [&] {
            const int64_t here = moves->draws(c);
            sum += here;
            return here < 0;
        });
        return unknown ? -1 : sum;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        each(c, [&] {
            const int64_t here = moves->draws(c);
            if (number < here) moves->draw(c, number, out);
            number -= here;
            return number < 0;
        });
        if (out.last == before) return false;
        if (then.node) then.attach(c, out, before, false);
        return true;
    }
};

struct ForEachPlayer final : MovesNode {
    ArrayPtr players;
    MovesPtr moves;
    explicit ForEachPlayer(Reader& r) : players(r.array()), moves(r.moves()) {}
    void eval(Context& c, MoveList& out) const override {
        const NumberBuffer ids_room(c);
        std::vector<int32_t>& ids = *ids_room;
        const auto n = static_cast<int>(c.program.players());
        if (players)
            players->eval(c, ids);
        else
            for (int p = 1; p <= n; ++p) ids.push_back(p);
        const Keep keep(c.registers.player);
        for (int id : ids) {
            if (id < 0 || id > n + 1) continue;
            c.registers.player = id;
            moves->eval(c, out);
        }
    }
};

struct ForEachGroup final : MovesNode {
    Kind kind;
    Ways ways;
    BoolPtr test;
    MovesPtr moves;
    Consequence then;
    explicit ForEachGroup(Reader& r)
        : kind(r.kind()),
          ways(r.program, kind, r.directions()),
          test(r.boolean()),
          moves(r.moves()),
          then(r) {}
    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const uint32_t words = c.program.words();
        const auto count = static_cast<int>(c.program.board.tables[kind].count);
        const int mover = c.scalars().mover;
        const Keep keep_from(g.from), keep_to(g.to);
        const SiteSet* old_region = g.region;
        const uint32_t before = out.last;
        SiteSet seen;
        seen.clear(words);
        for (int s = 0; s < count; ++s) {
            const int place = c.state.place(kind, s);
            if (c.state.what(place) == 0 || seen.has(static_cast<uint32_t>(s))) continue;
            if (!test && c.state.who(place) != mover) continue;
            g.from = g.to = s;
            if (test && !test->eval(c)) continue;
            Group group(words);
            grow_group(c, ways, s, group, [&](int next) {
                if (!test) return c.state.who(c.state.place(kind, next)) == mover;
                g.to = next;
                return test->eval(c);
            });
            for (uint32_t w = 0; w < words; ++w) seen.bits[w] |= group.inside.bits[w];
            g.region = &group.inside;
            moves->eval(c, out);
            g.region = old_region;
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct ForEachDie final : MovesNode {
    int first, count;  // dice among all dice
    int first_site;
    bool combined;
    BoolPtr replay_double;
    BoolPtr test;
    MovesPtr moves;
    std::vector<std::vector<int32_t>> others;  // first die, first site, dice, faces by container
    Consequence then;
    explicit ForEachDie(Reader& r)
        : first(r.number()),
          count(r.number()),
          first_site(r.number()),
          combined(r.flag()),
          replay_double(r.boolean()),
          test(r.boolean()),
          moves(r.moves()),
          others(read(r)),
          then(r) {}
    static std::vector<std::vector<int32_t>> read(Reader& r) {
        std::vector<std::vector<int32_t>> lists(static_cast<size_t>(r.number()));
        for (auto& list : lists) list = r.numbers();
        return lists;
    }

    int value(const Context& c, int die) const {
        return c.state.die(static_cast<uint32_t>(first + die));
    }
    Action use(int die) const {
        Action a;
        a.act = Act::UseDie;
        a.what = first + die;
        a.to = static_cast<int16_t>(first_site + die);
        return a;
    }

    void eval(Context& c, MoveList& out) const override {
        const Keep keep(c.registers.pips);
        const uint32_t before = out.last;
        bool equal = true;
        for (int d = 1; d < count; ++d) equal &= value(c, d) == value(c, 0);
        const bool replay = replay_double && equal && replay_double->eval(c);
        for (int d = 0; d < count; ++d) {
            c.registers.pips = value(c, d);
            if (test && !test->eval(c)) continue;
            const uint32_t at = out.last;
            moves->eval(c, out);
            for (uint32_t n = following(c, out, at); n != none; n = c.arena.move(n).next) {
                c.arena.append_action(n, use(d));
                const int temp = c.scalars().temp;
                Action note;
                note.act = Act::SetTemp;
                if (replay && temp == -1) {
                    note.count = value(c, d);
                    c.arena.append_action(n, note);
                } else if (replay) {
                    note.count = -1;
                    c.arena.append_action(n, note);
                } else if (temp != -1) {
                    for (const auto& box : others) {
                        if (temp - 1 >= box[3]) continue;
                        for (int o = 0; o < box[2]; ++o) {
                            Action a;
                            a.act = Act::UpdateDie;
                            a.what = box[0] + o;
                            a.to = static_cast<int16_t>(box[1] + o);
                            a.count = temp - 1;
                            c.arena.append_action(n, a);
                        }
                    }
                }
            }
        }
        if (combined) combine(c, out);
        if (then.node) then.attach(c, out, before, false);
    }

    void combine(Context& c, MoveList& out) const {
        auto with = [&](std::vector<int> dice) {
            int sum = 0;
            for (int d : dice) {
                if (value(c, d) == 0) return;
                sum += value(c, d);
            }
            c.registers.pips = sum;
            if (test && !test->eval(c)) return;
            const uint32_t at = out.last;
            moves->eval(c, out);
            for (uint32_t n = following(c, out, at); n != none; n = c.arena.move(n).next)
                for (int d : dice) c.arena.append_action(n, use(d));
        };
        if (count == 2) with({0, 1});
        if (count == 3) {
            with({0, 1, 2});
            with({0, 1});
            with({0, 2});
            with({1, 2});
        }
    }
};

}  // namespace

void add_loops(Makers<MovesPtr>& m) {
    m["forEach Site"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachSite>(r)); };
    m["forEach Direction"] = [](Reader& r) {
        return MovesPtr(std::make_unique<ForEachDirection>(r));
    };
    m["forEach Level"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachLevel>(r)); };
    m["forEach Value"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachValue>(r)); };
    m["forEach Player"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachPlayer>(r)); };
    m["forEach Group"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachGroup>(r)); };
    m["forEach Die"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachDie>(r)); };
}

}  // namespace omnilude::ludeme
