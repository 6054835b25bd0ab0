// Generators that make moves for each piece, site, direction and so on.
#include <algorithm>
#include <atomic>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

constexpr int longest_loop = 10000;

struct ForEachPiece final : MovesNode {
    int on;  // kind, or -1
    bool named;
    std::vector<int32_t> components;
    int container;  // number, or -2: any hand of the player
    MovesPtr moves;
    std::vector<MovesPtr> own;  // by component, where `moves` is not given
    int role;                   // or -1
    IntPtr player;
    bool top;
    Consequence then;
    static constexpr int64_t unknown = -2;
    mutable std::atomic<int64_t> each_piece_{unknown};
    explicit ForEachPiece(Reader& r)
        : on(r.number()),
          named(r.flag()),
          components(r.numbers()),
          container(r.number()),
          moves(r.moves()),
          own(r.move_list()),
          role(r.number()),
          player(r.integer()),
          top(r.flag()),
          then(r) {}

    bool considered(int piece) const {
        return !named || std::find(components.begin(), components.end(), piece) != components.end();
    }

    // Calls `visit(generator)` for every piece with the registers set, until it returns true.
    template <class Visit>
    bool each(Context& c, Visit&& visit) const {
        if (c.scalars().over) return false;
        const Program& program = c.program;
        const auto everybody = static_cast<int>(program.players()) + 1;
        const bool all =
            role == static_cast<int>(Role::All) || role == static_cast<int>(Role::Each);
        const int p = role >= 0 ? program.id_of(c, role) : player->eval(c);
        if (!all && (p < 0 || p > everybody)) return false;
        const Layout& layout = program.layout;
        for (uint32_t owner = 0; owner < layout.owners; ++owner) {
            if (!all && static_cast<int>(owner) != p) continue;
            const uint64_t* owned = c.state.owned(owner);
            SiteSet places;
            std::memcpy(places.bits, owned, layout.words * sizeof(uint64_t));
            const bool stop = places.any(layout.words, [&](int place) {
                return at_place(c, place, static_cast<int>(owner), p, visit);
            });
            if (stop) return true;
        }
        return false;
    }

    template <class Visit>
    bool at_place(Context& c, int place, int owner, int p, Visit& visit) const {
        const Program& program = c.program;
        const Layout& layout = program.layout;
        int kind = 0;
        for (int k = 0; k < 3; ++k)
            if (layout.layer_size[k] && static_cast<uint32_t>(place) >= layout.layer[k] &&
                static_cast<uint32_t>(place) < layout.layer[k] + layout.layer_size[k])
                kind = k;
        const int site = place - static_cast<int>(layout.layer[kind]);
        if (on >= 0 && kind != on) return false;
        const Container& box =
            program.board.containers[static_cast<size_t>(std::max(0, container))];
        if (container == 0) {
            if (static_cast<uint32_t>(site) >= program.board.tables[kind].count) return false;
            if (kind == Cell && static_cast<size_t>(site) < program.board.container_of.size() &&
                program.board.container_of[static_cast<size_t>(site)] != 0)
                return false;
        } else if (static_cast<uint32_t>(site) < box.first_site ||
                   static_cast<uint32_t>(site) >= box.first_site + box.sites || kind != Cell) {
            return false;
        }
        const int height = c.state.height(place);
        for (int level = 0; level < height; ++level) {
            const int piece = c.state.what(place, level);
            if (program.board.components[static_cast<size_t>(piece)].owner != owner) continue;
            if (!considered(piece)) continue;
            if (top && level != height - 1) continue;
            const MovesNode* generator =
                moves ? moves.get() : own[static_cast<size_t>(piece)].get();
            if (!generator) continue;
            const Keep keep_from(c.registers.from), keep_level(c.registers.level);
            c.registers.from = site;
            c.registers.level = level;
            Scalars& k = c.scalars();
            const int mover = k.mover, next = k.next, previous = k.previous;
            const bool other = p != mover && p > 0 && p <= static_cast<int>(program.players());
            if (other) k.previous = mover, k.next = mover, k.mover = p;
            const bool stop = visit(*generator);
            if (other) k.mover = mover, k.next = next, k.previous = previous;
            if (stop) return true;
        }
        return false;
    }

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        each(c, [&](const MovesNode& generator) {
            generator.eval(c, out);
            return false;
        });
        then.attach(c, out, before);
    }
    // The greatest number of draws that a piece has.
    int64_t draws_of_piece() const {
        if (moves) return moves->most_draws();
        int64_t most = 0;
        for (const auto& one : own) {
            const int64_t here = one ? one->most_draws() : 0;
            if (here < 0) return -1;
            most = std::max(most, here);
        }
        return most;
    }
    int64_t draws(Context& c) const override {
        const bool all =
            role == static_cast<int>(Role::All) || role == static_cast<int>(Role::Each);
        if (each_piece_ == unknown) each_piece_ = draws_of_piece();
        if (all || c.state.stacking() || each_piece_ < 0) return -1;
        const int p = role >= 0 ? c.program.id_of(c, role) : player->eval(c);
        if (c.scalars().over || p < 0 || p > static_cast<int>(c.program.players()) + 1) return 0;
        int64_t pieces = 0;
        const uint64_t* owned = c.state.owned(static_cast<uint32_t>(p));
        for (uint32_t w = 0; w < c.program.words(); ++w) pieces += std::popcount(owned[w]);
        return pieces * each_piece_;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int p = role >= 0 ? c.program.id_of(c, role) : player->eval(c);
        const int place =
            SiteSet::nth_bit(c.state.owned(static_cast<uint32_t>(p)),
                             static_cast<uint32_t>(number / each_piece_), c.program.words());
        if (place < 0) return false;
        const int64_t rest = number % each_piece_;
        const uint32_t before = out.last;
        auto visit = [&](const MovesNode& generator) {
            return rest < generator.draws(c) && generator.draw(c, rest, out);
        };
        if (!at_place(c, place, p, p, visit)) return false;
        then.attach(c, out, before);
        return true;
    }
    bool can_move(Context& c) const override {
        return each(c, [&](const MovesNode& generator) { return generator.can_move(c); });
    }
    bool can_move_to(Context& c, int site) const override {
        return each(c, [&](const MovesNode& generator) { return generator.can_move_to(c, site); });
    }
};

struct ForEachSite final : MovesNode {
    RegionPtr region;
    MovesPtr moves, otherwise;
    Consequence then;
    explicit ForEachSite(Reader& r)
        : region(r.region()), moves(r.moves()), otherwise(r.moves()), then(r) {}
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
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        std::vector<int32_t> list;
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
            moves->eval(c, out);
        }
        if (then.node) then.attach(c, out, before, false);
    }
};

struct ForEachPlayer final : MovesNode {
    ArrayPtr players;
    MovesPtr moves;
    explicit ForEachPlayer(Reader& r) : players(r.array()), moves(r.moves()) {}
    void eval(Context& c, MoveList& out) const override {
        std::vector<int32_t> ids;
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
    DirectionsPtr directions;
    BoolPtr test;
    MovesPtr moves;
    Consequence then;
    explicit ForEachGroup(Reader& r)
        : kind(r.kind()),
          directions(r.directions()),
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
            SiteSet inside;
            inside.clear(words);
            std::vector<int32_t> group;
            grow_group(c, kind, s, *directions, group, inside, [&](int next) {
                if (!test) return c.state.who(c.state.place(kind, next)) == mover;
                g.to = next;
                return test->eval(c);
            });
            for (int member : group) seen.add(static_cast<uint32_t>(member));
            g.region = &inside;
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
    m["forEach Piece"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachPiece>(r)); };
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
