// Conditions about what is on a site, and what is made of them.
//
// Most are asked for one site in a register, many times for each ply, or for all sites at once:
// then the sets of places that the state keeps are the answer.
#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {

bool in_movers_team(const Context& c, int id) {
    const auto mover = static_cast<uint32_t>(c.scalars().mover);
    if (id < 1 || id > static_cast<int>(c.program.players())) return false;
    return c.state.team(static_cast<uint32_t>(id)) == c.state.team(mover);
}

// Whether the owner of every place is that of the piece there, so that sets of places tell it.
bool owners_are_sets(const Context& c) { return !c.state.stacking() && !c.program.wants.count; }

// Whether a number of a site of a kind may as well be that of a hand's.
bool numbers_may_be_hands(const Context& c, Kind kind) {
    return c.program.layout.hands && kind != c.program.board.kind;
}

void complement(const Context& c, Kind kind, SiteSet& out) {
    for (uint32_t w = 0; w < c.program.words(); ++w) out.bits[w] = ~out.bits[w];
    keep_board(c.program, kind, out);
}

// Sites of the board with pieces of these owners, as bits; nobody's do not count.
void owned_sites(const Context& c, Kind kind, uint32_t owners, SiteSet& out) {
    const uint32_t words = c.program.words();
    SiteSet places;
    places.clear(words);
    for (uint32_t owner = 1; owner < c.program.layout.owners; ++owner) {
        if (!(owners >> owner & 1)) continue;
        const uint64_t* theirs = c.state.owned(owner);
        for (uint32_t w = 0; w < words; ++w) places.bits[w] |= theirs[w];
    }
    sites_of_places(c.program, kind, places.bits, out);
    keep_board(c.program, kind, out);
}

// What is asked of the owner of a site in a register.
struct OwnerTest : BoolNode {
    Kind kind;
    Slot slot;
    int owner(const Context& c) const {
        const int place = c.state.place(kind, c.registers.*slot);
        return place < 0 ? 0 : c.state.who(place);
    }
    bool as_sets(const Context& c, Slot s, Kind k) const {
        return s == slot && k == kind && owners_are_sets(c);
    }
};

struct EnemyAt final : OwnerTest {
    int hints(Slot s, Kind k) const override {
        return s == slot && k == kind ? MustBeOccupied | MustNotBeOwn : 0;
    }
    bool eval(Context& c) const override {
        const int id = owner(c);
        if (id == 0) return false;
        return c.program.has_teams() ? !in_movers_team(c, id) : id != c.scalars().mover;
    }
    bool sites_where(Context& c, Slot s, Kind k, SiteSet& out) const override {
        if (!as_sets(c, s, k) || c.program.has_teams()) return false;
        owned_sites(c, kind, ~(1u << c.scalars().mover), out);
        return true;
    }
};

struct FriendAt final : OwnerTest {
    int hints(Slot s, Kind k) const override { return s == slot && k == kind ? MustBeOccupied : 0; }
    bool eval(Context& c) const override {
        const int id = owner(c);
        return c.program.has_teams() ? in_movers_team(c, id) : id == c.scalars().mover;
    }
    bool sites_where(Context& c, Slot s, Kind k, SiteSet& out) const override {
        if (!as_sets(c, s, k) || c.program.has_teams()) return false;
        owned_sites(c, kind, 1u << c.scalars().mover, out);
        return true;
    }
};

struct OwnedBy final : OwnerTest {
    IntPtr who;
    bool wanted = true;  // or not
    bool eval(Context& c) const override { return (owner(c) == who->eval(c)) == wanted; }
    bool sites_where(Context& c, Slot s, Kind k, SiteSet& out) const override {
        if (!as_sets(c, s, k)) return false;
        const int id = who->eval(c);
        if (id < 1 || static_cast<uint32_t>(id) >= c.program.layout.owners) return false;
        owned_sites(c, kind, 1u << id, out);
        if (!wanted) complement(c, kind, out);
        return true;
    }
};

