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
    std::vector<int32_t> most_at;              // draws by component and place
    int64_t most = 0;                          // of them all; -1: cannot be drawn from
    bool exact = false;                        // draws of all pieces are counted
    bool uneven = false;                       // pieces differ much in how many they have
    int follows = -1;                          // of single moves
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
                const bool inside = container == 0 ? site < board.tables[kind].count && !away
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
        uneven =
            std::any_of(most_of.begin(), most_of.end(), [&](int64_t of) { return of * 2 < most; });
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
            const bool stop = each_bit(c.state.owned(o), layout.words, [&](int place) {
                return at_place(c, place, static_cast<int>(o), p, visit);
            });
            if (stop) return true;
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
        if (p == mover && generator->rules_out(c, site)) return false;
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
        const uint64_t* owned = c.state.owned(static_cast<uint32_t>(p));
        int64_t sum = 0;
        if (exact || uneven) {
            each_bit(owned, c.program.words(), [&](int place) {
                sum += exact ? count_at(c, place) : most_of(c, place);
                return false;
            });
            return sum;
        }
        for (uint32_t w = 0; w < c.program.words(); ++w) sum += std::popcount(owned[w]);
        return sum * most;
    }
    // Draws of the piece on a place.
    int64_t count_at(Context& c, int place) const {
        const MovesNode* generator = generators[static_cast<size_t>(c.state.what(place))];
        const int site = site_at[static_cast<size_t>(place)];
        if (!generator || site < 0) return 0;
        const Keep keep(c.registers.from);
        c.registers.from = site;
        return generator->draws(c);
    }
    bool draws_exactly() const override { return exact; }
    // Most pieces that cannot move at all are passed over quickly.
    int64_t list_cost(int64_t numbers) const override { return numbers / 4; }
    int64_t most_of(const Context& c, int place) const {
        const auto piece = static_cast<size_t>(c.state.what(place));
        return most_at[piece * site_at.size() + static_cast<size_t>(place)];
    }
    // Where all pieces have about as many draws, a number is a piece and one of the most that any
    // has; else the draws of all pieces are counted through.
    int find_place(Context& c, int p, int64_t& number) const {
        if (most <= 0 || p < 0 || p > static_cast<int>(c.program.players()) + 1) return -1;
        if (c.scalars().over) return -1;
        const uint64_t* owned = c.state.owned(static_cast<uint32_t>(p));
        int place = -1;
        if (exact || uneven) {
            each_bit(owned, c.program.words(), [&](int at) {
                const int64_t here = exact ? count_at(c, at) : most_of(c, at);
                if (number < here) place = at;
                if (place < 0) number -= here;
                return place >= 0;
            });
        } else {
            place =
                SiteSet::nth_bit(owned, static_cast<uint32_t>(number / most), c.program.words());
            number %= most;
        }
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
