// Conditions about groups: connections, loops.
#include <algorithm>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

// Regions that a group may touch.
struct RegionList {
    std::vector<RegionPtr> regions;
    bool fixed = false;  // none of them changes
    // Then: all their sites, for each site the regions that it is in, and the sets one after
    // another if they are few.
    SiteSet sites;
    std::vector<uint64_t> regions_at;
    bool few = false;
    std::vector<uint64_t> sets;

    RegionList(Reader& r, uint32_t words) : regions(r.regions()) {
        fixed = regions.size() <= 64 && std::all_of(regions.begin(), regions.end(),
                                                    [](const auto& one) { return one->fixed(); });
        few = fixed && regions.size() * words <= 12;
        if (few)
            for (const auto& one : regions)
                sets.insert(sets.end(), one->fixed()->bits, one->fixed()->bits + words);
        if (!fixed) return;
        sites.clear(words);
        regions_at.assign(size_t{words} * 64, 0);
        for (size_t n = 0; n < regions.size(); ++n)
            regions[n]->fixed()->each(words, [&](int site) {
                sites.add(static_cast<uint32_t>(site));
                regions_at[static_cast<size_t>(site)] |= uint64_t{1} << n;
            });
    }
    // The sets one after another, where they change.
    void eval(Context& c, std::vector<uint64_t>& out) const {
        for (const auto& region : regions) {
            SiteSet here;
            region->eval(c, here);
            out.insert(out.end(), here.bits, here.bits + c.program.words());
        }
    }
    // How many of them a set touches; `changing`: what they are now.
    int touched(uint32_t words, const SiteSet& set, const std::vector<uint64_t>& changing) const {
        if (fixed && !few) {
            uint64_t met = 0;
            for (uint32_t w = 0; w < words; ++w)
                for (uint64_t left = set.bits[w] & sites.bits[w]; left; left &= left - 1)
                    met |= regions_at[w * 64 + static_cast<uint32_t>(std::countr_zero(left))];
            return std::popcount(met);
        }
        const std::vector<uint64_t>& all = few ? sets : changing;
        int count = 0;
        for (size_t at = 0; at < all.size(); at += words) {
            uint64_t common = 0;
            for (uint32_t w = 0; w < words; ++w) common |= all[at + w] & set.bits[w];
            count += common != 0;
        }
        return count;
    }
};

// Whether the group of a site touches as many of some regions as are needed.
struct Connected {
    Kind kind;
    IntPtr number, start;
    Ways ways;
    int role;  // or -1
    RegionList regions;
    std::vector<RegionList> owned;  // for a role: the regions of each player
    bool joins;                     // groups can be kept while a board is filled
    explicit Connected(Reader& r)
        : kind(r.kind()),
          number(r.integer()),
          start(r.integer()),
          ways(r.program, kind, r.directions()),
          role(r.number()),
          regions(r, r.program.words()) {
        const auto players = static_cast<size_t>(r.number());
        while (owned.size() < players) owned.emplace_back(r, r.program.words());
        joins = ways.can_flood() && ways.is_mutual() && r.program.layout.layer[kind] == 0 &&
                regions.fixed &&
                std::all_of(owned.begin(), owned.end(), [](const auto& one) { return one.fixed; });
    }

    bool eval(Context& c) const {
        const RegionList* used = &regions;
        int owner = -1;
        if (role >= 0) {
            owner = c.program.id_of(c, role);
            if (owner < 0 || static_cast<size_t>(owner) >= owned.size()) return false;
            used = &owned[static_cast<size_t>(owner)];
        }
        const int need = number ? number->eval(c) : static_cast<int>(used->regions.size());
        const int site = start->eval(c);
        if (need < 1 || !on_board(c.program, kind, site)) return false;
        const int who = c.state.who(c.state.place(kind, site));
        if (who <= 0) return false;
        if (joins && c.filled) {
            const auto at = static_cast<size_t>(site);
            if (std::popcount(used->regions_at[at]) >= need) return true;
            if (owner >= 0 && who != owner) return false;
            if (auto* groups = find_groups(c)) return std::popcount(groups->marks_of(site)) >= need;
        }
        return grows(c, site, who, need, *used, owner);
    }

    // Of all pieces; each is marked with the regions that it touches.
    Filled::Groups* find_groups(Context& c) const {
        auto mark = [&](int site) {
            const auto at = static_cast<size_t>(site), who = static_cast<size_t>(c.state.who(site));
            if (role < 0) return regions.regions_at[at];
            return who < owned.size() ? owned[who].regions_at[at] : 0;
        };
        auto join_beside = [&](int site, Filled::Groups& groups) {
            const uint64_t* around = ways.neighbours(site);
            const uint64_t* theirs = c.state.owned(static_cast<uint32_t>(c.state.who(site)));
            for (uint32_t w = 0; w < ways.words(); ++w)
                for (uint64_t left = around[w] & theirs[w] & groups.sites.bits[w]; left;
                     left &= left - 1)
                    groups.join(site, static_cast<int>(w * 64) + std::countr_zero(left));
        };
        return c.filled->update(this, c.program.words(), mark, join_beside);
    }