struct EmptyAt final : BoolNode {
    Kind kind;
    IntPtr site;
    Slot slot;
    explicit EmptyAt(Reader& r) : kind(r.kind()), site(r.integer()), slot(site->slot()) {}
    bool is_emptiness(Slot s, Kind k) const override { return slot && s == slot && k == kind; }
    int hints(Slot s, Kind k) const override { return is_emptiness(s, k) ? MustBeEmpty : 0; }
    bool eval(Context& c) const override {
        const int s = slot ? c.registers.*slot : site->eval(c);
        const int place = c.state.place_anywhere(kind, s);
        return place >= 0 && c.state.empty(place);
    }
    bool sites_where(Context& c, Slot s, Kind k, SiteSet& out) const override {
        if (!slot || s != slot || k != kind || numbers_may_be_hands(c, kind)) return false;
        sites_of_places(c.program, kind, c.state.empties(), out);
        keep_board(c.program, kind, out);
        return true;
    }
};

struct OccupiedAt final : BoolNode {
    Kind kind;
    IntPtr site;
    Slot slot;
    explicit OccupiedAt(Reader& r) : kind(r.kind()), site(r.integer()), slot(site->slot()) {}
    int hints(Slot s, Kind k) const override {
        return slot && s == slot && k == kind ? MustBeOccupied : 0;
    }
    bool eval(Context& c) const override {
        const int s = slot ? c.registers.*slot : site->eval(c);
        const int place = c.state.place_anywhere(kind, s);
        return place >= 0 && c.state.what(place) != 0;
    }
    bool sites_where(Context& c, Slot s, Kind k, SiteSet& out) const override {
        if (!slot || s != slot || k != kind || c.program.wants.count) return false;
        if (numbers_may_be_hands(c, kind)) return false;
        sites_of_places(c.program, kind, c.state.empties(), out);
        complement(c, kind, out);
        return true;
    }
};

struct In final : BoolNode {
    IntPtr site;
    RegionPtr region;
    const SiteSet* fixed;
    explicit In(Reader& r) : site(r.integer()), region(r.region()), fixed(region->fixed()) {}
    bool eval(Context& c) const override {
        const int s = site->eval(c);
        if (s < 0 || static_cast<uint32_t>(s) >= c.program.words() * 64) return false;
        return fixed ? fixed->has(static_cast<uint32_t>(s)) : region->contains(c, s);
    }
    bool sites_where(Context& c, Slot s, Kind kind, SiteSet& out) const override {
        if (!fixed || site->slot() != s) return false;
        out.copy(*fixed, c.program.words());
        keep_board(c.program, kind, out);
        return true;
    }
};

struct Not final : BoolNode {
    BoolPtr test;
    explicit Not(Reader& r) : test(r.boolean()) {}
    int hints(Slot s, Kind k) const override {
        return dynamic_cast<const FriendAt*>(test.get()) && test->hints(s, k) ? MustNotBeOwn : 0;
    }
    bool eval(Context& c) const override { return !test->eval(c); }
    bool sites_where(Context& c, Slot s, Kind kind, SiteSet& out) const override {
        if (!test->sites_where(c, s, kind, out)) return false;
        complement(c, kind, out);
        return true;
    }
};

template <bool All>
struct Several final : BoolNode {
    std::vector<BoolPtr> list;
    explicit Several(Reader& r) : list(r.booleans()) {}
    int hints(Slot s, Kind k) const override {
        int all = All ? 0 : -1;
        for (const auto& item : list) all = All ? all | item->hints(s, k) : all & item->hints(s, k);
        return list.empty() ? 0 : all;
    }
    bool eval(Context& c) const override {
        for (const auto& item : list)
            if (item->eval(c) != All) return !All;
        return All;
    }
    bool sites_where(Context& c, Slot s, Kind kind, SiteSet& out) const override {
        if (list.empty() || !list[0]->sites_where(c, s, kind, out)) return false;
        SiteSet other;
        for (size_t n = 1; n < list.size(); ++n) {
            if (!list[n]->sites_where(c, s, kind, other)) return false;
            for (uint32_t w = 0; w < c.program.words(); ++w)
                out.bits[w] = All ? out.bits[w] & other.bits[w] : out.bits[w] | other.bits[w];
        }
        return true;
    }
};

template <class Test>
BoolPtr read_owner_test(Reader& r, Test&& otherwise, std::unique_ptr<OwnerTest> test) {
    auto who = r.integer();
    if (who->is_owner_at(test->kind, test->slot)) return test;
    return make_bool(
        [who = std::move(who), otherwise](Context& c) { return otherwise(c, who->eval(c)); });
}

