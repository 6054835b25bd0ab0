// Ludemes that are regions: sets of sites.
#include <algorithm>
#include <cstring>

#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {

struct FixedRegion final : RegionNode {
    SiteSet sites;
    explicit FixedRegion(const SiteSet& s) : sites(s) {}
    void eval(Context& c, SiteSet& out) const override { out.copy(sites, c.program.words()); }
    bool contains(Context&, int site) const override {
        return site >= 0 && static_cast<uint32_t>(site) < max_sites &&
               sites.has(static_cast<uint32_t>(site));
    }
    const SiteSet* fixed() const override { return &sites; }
};

struct Empty final : RegionNode {
    Kind kind;
    explicit Empty(Kind k) : kind(k) {}
    void eval(Context& c, SiteSet& out) const override {
        sites_of_places(c.program, kind, c.state.empties(), out);
        keep_board(c.program, kind, out);
    }
    bool contains(Context& c, int site) const override {
        return on_board(c.program, kind, site) && c.state.empty(c.state.place(kind, site));
    }
    // Where there are no other places the state has the very set.
    bool is_all_empty(const Program& program) const override {
        return program.layout.layer[kind] == 0 &&
               program.board.tables[kind].count == program.layout.places;
    }
    bool is_all(const Context& c) const { return is_all_empty(c.program); }
    uint32_t count(Context& c) const override {
        if (!is_all(c)) return RegionNode::count(c);
        uint32_t sum = 0;
        for (uint32_t w = 0; w < c.program.words(); ++w)
            sum += static_cast<uint32_t>(std::popcount(c.state.empties()[w]));
        return sum;
    }
    int nth(Context& c, uint32_t n) const override {
        if (!is_all(c)) return RegionNode::nth(c, n);
        return SiteSet::nth_bit(c.state.empties(), n, c.program.words());
    }
};

struct Occupied {
    Kind kind;
    int role;  // or -1: `of`
    IntPtr of;
    int container;                            // or -1; -2: the hand of the player
    IntPtr box;                               // or the number of a container, known in play
    std::vector<std::vector<int32_t>> hands;  // by player: first site and number of sites
    bool named, top;
    std::vector<int32_t> components;
    std::vector<IntPtr> pieces;
};

void occupied(Context& c, const Occupied& o, SiteSet& out) {
    const Program& program = c.program;
    const uint32_t words = program.words();
    out.clear(words);
    uint32_t ids = 0;
    int id = -1;
    if (o.role >= 0) {
        ids = program.ids_of(c, o.role);
        id = program.id_of(c, o.role);
    } else {
        id = o.of->eval(c);
        ids = owner_bit(id);
    }
    const bool select = o.named || !o.pieces.empty();
    auto fits = [&](int piece) {
        return !select ||
               std::find(o.components.begin(), o.components.end(), piece) != o.components.end() ||
               std::any_of(o.pieces.begin(), o.pieces.end(),
                           [&](const IntPtr& one) { return one->eval(c) == piece; });
    };
    const State& s = c.state;
    const int container = o.box ? o.box->eval(c) : o.container;
    if (container >= static_cast<int>(program.board.containers.size()) || (o.box && container < 0))
        return;
    const Kind kind = container > 0 || container == -2 ? Cell : o.kind;
    uint32_t low = 0, high = program.layout.layer_size[kind];
    if (container == 0) {
        high = program.board.tables[kind].count;
    } else if (container > 0) {
        const Container& box = program.board.containers[static_cast<size_t>(container)];
        low = box.first_site, high = low + box.sites;
    } else if (container == -2) {
        if (id < 0 || static_cast<size_t>(id) >= o.hands.size() ||
            o.hands[static_cast<size_t>(id)].empty())
            return;
        low = static_cast<uint32_t>(o.hands[static_cast<size_t>(id)][0]);
        high = low + static_cast<uint32_t>(o.hands[static_cast<size_t>(id)][1]);
    }
    // Sites outside the range are no candidates.
    auto keep_range = [&](SiteSet& set) {
        for (uint32_t w = low / 64; w < words && w * 64 < high; ++w) {
            if (w * 64 < low) set.bits[w] &= ~uint64_t{0} << (low - w * 64);
            if (high - w * 64 < 64) set.bits[w] &= (uint64_t{1} << (high - w * 64)) - 1;
        }
        for (uint32_t w = 0; w < words; ++w)
            if (w < low / 64 || w * 64 >= high) set.bits[w] = 0;
    };
    for (uint32_t owner = 0; owner < program.layout.owners; ++owner) {
        if (!(ids >> owner & 1)) continue;
        SiteSet theirs;
        sites_of_places(program, kind, s.owned(owner), theirs);
        keep_range(theirs);
        if (!s.stacking() && !select) {
            for (uint32_t w = 0; w < words; ++w) out.bits[w] |= theirs.bits[w];
            continue;
        }
        theirs.each(words, [&](int n) {
            const int at = static_cast<int>(program.layout.layer[kind]) + n;
            bool found = false;
            for (int level = 0; level < s.height(at) && !found; ++level)
                found = (ids >> s.who(at, level) & 1) && fits(s.what(at, level));
            // A game without stacks may have pieces that belong to nobody on the site.
            if (!s.stacking()) found = fits(s.what(at));
            if (s.stacking() && o.top) found = found && (ids >> s.who(at) & 1);
            if (found) out.add(static_cast<uint32_t>(n));
        });
    }
}

