// Generators of moves that put, take or change pieces.
#include <algorithm>

#include "ludeme/building.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

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

    Kind kind_of(const Context& c, int site) const {
        const Board& b = c.program.board;
        if (static_cast<size_t>(site) < b.container_of.size() &&
            b.container_of[static_cast<size_t>(site)] > 0)
            return Cell;
        return kind >= 0 ? static_cast<Kind>(kind) : b.kind;
    }

    Action make_action(Context& c, int site, int piece) const {
        Action a = site_action(level ? Act::Insert : Act::Add, kind_of(c, site), site, decision);
        a.what = piece;
        if (level) a.level_to = static_cast<int16_t>(level->eval(c));
        if (piece_state) a.state = static_cast<int16_t>(piece_state->eval(c));
        return a;
    }
    uint32_t make(Context& c, int site, int piece, int many) const {
        Action a = make_action(c, site, piece);
        const uint32_t move = c.arena.make_move(a);
        a.decision = false;
        for (int n = 1; n < many; ++n) c.arena.append_action(move, a);
        return move;
    }

    size_t choices() const { return pieces.empty() ? 1 : pieces.size(); }
    int choice(Context& c, size_t n) const {  // -1 where there is no such piece
        const int piece = pieces.empty() ? c.scalars().mover : pieces[n]->eval(c);
        return c.program.board.has_piece(piece) ? piece : -1;
    }

    // Adds a piece on a site of the region. With effects every move is offered twice, which is what
    // descriptions count on: returns whether there is that second one.
    bool add_one(Context& c, int s, int piece, int many, uint32_t& move) const {
        Registers& g = c.registers;
        move = make(c, s, piece, many);
        const bool twice = apply.given && (!apply.test || apply.test->eval(c));
        if (twice) {
            g.from = g.to = s;
            move = prepend_apply(c, apply, move);
            c.arena.move(move).twin = true;
        }
        finish(c, move, s);
        return twice;
    }

    void eval(Context& c, MoveList& out) const override {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const uint32_t before = out.last;
        const int many = count ? count->eval(c) : 1;
        if (many < 1) return;
        const NumberBuffer which_room(c);
        std::vector<int32_t>& which = *which_room;
        for (size_t n = 0; n < choices(); ++n) which.push_back(choice(c, n));
        for (int piece : which) {
            if (piece == -1) continue;
            if (!region) {
                add_single_site(c, piece, many, out);
                return;
            }
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), [&](int s) {
                g.to = s;
                if (to_test && !to_test->eval(c)) return;
                uint32_t move = none;
                const bool twice = add_one(c, s, piece, many, move);
                c.arena.append(out, move);
                if (twice) {
                    const Move again = c.arena.move(move);
                    const uint32_t second = c.arena.add_move();
                    c.arena.move(second) = again;
                    c.arena.append(out, second);
                }
            });
        }
        g.from = old_from;
        g.to = old_to;
        then.attach(c, out, before, true, true);
    }

    bool add_single_site(Context& c, int piece, int many, MoveList& out) const {
        Registers& g = c.registers;
        const int old_from = g.from, old_to = g.to;
        const uint32_t before = out.last;
        const int s = to->eval(c);
        g.to = s;
        if (to_test && !to_test->eval(c)) return false;
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
        return true;
    }

    int64_t most_draws(const Program&, int, int) const override { return region ? -1 : 1; }
    int64_t draws(Context& c) const override {
        if (count && count->eval(c) < 1) return 0;
        if (!region) return 1;
        // What one site leaves behind in the registers is seen by the next.
        if (apply.given && (to_test || piece_state || level || choices() > 1)) return -1;
        return static_cast<int64_t>(choices()) * region->count(c) * (apply.given ? 2 : 1);
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int many = count ? count->eval(c) : 1;
        if (many < 1 || (!region && number > 0)) return false;
        if (!region) {
            for (size_t n = 0; n < choices(); ++n)
                if (const int piece = choice(c, n); piece != -1)
                    return add_single_site(c, piece, many, out);
            return false;
        }
        const bool second = apply.given && number % 2;
        if (apply.given) number /= 2;
        size_t n = 0;
        if (choices() > 1) {
            const auto sites = static_cast<int64_t>(region->count(c));
            if (number >= sites * static_cast<int64_t>(choices())) return false;
            n = static_cast<size_t>(number / sites);
            number %= sites;
        }
        const int piece = choice(c, n);
        const int s = piece == -1 ? off : region->nth(c, static_cast<uint32_t>(number));
        if (s < 0) return false;
        const uint32_t before = out.last;
        {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            c.registers.to = s;
            if (to_test && !to_test->eval(c)) return false;
            uint32_t move = none;
            if (!add_one(c, s, piece, many, move) && second) return false;
            c.arena.append(out, move);
        }
        then.attach(c, out, before, true, true);
        return true;
    }

    int singles() const override { return apply.given || count ? -1 : then.count(); }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        int piece = -1, s = off;
        if (region) {
            size_t n = 0;
            if (choices() > 1) {
                const auto sites = static_cast<int64_t>(region->count(c));
                if (number >= sites * static_cast<int64_t>(choices())) return false;
                n = static_cast<size_t>(number / sites);
                number %= sites;
            }
            piece = choice(c, n);
            if (piece != -1) s = region->nth(c, static_cast<uint32_t>(number));
            if (s < 0) return false;
        } else {
            if (number > 0) return false;
            for (size_t n = 0; n < choices() && piece == -1; ++n) piece = choice(c, n);
            if (piece == -1) return false;
            s = to->eval(c);
        }
        c.registers.to = s;
        if (to_test && !to_test->eval(c)) return false;
        single.set(make_action(c, s, piece), s, s, then.node.get());
        return true;
    }
    bool adds_to_empty(const Program& program) const override {
        return region && region->is_all_empty(program) && !to_test && !apply.given && !count &&
               !level && !piece_state && pieces.empty() && program.layout.bare &&
               program.board.has_piece(static_cast<int>(program.board.players)) &&
               (!then.node || then.node->keeps_board());
    }
    void add_at(Context& c, int site, Single& single) const override {
        single.set(make_action(c, site, c.scalars().mover), site, site, then.node.get());
    }

    void finish(Context& c, uint32_t move, int s) const {
        set_ends(c, move, s, s);
        if (kind_of(c, s) == Edge) c.arena.move(move).oriented = false;
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

    bool add(Context& c, int s, MoveList& out) const {
        if (s < 0) return false;
        const int place = c.state.place_anywhere(kind, s);
        if (place < 0 || c.state.what(place) <= 0) return false;
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
        return true;
    }
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        Sites(c, site.get(), region.get()).each([&](int s) { add(c, s, out); });
        then.attach(c, out, before);
    }
    int64_t most_draws(const Program&, int, int) const override { return region ? -1 : 1; }
    int64_t draws(Context& c) const override { return region ? region->count(c) : 1; }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        if (!add(c, Sites(c, site.get(), region.get()).nth(number), out)) return false;
        then.attach(c, out, before);
        return true;
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
    bool add(Context& c, int s, const IntNode& piece, MoveList& out) const {
        const int what = piece.eval(c);
        if (s < 0 || what < 1 || !c.program.board.has_piece(what)) return false;
        Action a = site_action(Act::Promote, kind, s, decision);
        a.what = what;
        add_single(c, out, a);
        return true;
    }
    void eval(Context& c, MoveList& out) const override {
        const int s = site->eval(c);
        const uint32_t before = out.last;
        for (const auto& piece : pieces) add(c, s, *piece, out);
        then.attach(c, out, before);
    }
    int64_t most_draws(const Program&, int, int) const override {
        return static_cast<int64_t>(pieces.size());
    }
    int64_t draws(Context&) const override { return static_cast<int64_t>(pieces.size()); }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        const auto n = static_cast<size_t>(number);
        if (n >= pieces.size() || !add(c, site->eval(c), *pieces[n], out)) return false;
        then.attach(c, out, before);
        return true;
    }
};

