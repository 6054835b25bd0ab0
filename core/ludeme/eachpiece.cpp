// Moves for each piece of a player: what most games are made of.
#include <algorithm>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

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
    std::vector<int32_t> site_at;              // by place; -1: its pieces do not count
    std::vector<const MovesNode*> generators;  // by component; null: it does not count
    // By owner: that of all its pieces, if it tells at once which cannot move.
    std::vector<const MovesNode*> sole_of;
    std::vector<int32_t> most_at;  // draws by component and place
    int64_t most = 0;              // of them all; -1: cannot be drawn from
    bool exact = false;            // draws of all pieces are counted
    bool uneven = false;           // pieces differ much in how many they have
    bool seldom = false;           // most pieces cannot move at all
    int follows = -1;              // of single moves
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
          then(r) {
        find_sites(r.program);
        find_draws(r.program);
        follows = count_follows();
    }

    void find_sites(const Program& program) {
        const Layout& layout = program.layout;
        const Board& board = program.board;
        site_at.assign(layout.places, -1);
        const Container& box = board.containers[static_cast<size_t>(std::max(0, container))];
        for (int kind = 0; kind < static_cast<int>(kinds); ++kind) {
            if (on >= 0 && kind != on) continue;
            for (uint32_t site = 0; site < layout.layer_size[kind]; ++site) {
                const bool away = kind == Cell && site < board.container_of.size() &&
                                  board.container_of[site] != 0;
                // Of all kinds, only as many sites count as there are of the board's own.
                const uint32_t count = std::min(board.tables[kind].count,
                                                board.tables[on < 0 ? board.kind : kind].count);
                const bool inside = container == 0 ? site < count && !away
                                                   : kind == Cell && site >= box.first_site &&
                                                         site < box.first_site + box.sites;
                if (inside) site_at[layout.layer[kind] + site] = static_cast<int32_t>(site);
            }
        }
        generators.assign(board.components.size(), nullptr);
        for (size_t piece = 1; piece < generators.size(); ++piece)
            if (!named || std::find(components.begin(), components.end(),
                                    static_cast<int32_t>(piece)) != components.end())
                generators[piece] = moves ? moves.get() : own[piece].get();
        find_sole(program);
    }
    void find_sole(const Program& program) {
        sole_of.assign(program.layout.owners, nullptr);
        for (size_t place = 0; place < site_at.size(); ++place)
            if (site_at[place] >= 0 && static_cast<size_t>(site_at[place]) != place) return;
        for (uint32_t o = 0; o < program.layout.owners; ++o) {
            const MovesNode* sole = nullptr;
            bool several = false;
            for (size_t piece = 1; piece < generators.size(); ++piece) {
                if (!generators[piece] || program.board.owners[piece] != o) continue;
                several |= sole && sole != generators[piece];
                sole = generators[piece];
            }
            if (!several && sole && sole->can_drop()) sole_of[o] = sole;
        }
    }
    // The mover's pieces without those that are ruled out; null where that is not known at once.
    const Context::Movable* find_movable(Context& c, int owner) const {
        const int mover = c.scalars().mover;
        if (owner != mover || !sole_of[static_cast<size_t>(owner)] || c.plain) return nullptr;
        Context::Movable& found = c.movable[number % std::size(c.movable)];
        if (found.generator == this && found.changes == c.changes && found.mover == mover)
            return &found;
        const uint32_t words = c.program.words();
        std::memcpy(found.places.bits, c.state.owned(static_cast<uint32_t>(owner)),
                    words * sizeof(uint64_t));
        sole_of[static_cast<size_t>(owner)]->drop_ruled_out(c, found.places);
        found.count = found.places.count(words);
        found.generator = this;
        found.changes = c.changes;
        found.mover = mover;
        return &found;
    }
    // The places of an owner's pieces, without those that are ruled out for the mover.
    const uint64_t* places_of(Context& c, uint32_t o) const {
        const Context::Movable* movable = find_movable(c, static_cast<int>(o));
        return movable ? movable->places.bits : c.state.owned(o);
    }

    // How many draws each piece has on each place, at most.
    void find_draws(const Program& program) {
        const size_t places = site_at.size();
        int used = 0;
        for (uint32_t size : program.layout.layer_size) used += size > 0;
        const bool one_kind = used == 1;
        most_at.assign(generators.size() * places, 0);
        std::vector<int64_t> most_of;
        for (size_t piece = 0; piece < generators.size(); ++piece) {
            if (!generators[piece]) continue;
            int64_t of = 0;
            for (size_t place = 0; place < places; ++place) {
                if (site_at[place] < 0) continue;
                // Of several kinds of sites, another piece may be on the one with the same number.
                const int64_t here = generators[piece]->most_draws(
                    program, one_kind ? static_cast<int>(piece) : -1, site_at[place]);
                if (here < 0) {
                    most = -1;
                    return;
                }
                most_at[piece * places + place] = static_cast<int32_t>(here);
                of = std::max(of, here);
            }
            most = std::max(most, of);
            most_of.push_back(of);
        }
        auto all = [&](auto&& test) {
            return std::all_of(generators.begin(), generators.end(),
                               [&](const MovesNode* one) { return !one || test(*one); });
        };
        exact = all([](const MovesNode& one) { return one.draws_exactly(); });
        seldom = all([](const MovesNode& one) { return one.is_rare(); });
        uneven =
            std::any_of(most_of.begin(), most_of.end(), [&](int64_t of) { return of * 2 <= most; });
    }

    int owner(Context& c) const { return role >= 0 ? c.program.id_of(c, role) : player->eval(c); }
    bool everybody() const {
        return role == static_cast<int>(Role::All) || role == static_cast<int>(Role::Each);
    }

    // Calls `visit(generator)` for every piece with the registers set, until it returns true.
    template <class Visit>
    bool each(Context& c, Visit&& visit) const {
        if (c.scalars().over) return false;
        const bool all = everybody();
        const int p = owner(c);
        if (!all && (p < 0 || p > static_cast<int>(c.program.players()) + 1)) return false;
        const Layout& layout = c.program.layout;
        for (uint32_t o = all ? 0 : static_cast<uint32_t>(p); o < layout.owners; ++o) {
            const Context::Movable* movable = find_movable(c, static_cast<int>(o));
            if (!movable || movable->count) {
                SiteSet places;  // a copy: what is visited may look for others
                std::memcpy(places.bits, movable ? movable->places.bits : c.state.owned(o),
                            layout.words * sizeof(uint64_t));
                const bool stop = each_bit(places.bits, layout.words, [&](int place) {
                    return at_place(c, place, static_cast<int>(o), p, visit);
                });
                if (stop) return true;
            }
            if (!all) break;
        }
        return false;
    }

    template <class Visit>
    bool at_place(Context& c, int place, int owned_by, int p, Visit& visit) const {
        const int site = site_at[static_cast<size_t>(place)];
        if (site < 0) return false;
        if (c.state.empty(place)) return false;
        if (!c.state.stacking()) return at_level(c, place, site, 0, owned_by, p, visit);
        const int height = c.state.height(place);
        for (int level = top ? std::max(0, height - 1) : 0; level < height; ++level)
            if (at_level(c, place, site, level, owned_by, p, visit)) return true;
        return false;
    }

    template <class Visit>
    bool at_level(Context& c, int place, int site, int level, int owned_by, int p,
                  Visit& visit) const {
        const int piece = c.state.what(place, level);
        const MovesNode* generator = generators[static_cast<size_t>(piece)];
        if (!generator || c.state.owner_of(piece) != owned_by) return false;
        Scalars& k = c.scalars();
        const int mover = k.mover;
        if (p == mover && !sole_of[static_cast<size_t>(owned_by)] && generator->rules_out(c, site))
            return false;
        const Keep keep_from(c.registers.from), keep_level(c.registers.level);
        c.registers.from = site;
        c.registers.level = level;
        if (p == mover || p <= 0 || p > static_cast<int>(c.program.players()))
            return visit(*generator);
        const int next = k.next, previous = k.previous;
        k.previous = mover, k.next = mover, k.mover = p;
        const bool stop = visit(*generator);
        k.mover = mover, k.next = next, k.previous = previous;
        return stop;
    }

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        each(c, [&](const MovesNode& generator) {
            generator.eval(c, out);
            return false;
        });
        then.attach(c, out, before);
    }

    int64_t most_draws(const Program& program, int, int) const override {
        return draws_known(program) ? static_cast<int64_t>(site_at.size()) * most : -1;
    }
    bool draws_known(const Program& program) const {
        return most >= 0 && !everybody() && (top || !program.wants.stacking);
    }
    int64_t draws(Context& c) const override {
        if (!draws_known(c.program)) return -1;
        const int p = owner(c);
        if (c.scalars().over || p < 0 || p > static_cast<int>(c.program.players()) + 1) return 0;
        if (counted())
            if (const auto* found = find_candidates(c, p)) return found->draws;
        if (const auto* movable = find_movable(c, p)) return movable->count * most;
        const uint64_t* owned = c.state.owned(static_cast<uint32_t>(p));
        int64_t sum = 0;
        for (uint32_t w = 0; w < c.program.words(); ++w) sum += std::popcount(owned[w]);
        return sum * most;
    }
    // Draws of a piece on a place: how many it has, where that is counted, or at most.
    int count_at(Context& c, int place, int owner, bool moving) const {
        const auto piece = static_cast<size_t>(c.state.what(place));
        const int site = site_at[static_cast<size_t>(place)];
        if (!generators[piece] || site < 0) return 0;
        if (moving && seldom && !sole_of[static_cast<size_t>(owner)] &&
            generators[piece]->rules_out(c, site))
            return 0;
        if (moving && exact) {
            const Keep keep(c.registers.from);
            c.registers.from = site;
            if (const int64_t count = generators[piece]->draws(c); count >= 0)
                return static_cast<int>(count);
        }
        return most_at[piece * site_at.size() + static_cast<size_t>(place)];
    }
    // Null where there are too many.
    const Context::Candidates* find_candidates(Context& c, int p) const {
        Context::Candidates& found = c.candidates[number % std::size(c.candidates)];
        const int mover = c.scalars().mover;
        if (found.generator == this && found.changes == c.changes && found.mover == mover &&
            found.owner == p)
            return &found;
        found.generator = nullptr;
        found.count = 0;
        found.draws = 0;
        SiteSet places;  // a copy, as in `each`
        std::memcpy(places.bits, places_of(c, static_cast<uint32_t>(p)),
                    c.program.words() * sizeof(uint64_t));
        const bool full = each_bit(places.bits, c.program.words(), [&](int place) {
            const int here = count_at(c, place, p, p == mover);
            if (here == 0) return false;
            if (found.count == Context::Candidates::most) return true;
            found.draws += here;
            found.places[found.count] = static_cast<uint16_t>(place);
            found.ends[found.count++] = found.draws;
            return false;
        });
        if (full) return nullptr;
        found.generator = this;
        found.changes = c.changes;
        found.mover = mover;
        found.owner = p;
        return &found;
    }
    bool counted() const { return exact || seldom || uneven; }
    // Most pieces that cannot move at all are passed over quickly.
    int64_t list_cost(int64_t numbers) const override { return seldom ? numbers : numbers / 4; }
    // Where all pieces have about as many draws and most can move, a number is a piece and one of
    // the most draws that any has; else the draws of all pieces that may move are counted through.
    int find_place(Context& c, int p, int64_t& number) const {
        if (most <= 0 || p < 0 || p > static_cast<int>(c.program.players()) + 1) return -1;
        if (c.scalars().over) return -1;
        if (counted())
            if (const auto* found = find_candidates(c, p)) {
                const int32_t* const end = found->ends + found->count;
                const int32_t* const at = std::upper_bound(found->ends, end, number);
                if (at == end) return -1;
                if (at != found->ends) number -= at[-1];
                return found->places[at - found->ends];
            }
        const int place = SiteSet::nth_bit(places_of(c, static_cast<uint32_t>(p)),
                                           static_cast<uint32_t>(number / most), c.program.words());
        number %= most;
        return place;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const int p = owner(c), place = find_place(c, p, number);
        if (place < 0) return false;
        const uint32_t before = out.last;
        auto visit = [&](const MovesNode& generator) { return generator.draw(c, number, out); };
        if (!at_place(c, place, p, p, visit)) return false;
        then.attach(c, out, before);
        return true;
    }
    int count_follows() const {
        int most_follows = 0;
        for (const MovesNode* generator : generators) {
            if (!generator) continue;
            const int here = generator->singles();
            if (here < 0) return -1;
            most_follows = std::max(most_follows, here);
        }
        return most_follows + then.count();
    }
    int singles() const override { return follows; }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        const int p = owner(c), place = find_place(c, p, number);
        if (place < 0) return false;
        auto visit = [&](const MovesNode& generator) {
            return generator.draw_single(c, number, single);
        };
        if (!at_place(c, place, p, p, visit)) return false;
        single.add(then.node.get());
        return true;
    }
    bool any(Context& c) const override {
        return each(c, [&](const MovesNode& generator) { return generator.any(c); });
    }
    bool can_move(Context& c) const override {
        if (then.node && c.program.meta.forbids()) return MovesNode::can_move(c);
        return each(c, [&](const MovesNode& generator) { return generator.can_move(c); });
    }
    bool can_move_to(Context& c, int site) const override {
        return each(c, [&](const MovesNode& generator) { return generator.can_move_to(c, site); });
    }
};

}  // namespace

void add_piece_loop(Makers<MovesPtr>& m) {
    m["forEach Piece"] = [](Reader& r) { return MovesPtr(std::make_unique<ForEachPiece>(r)); };
}

}  // namespace omnilude::ludeme