    bool grows(Context& c, int site, int who, int need, const RegionList& used, int owner) const {
        const uint32_t words = c.program.words();
        std::vector<uint64_t> changing;
        if (!used.fixed) used.eval(c, changing);
        auto touched = [&](const SiteSet& set) { return used.touched(words, set, changing); };
        SiteSet theirs, inside;
        inside.clear(words);
        inside.add(static_cast<uint32_t>(site));
        if (touched(inside) >= need) return true;
        if (owner >= 0 && who != owner) return false;
        sites_of_places(c.program, kind, c.state.owned(static_cast<uint32_t>(who)), theirs);
        // A player that has nothing in too many of the regions cannot have joined them.
        if (!c.program.wants.count && touched(theirs) < need) return false;
        if (c.state.stacking() || c.program.wants.count || !ways.flood(c, theirs, site, inside)) {
            Group group(words);
            grow_group(c, ways, site, group,
                       [&](int next) { return c.state.who(c.state.place(kind, next)) == who; });
            inside.copy(group.inside, words);
        }
        return touched(inside) >= need;
    }
};

// Whether pieces around some site shut it in.
struct Loop {
    Kind kind;
    bool surrounds;  // somebody, not whoever
    DirectionsPtr directions;
    IntPtr colour, start;
    SiteSet outer;
    std::unique_ptr<Ways> ways;  // orthogonal
};

bool loop_around(Context& c, const Loop& loop, uint32_t surround, int candidate, int piece,
                 int colour) {
    const Program& program = c.program;
    const SiteTables& t = program.board.tables[loop.kind];
    auto what = [&](int site) { return c.state.what(c.state.place(loop.kind, site)); };
    auto who = [&](int site) { return c.state.who(c.state.place(loop.kind, site)); };
    std::vector<int32_t> inside{candidate};
    SiteSet known;
    known.clear(program.words());
    known.add(static_cast<uint32_t>(candidate));
    for (size_t n = 0; n < inside.size(); ++n)
        for (int number : rays_of(program, loop.kind, inside[n], direction::Orthogonal)) {
            const auto sites = t.rays[static_cast<size_t>(number)];
            for (size_t i = 1; i < sites.size(); ++i) {
                const int x = sites[i];
                if (known.has(static_cast<uint32_t>(x))) continue;
                if (what(x) == piece) break;
                const bool out = loop.outer.has(static_cast<uint32_t>(x));
                if (!loop.surrounds || ((surround >> who(x) & 1) && !out)) {
                    known.add(static_cast<uint32_t>(x));
                    inside.push_back(x);
                }
                if (out) return false;
            }
        }
    const NumberBuffer border_room(c);
    std::vector<int32_t>& border = *border_room;
    for (int site : inside)
        for (int x : steps_of(program, loop.kind, site, direction::Orthogonal))
            if (!known.has(static_cast<uint32_t>(x)) &&
                std::find(border.begin(), border.end(), x) == border.end())
                border.push_back(x);
    for (int b : border)
        if (who(b) != colour) return false;
    const NumberBuffer chain_room(c);
    std::vector<int32_t>& chain = *chain_room;
    size_t at = 0, before = 0;
    for (;;) {
        if (border.empty() || at >= border.size()) return false;
        const int b = border[at];
        if (what(b) != piece) {
            border.erase(border.begin() + static_cast<long>(at));
            at = before;
            continue;
        }
        int next = -1;
        for (int d : DirectionList(c, *loop.directions, loop.kind, b)) {
            for (int x : steps_of(program, loop.kind, b, d)) {
                const auto found = std::find(border.begin(), border.end(), x);
                if (found != border.end() && what(x) == piece) {
                    next = static_cast<int>(found - border.begin());
                    break;
                }
            }
            if (next >= 0) break;
        }
        if (next < 0) {
            border.erase(border.begin() + static_cast<long>(at));
            const auto gone = std::find(chain.begin(), chain.end(), b);
            if (gone != chain.end()) chain.erase(gone);
            at = before;
            continue;
        }
        chain.push_back(b);
        if (chain.size() == border.size()) return true;
        before = at;
        at = static_cast<size_t>(next);
    }
}

}  // namespace