struct Shoot final : MovesNode {
    Kind kind;
    IntPtr piece, from;
    Ways ways;
    BoolPtr to_test;
    bool decision;
    Consequence then;
    explicit Shoot(Reader& r)
        : kind(r.kind()),
          piece(r.integer()),
          from(r.integer()),
          ways(r.program, kind, r.directions()),
          to_test(r.boolean()),
          decision(r.flag()),
          then(r) {}

    bool can_shoot(Context& c, int site, int what) const {
        return on_board(c.program, kind, site) && c.program.board.has_piece(what);
    }
    // Calls `visit(site)` along a ray as far as it is free, until it returns true.
    template <class Visit>
    bool along(Context& c, std::span<const int32_t> sites, Visit&& visit) const {
        for (size_t n = 1; n < sites.size(); ++n) {
            const int t = sites[n];
            c.registers.to = t;
            const int place = c.state.place(Cell, t);
            const bool free = to_test ? to_test->eval(c) : place >= 0 && c.state.empty(place);
            if (!free) return false;
            c.registers.between = t;
            if (visit(static_cast<int>(n))) return true;
        }
        return false;
    }
    Action make_action(int t, int what) const {
        Action a = site_action(Act::Add, kind, t, decision);
        a.what = what;
        return a;
    }
    void add(Context& c, int t, int what, MoveList& out) const {
        add_single(c, out, make_action(t, what));
    }
    void eval(Context& c, MoveList& out) const override {
        const int f = from->eval(c), what = piece->eval(c);
        if (!can_shoot(c, f, what)) return;
        const uint32_t before = out.last;
        {
            const Keep keep_to(c.registers.to), keep_between(c.registers.between);
            WayBuffer buffer;
            for (int number : ways.rays(c, f, buffer)) {
                const auto sites = ray(c.program, kind, number);
                along(c, sites, [&](int n) {
                    add(c, sites[static_cast<size_t>(n)], what, out);
                    return false;
                });
            }
        }
        then.attach(c, out, before);
    }
    bool any(Context& c) const override {
        const int f = from->eval(c);
        if (!can_shoot(c, f, piece->eval(c))) return false;
        const Keep keep_to(c.registers.to), keep_between(c.registers.between);
        WayBuffer buffer;
        for (int number : ways.rays(c, f, buffer))
            if (along(c, ray(c.program, kind, number), [](int) { return true; })) return true;
        return false;
    }
    int64_t most_draws(const Program&, int, int) const override {
        return ways.most_ray_sites(-1, -1);
    }
    int64_t draws(Context& c) const override {
        int64_t sum = 0;
        find_site(c, [&](int) {
            ++sum;
            return false;
        });
        return sum;
    }
    // Calls `found` for every site that can be shot at, until it returns true; the site, or -1.
    template <class Found>
    int find_site(Context& c, Found&& found) const {
        const int f = from->eval(c);
        if (!can_shoot(c, f, piece->eval(c))) return -1;
        const Keep keep_to(c.registers.to), keep_between(c.registers.between);
        WayBuffer buffer;
        for (int number : ways.rays(c, f, buffer))
            if (along(c, ray(c.program, kind, number), found)) return c.registers.to;
        return -1;
    }
    int nth_site(Context& c, int64_t number) const {
        return find_site(c, [&](int) { return number-- == 0; });
    }
    int singles() const override { return then.count(); }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        const int t = nth_site(c, number);
        if (t < 0) return false;
        single.set(make_action(t, piece->eval(c)), t, t, then.node.get());
        return true;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int t = nth_site(c, number);
        if (t < 0) return false;
        const uint32_t before = out.last;
        add(c, t, piece->eval(c), out);
        then.attach(c, out, before);
        return true;
    }
};

}  // namespace

void add_piece_moves(Makers<MovesPtr>& m) {
    m["add"] = [](Reader& r) { return MovesPtr(std::make_unique<AddMove>(r)); };
    m["remove"] = [](Reader& r) { return MovesPtr(std::make_unique<RemoveMove>(r)); };
    m["promote"] = [](Reader& r) { return MovesPtr(std::make_unique<Promote>(r)); };
    m["shoot"] = [](Reader& r) { return MovesPtr(std::make_unique<Shoot>(r)); };
}

}  // namespace omnilude::ludeme