template <class F>
RegionPtr combine(Reader& r, F f) {
    auto list = r.regions();
    return make_region([list = std::move(list), f](Context& c, SiteSet& out) {
        const uint32_t words = c.program.words();
        if (list.empty()) return out.clear(words);
        list[0]->eval(c, out);
        SiteSet other;
        for (size_t n = 1; n < list.size(); ++n) {
            list[n]->eval(c, other);
            for (uint32_t w = 0; w < words; ++w) out.bits[w] = f(out.bits[w], other.bits[w]);
        }
    });
}

}  // namespace

void add_regions(Makers<RegionPtr>& m) {
    m["fixed"] = [](Reader& r) { return RegionPtr(std::make_unique<FixedRegion>(r.sites())); };
    m["constant"] = [](Reader& r) {  // needs no state, so is found now
        const RegionPtr region = r.region();
        Scratch scratch(r.program);
        SiteSet sites;
        sites.clear(max_words);
        region->eval(scratch.context, sites);
        return RegionPtr(std::make_unique<FixedRegion>(sites));
    };
    m["sites"] = [](Reader& r) {  // of an array
        auto array = r.array();
        return make_region([array = std::move(array)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            array->eval(c, list);
            for (int site : list) add_site(c, out, site);
        });
    };
    m["register"] = [](Reader&) {
        return make_region([](Context& c, SiteSet& out) {
            if (c.registers.region)
                out.copy(*c.registers.region, c.program.words());
            else
                out.clear(c.program.words());
        });
    };
    m["sites Empty"] = [](Reader& r) { return RegionPtr(std::make_unique<Empty>(r.kind())); };
    m["sites Empty in"] = [](Reader& r) {
        auto container = r.integer();
        return make_region([container = std::move(container)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int n = container->eval(c);
            if (n < 0 || static_cast<size_t>(n) >= c.program.board.containers.size()) return;
            const Container& box = c.program.board.containers[static_cast<size_t>(n)];
            for (uint32_t i = 0; i < box.sites; ++i) {
                const int site = static_cast<int>(box.first_site + i);
                const int place = c.state.place_anywhere(c.program.board.kind, site);
                if (place >= 0 && c.state.empty(place)) add_site(c, out, site);
            }
        });
    };
    m["sites Occupied"] = [](Reader& r) {
        auto o = std::make_shared<Occupied>();
        o->kind = r.kind();
        o->role = r.number();
        o->of = r.integer();
        o->container = r.number();
        o->box = r.integer();
        o->hands.resize(static_cast<size_t>(r.number()));
        for (auto& hand : o->hands) hand = r.numbers();
        o->named = r.flag();
        o->components = r.numbers();
        o->pieces = r.integers();
        o->top = r.flag();
        return make_region([o](Context& c, SiteSet& out) { occupied(c, *o, out); });
    };
    m["sites State"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto value = r.integer();
        return make_region([=, value = std::move(value)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int v = value->eval(c);
            const auto count = static_cast<int>(c.program.board.tables[kind].count);
            for (int site = 0; site < count; ++site)
                if (c.state.state(c.state.place(kind, site)) == v) add_site(c, out, site);
        });
    };
    m["sites Hidden"] = [](Reader& r) {
        const int side = r.number();
        const Kind kind = r.kind();
        const int role = r.number();
        auto player = r.integer();  // instead of a role
        return make_region([=, player = std::move(player)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const auto count = static_cast<int>(c.program.board.tables[kind].count);
            const uint32_t who = players_meant(c, role, player.get());
            for (uint32_t p = 1; p <= c.program.players(); ++p)
                for (int site = 0; site < count && (who >> p & 1); ++site)
                    if (c.state.hidden(p, c.state.place(kind, site)) >> side & 1)
                        add_site(c, out, site);
        });
    };
    m["sites ToClear"] = [](Reader&) {
        return make_region([](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const NumberList list = c.state.to_clear();
            for (uint32_t n = 0; n < list.size(); ++n) add_site(c, out, list[n]);
        });
    };
    m["sites Pending"] = [](Reader&) {
        return make_region([](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const NumberList list = c.state.pending();
            for (uint32_t n = 0; n < list.size(); ++n) add_site(c, out, list[n]);
        });
    };
    m["sites Start"] = [](Reader& r) {
        auto piece = r.integer();
        return make_region([piece = std::move(piece)](Context& c, SiteSet& out) {
            const int what = piece->eval(c);
            if (what >= 0 && static_cast<size_t>(what) < c.program.start_sites.size())
                out.copy(c.program.start_sites[static_cast<size_t>(what)], c.program.words());
            else
                out.clear(c.program.words());
        });
    };
    m["sites Hand"] = [](Reader& r) {
        auto who = r.integer();
        return make_region([who = std::move(who)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int owner = who->eval(c);
            for (const Container& box : c.program.board.containers) {
                if (!box.hand || box.owner != owner) continue;
                for (uint32_t n = 0; n < box.sites; ++n)
                    add_site(c, out, static_cast<int>(box.first_site + n));
                return;
            }
        });
    };
    m["sites of player"] = [](Reader& r) {  // regions of the equipment, by owner
        auto by_owner = r.regions();
        auto who = r.integer();
        return make_region(
            [by_owner = std::move(by_owner), who = std::move(who)](Context& c, SiteSet& out) {
                const int owner = who->eval(c);
                if (owner >= 0 && static_cast<size_t>(owner) < by_owner.size())
                    by_owner[static_cast<size_t>(owner)]->eval(c, out);
                else
                    out.clear(c.program.words());
            });
    };
    m["one of"] = [](Reader& r) {  // rows, columns, phases, layers by number
        std::vector<SiteSet> lists(static_cast<size_t>(r.number()));
        for (auto& set : lists) set = r.sites();
        auto index = r.integer();
        return make_region(
            [lists = std::move(lists), index = std::move(index)](Context& c, SiteSet& out) {
                const int n = index->eval(c);
                if (n >= 0 && static_cast<size_t>(n) < lists.size())
                    out.copy(lists[static_cast<size_t>(n)], c.program.words());
                else
                    out.clear(c.program.words());
            });
    };
    m["union"] = [](Reader& r) { return combine(r, [](uint64_t a, uint64_t b) { return a | b; }); };
    m["intersection"] = [](Reader& r) {
        return combine(r, [](uint64_t a, uint64_t b) { return a & b; });
    };
    m["difference"] = [](Reader& r) {
        return combine(r, [](uint64_t a, uint64_t b) { return a & ~b; });
    };
    m["if"] = [](Reader& r) {
        auto test = r.boolean();
        auto a = r.region(), b = r.region();
        return make_region(
            [test = std::move(test), a = std::move(a), b = std::move(b)](Context& c, SiteSet& out) {
                if (test->eval(c))
                    a->eval(c, out);
                else if (b)
                    b->eval(c, out);
                else
                    out.clear(c.program.words());
            });
    };
    m["forEach if"] = [](Reader& r) {
        auto region = r.region();
        auto test = r.boolean();
        return make_region(
            [region = std::move(region), test = std::move(test)](Context& c, SiteSet& out) {
                SiteSet all;
                region->eval(c, all);
                out.clear(c.program.words());
                const Keep keep(c.registers.site);
                all.each(c.program.words(), [&](int site) {
                    c.registers.site = site;
                    if (test->eval(c)) add_site(c, out, site);
                });
            });
    };
    m["forEach of"] = [](Reader& r) {
        auto region = r.region(), each = r.region();
        return make_region(
            [region = std::move(region), each = std::move(each)](Context& c, SiteSet& out) {
                SiteSet all, one;
                region->eval(c, all);
                out.clear(c.program.words());
                const Keep keep(c.registers.site);
                all.each(c.program.words(), [&](int site) {
                    c.registers.site = site;
                    each->eval(c, one);
                    for (uint32_t w = 0; w < c.program.words(); ++w) out.bits[w] |= one.bits[w];
                });
            });
    };
    m["forEach Player"] = [](Reader& r) {
        auto players = r.array();
        auto each = r.region();
        return make_region(
            [players = std::move(players), each = std::move(each)](Context& c, SiteSet& out) {
                const NumberBuffer ids_room(c);
                std::vector<int32_t>& ids = *ids_room;
                players->eval(c, ids);
                out.clear(c.program.words());
                SiteSet one;
                const Keep keep(c.registers.player);
                for (int id : ids) {
                    if (id < 0 || id > static_cast<int>(c.program.players()) + 1) continue;
                    c.registers.player = id;
                    each->eval(c, one);
                    for (uint32_t w = 0; w < c.program.words(); ++w) out.bits[w] |= one.bits[w];
                }
            });
    };
    m["forEach Level"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = r.integer(), first = r.integer();
        const bool from_top = r.flag();
        auto test = r.boolean();
        return make_region([=, site = std::move(site), first = std::move(first),
                            test = std::move(test)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int place = c.state.place_anywhere(kind, site->eval(c));
            if (place < 0) return;
            const int height = c.state.height(place);
            const Keep keep(c.registers.level);
            int level = first ? first->eval(c) : from_top ? height - 1 : 0;
            if (level < 0) level = from_top ? height - 1 : 0;
            if (from_top) level = std::min(level, height - 1);
            for (; level >= 0 && level < height; level += from_top ? -1 : 1) {
                c.registers.level = level;
                if (!test || test->eval(c)) add_site(c, out, level);
            }
        });
    };
}

}  // namespace omnilude::ludeme