void add_group_conditions(Makers<BoolPtr>& m) {
    m["is Connected"] = [](Reader& r) {
        auto connected = std::make_shared<Connected>(r);
        return make_bool([connected](Context& c) { return connected->eval(c); });
    };
    m["is Loop"] = [](Reader& r) {
        auto loop = std::make_shared<Loop>();
        loop->kind = r.kind();
        const std::vector<int32_t> roles = r.numbers();
        loop->directions = r.directions();
        loop->colour = r.integer();
        loop->start = r.integer();
        loop->outer = r.sites();
        loop->ways = std::make_unique<Ways>(r.program, loop->kind, all_orthogonal());
        loop->surrounds = !roles.empty();
        return make_bool([loop, roles](Context& c) {
            const int start = loop->start->eval(c);
            if (!on_board(c.program, loop->kind, start)) return false;
            const int piece = c.state.what(c.state.place(loop->kind, start));
            if (piece == 0) return false;
            uint32_t surround = 0;
            for (int role : roles) {
                const int id = c.program.id_of(c, role);
                if (id >= 0) surround |= 1u << id;
            }
            const int colour = loop->colour->eval(c);
            const NumberBuffer candidates_room(c);
            std::vector<int32_t>& candidates = *candidates_room;
            for (int x : steps_of(c.program, loop->kind, start, direction::Adjacent)) {
                if (loop->outer.has(static_cast<uint32_t>(x))) continue;
                const int who = c.state.who(c.state.place(loop->kind, x));
                if (loop->surrounds && !(surround >> who & 1)) continue;
                candidates.push_back(x);
            }
            // What is connected with the outside is not shut in.
            SiteSet open, outside;
            const uint32_t words = c.program.words();
            const bool quick = !loop->surrounds && loop->ways->can_flood();
            outside.clear(words);
            if (quick) {
                open.clear(words);
                const auto& owners = c.program.board.owners;
                const auto owner = static_cast<uint8_t>(c.state.owner_of(piece));
                if (!c.state.stacking() && std::count(owners.begin(), owners.end(), owner) == 1) {
                    sites_of_places(c.program, loop->kind, c.state.owned(owner), open);
                    for (uint32_t w = 0; w < words; ++w) open.bits[w] = ~open.bits[w];
                    keep_board(c.program, loop->kind, open);
                } else {
                    const auto count = static_cast<int>(c.program.board.tables[loop->kind].count);
                    for (int s = 0; s < count; ++s)
                        if (c.state.what(c.state.place(loop->kind, s)) != piece)
                            open.add(static_cast<uint32_t>(s));
                }
            }
            // Whether a site is connected with the outside. What a stone of a ring is connected
            // with is on both sides of it, and not noted.
            auto is_outside = [&](int site) {
                if (outside.has(static_cast<uint32_t>(site))) return true;
                const bool is_open = open.has(static_cast<uint32_t>(site));
                const uint64_t* beside = loop->ways->neighbours(site);
                uint64_t common = 0;
                for (uint32_t w = 0; w < loop->ways->words(); ++w)
                    common |= beside[w] & outside.bits[w];
                if (common && is_open) outside.add(static_cast<uint32_t>(site));
                if (common) return true;
                SiteSet inside;
                inside.clear(words);
                if (!loop->ways->flood_until(open, site, &loop->outer, inside)) return false;
                for (uint32_t w = 0; w < words && is_open; ++w) outside.bits[w] |= inside.bits[w];
                return true;
            };
            // Those first that tell something of the others.
            if (quick)
                std::partition(candidates.begin(), candidates.end(),
                               [&](int site) { return open.has(static_cast<uint32_t>(site)); });
            return std::any_of(candidates.begin(), candidates.end(), [&](int site) {
                return !(quick && is_outside(site)) &&
                       loop_around(c, *loop, surround, site, piece, colour);
            });
        });
    };
    m["all Groups"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto of = r.boolean(), test = r.boolean();
        return make_bool([=, of = std::move(of), test = std::move(test)](Context& c) {
            const uint32_t words = c.program.words();
            const auto count = static_cast<int>(c.program.board.tables[kind].count);
            const int mover = c.scalars().mover;
            SiteSet seen;
            seen.clear(words);
            const Keep keep_to(c.registers.to), keep_from(c.registers.from);
            const SiteSet* before = c.registers.region;
            for (int site = 0; site < count; ++site) {
                const int place = c.state.place(kind, site);
                if (c.state.what(place) == 0 || seen.has(static_cast<uint32_t>(site))) continue;
                if (!of && c.state.who(place) != mover) continue;
                c.registers.from = c.registers.to = site;
                if (of && !of->eval(c)) continue;
                Group group(words);
                grow_group(c, *ways, site, group, [&](int next) {
                    if (!of) return c.state.who(c.state.place(kind, next)) == mover;
                    c.registers.to = next;
                    return of->eval(c);
                });
                for (uint32_t w = 0; w < words; ++w) seen.bits[w] |= group.inside.bits[w];
                c.registers.region = &group.inside;
                const bool fine = test->eval(c);
                c.registers.region = before;
                if (!fine) return false;
            }
            return true;
        });
    };
}

}  // namespace omnilude::ludeme