template <class F>
void add_comparison(Makers<BoolPtr>& m, const char* name, F f) {
    m[name] = [f](Reader& r) {
        auto a = r.integer(), b = r.integer();
        return make_bool([a = std::move(a), b = std::move(b), f](Context& c) {
            const int x = a->eval(c);
            return f(x, b->eval(c));
        });
    };
}

// Whether the piece on the site in a register is the mover's of a name.
struct MoversPieceAt final : BoolNode {
    Kind kind;
    Slot slot;
    std::vector<int32_t> by_owner;
    bool wanted;
    bool eval(Context& c) const override {
        const int place = c.state.place_anywhere(kind, c.registers.*slot);
        const auto mover = static_cast<size_t>(c.scalars().mover);
        const int piece = mover < by_owner.size() ? by_owner[mover] : -1;
        return ((place < 0 ? 0 : c.state.what(place)) == piece) == wanted;
    }
    int holds_for(Slot in, Kind of, int piece, int owner) const override {
        if (in != slot || of != kind || static_cast<size_t>(owner) >= by_owner.size()) return -1;
        return (by_owner[static_cast<size_t>(owner)] == piece) == wanted;
    }
};

template <class F>
void add_equality(Makers<BoolPtr>& m, const char* name, F f, bool equal) {
    m[name] = [f, equal](Reader& r) -> BoolPtr {
        auto a = r.integer(), b = r.integer();
        auto owned = std::make_unique<OwnedBy>();
        owned->wanted = equal;
        if (!a->is_owner_at(owned->kind, owned->slot)) std::swap(a, b);
        if (a->is_owner_at(owned->kind, owned->slot) && b->is_steady()) {
            owned->who = std::move(b);
            return owned;
        }
        auto movers = std::make_unique<MoversPieceAt>();
        if (!a->is_piece_at(movers->kind, movers->slot)) std::swap(a, b);
        if (a->is_piece_at(movers->kind, movers->slot) && b->piece_of_mover()) {
            movers->by_owner = *b->piece_of_mover();
            movers->wanted = equal;
            return movers;
        }
        return make_bool([a = std::move(a), b = std::move(b), f](Context& c) {
            const int x = a->eval(c);
            return f(x, b->eval(c));
        });
    };
}

template <class Node>
BoolPtr make_test(Reader& r) {
    return std::make_unique<Node>(r);
}

}  // namespace

void add_site_conditions(Makers<BoolPtr>& m) {
    m["not"] = make_test<Not>;
    m["and"] = make_test<Several<true>>;
    m["or"] = make_test<Several<false>>;
    m["is Empty"] = make_test<EmptyAt>;
    m["is Occupied"] = make_test<OccupiedAt>;
    m["is In"] = make_test<In>;
    m["is Enemy"] = [](Reader& r) {
        auto test = [](const Context& c, int id) {
            if (id == 0) return false;
            return c.program.has_teams() ? !in_movers_team(c, id) : id != c.scalars().mover;
        };
        return read_owner_test(r, test, std::make_unique<EnemyAt>());
    };
    m["is Friend"] = [](Reader& r) {
        auto test = [](const Context& c, int id) {
            return c.program.has_teams() ? in_movers_team(c, id) : id == c.scalars().mover;
        };
        return read_owner_test(r, test, std::make_unique<FriendAt>());
    };
    add_equality(m, "=", [](int a, int b) { return a == b; }, true);
    add_equality(m, "!=", [](int a, int b) { return a != b; }, false);
    add_comparison(m, "<", [](int a, int b) { return a < b; });
    add_comparison(m, "<=", [](int a, int b) { return a <= b; });
    m[">"] = [](Reader& r) -> BoolPtr {
        auto a = r.integer(), b = r.integer();
        if (b->constant() && *b->constant() == 0)
            return make_bool([a = std::move(a)](Context& c) { return a->is_positive(c); });
        return make_bool([a = std::move(a), b = std::move(b)](Context& c) {
            const int x = a->eval(c);
            return x > b->eval(c);
        });
    };
    add_comparison(m, ">=", [](int a, int b) { return a >= b; });
}

}  // namespace omnilude::ludeme
