// Ludemes that count: sites, pieces, groups, liberties, steps.
#include <algorithm>
#include <limits>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

// The sites of an argument that is a site or a region.
void gather(Context& c, const IntNode* site, const RegionNode* region, SiteSet& out) {
    if (region) {
        region->eval(c, out);
        return;
    }
    out.clear(c.program.words());
    add_site(c, out, site->eval(c));
}

struct PieceCount {
    int kind;  // or -1: board and hands
    IntPtr of;
    int role;  // or -1: `of` counts
    std::vector<int32_t> components;
    bool named;
    RegionPtr in;
    BoolPtr test;
    std::vector<uint64_t> elsewhere;  // places of the board that are not of its own kind
};

std::shared_ptr<PieceCount> read_piece_count(Reader& r) {
    auto p = std::make_shared<PieceCount>();
    p->kind = r.number();
    p->role = r.number();
    p->of = r.integer();
    p->named = r.flag();
    p->components = r.numbers();
    p->in = r.region();
    p->test = r.boolean();
    const Board& board = r.program.board;
    p->elsewhere.assign(r.program.words(), 0);
    for (uint32_t k = 0; k < kinds; ++k)
        for (uint32_t n = 0; n < r.program.layout.layer_size[k]; ++n) {
            const bool in_hand =
                k == Cell && n < board.container_of.size() && board.container_of[n] != 0;
            if (k == static_cast<uint32_t>(board.kind) || in_hand) continue;
            const uint32_t place = r.program.layout.layer[k] + n;
            p->elsewhere[place >> 6] |= uint64_t{1} << (place & 63);
        }
    return p;
}

// Where pieces of a kind that is not named stand on another than the board's, the reference system
// asks for what is on the site of the board's own kind with that number; every number once.
int named_place(const Context& c, uint32_t n) {
    const Board& board = c.program.board;
    const bool in_hand = n < board.container_of.size() && board.container_of[n] != 0;
    const Kind kind = in_hand ? Cell : board.kind;
    if (n >= c.program.layout.layer_size[kind]) return -1;
    return static_cast<int>(c.program.layout.layer[kind] + n);
}

bool meets(const uint64_t* places, const std::vector<uint64_t>& others) {
    uint64_t both = 0;
    for (size_t w = 0; w < others.size(); ++w) both |= places[w] & others[w];
    return both != 0;
}

// Places with a piece of an owner: everywhere, or on the sites of the board of one kind.
int count_owned(const Context& c, uint32_t owner, int kind) {
    const uint64_t* places = c.state.owned(owner);
    if (kind < 0) {
        int total = 0;
        for (uint32_t w = 0; w < c.program.words(); ++w) total += std::popcount(places[w]);
        return total;
    }
    SiteSet sites;
    sites_of_places(c.program, static_cast<Kind>(kind), places, sites);
    keep_board(c.program, static_cast<Kind>(kind), sites);
    return static_cast<int>(sites.count(c.program.words()));
}

int count_pieces(Context& c, const PieceCount& p, bool any) {
    uint32_t ids = 0;
    if (p.role >= 0) {
        ids = c.program.ids_of(c, p.role);
    } else {
        ids = owner_bit(p.of->eval(c));
    }
    const State& s = c.state;
    const Layout& layout = c.program.layout;
    bool by_number = false;
    for (uint32_t owner = 0; owner < layout.owners && p.kind < 0; ++owner)
        by_number |= (ids >> owner & 1) && meets(s.owned(owner), p.elsewhere);
    if (!by_number && !p.in && !p.test && !p.named && !s.stacking() && !layout.wants.count) {
        int total = 0;
        for (uint32_t owner = 0; owner < layout.owners; ++owner)
            if (ids >> owner & 1) total += count_owned(c, owner, p.kind);
        return total;
    }
    SiteSet inside;
    if (p.in) p.in->eval(c, inside);
    const Keep keep_site(c.registers.site), keep_level(c.registers.level);
    auto fits = [&](int piece) {
        return !p.named ||
               std::find(p.components.begin(), p.components.end(), piece) != p.components.end();
    };
    int total = 0;
    for (uint32_t owner = 0; owner < layout.owners; ++owner) {
        if (!(ids >> owner & 1)) continue;
        const uint64_t* places = s.owned(owner);
        SiteSet seen;
        if (by_number) seen.clear(c.program.words());
        for (uint32_t k = 0; k < kinds; ++k) {
            if (!layout.layer_size[k]) continue;
            if (p.kind >= 0 && static_cast<int>(k) != p.kind) continue;
            for (uint32_t n = 0; n < layout.layer_size[k]; ++n) {
                const uint32_t place = layout.layer[k] + n;
                if (!(places[place >> 6] >> (place & 63) & 1)) continue;
                if (p.kind >= 0 && n >= c.program.board.tables[k].count) continue;
                if (p.in && !inside.has(n)) continue;
                c.registers.site = static_cast<int>(n);
                int at = static_cast<int>(place);
                if (by_number) {
                    at = seen.has(n) ? -1 : named_place(c, n);
                    seen.add(n);
                    if (at < 0) continue;
                }
                if (!s.stacking()) {
                    const int who = s.who(at);
                    if (!(ids >> who & 1) || !fits(s.what(at))) continue;
                    if (p.test && !p.test->eval(c)) continue;
                    total += s.count(at);
                } else {
                    for (int level = 0; level < s.height(at); ++level) {
                        if (!(ids >> s.who(at, level) & 1) || !fits(s.what(at, level))) continue;
                        c.registers.level = level;
                        if (p.test && !p.test->eval(c)) continue;
                        ++total;
                    }
                }
                if (any && total) return total;
            }
        }
    }
    return total;
}

// Groups of sites that pass a test; `visit` gets the size of each.
template <class Visit>
void each_group(Context& c, const Ways& ways, const BoolNode* test, const RegionNode* within,
                Visit&& visit) {
    const Kind kind = ways.kind();
    const uint32_t words = c.program.words();
    SiteSet passing;
    if (!test || !test->sites_where(c, &Registers::to, kind, passing)) {
        const auto count = static_cast<int>(c.program.board.tables[kind].count);
        const Keep keep(c.registers.to);
        passing.clear(words);
        for (int site = 0; site < count; ++site) {
            c.registers.to = site;
            const bool fits = test ? test->eval(c) : c.state.what(c.state.place(kind, site)) != 0;
            if (fits) passing.add(static_cast<uint32_t>(site));
        }
    }
    SiteSet starts;
    starts.copy(passing, words);
    if (within) {
        within->eval(c, starts);
        for (uint32_t w = 0; w < words; ++w) starts.bits[w] &= passing.bits[w];
    }
    for (int site = starts.first(words); site >= 0; site = starts.first(words)) {
        SiteSet inside;
        inside.clear(words);
        if (!ways.flood(c, passing, site, inside)) {
            Group group(words);
            grow_group(c, ways, site, group,
                       [&](int next) { return passing.has(static_cast<uint32_t>(next)); });
            inside.copy(group.inside, words);
        }
        for (uint32_t w = 0; w < words; ++w) {
            starts.bits[w] &= ~inside.bits[w];
            // What is joined by steps that do not lead back belongs to the first group alone.
            passing.bits[w] &= ~inside.bits[w];
        }
        visit(static_cast<int>(inside.count(words)));
    }
}

int count_liberties(Context& c, const Ways& ways, int start, const BoolNode* test) {
    const Kind kind = ways.kind();
    if (!on_board(c.program, kind, start)) return 0;
    const uint32_t words = c.program.words();
    const Keep keep_to(c.registers.to), keep_from(c.registers.from);
    const int what = c.state.what(c.state.place(kind, start));
    c.registers.from = c.registers.to = start;
    if (test && !test->eval(c)) return 0;
    Group group(words);
    grow_group(c, ways, start, group, [&](int next) {
        if (c.state.what(c.state.place(kind, next)) != what) return false;
        c.registers.to = next;
        return !test || test->eval(c);
    });
    SiteSet liberties;
    liberties.clear(words);
    int found = 0;
    WayBuffer buffer;
    for (uint32_t n = 0; n < group.size; ++n)
        for (int next : ways.steps(c, group.sites[n], buffer)) {
            const auto at = static_cast<uint32_t>(next);
            if (group.has(next) || liberties.has(at)) continue;
            if (c.state.what(c.state.place(kind, next)) != 0) continue;
            liberties.add(at);
            ++found;
        }
    return found;
}

// Whether a group has more liberties than none: one is enough to know.
bool has_liberty(Context& c, const Ways& ways, int start) {
    const Kind kind = ways.kind();
    if (!on_board(c.program, kind, start)) return false;
    const int what = c.state.what(c.state.place(kind, start));
    if (what == 0) return false;  // what is empty around it belongs to the group
    if (ways.can_flood() && !c.state.stacking()) {
        SiteSet open, nothing;
        sites_of_places(c.program, kind, c.state.empties(), open);
        nothing.clear(c.program.words());
        if (ways.touches(nothing, start, open)) return true;
    }
    Group group(c.program.words());
    group.add(start);
    WayBuffer buffer;
    for (uint32_t n = 0; n < group.size; ++n)
        for (int next : ways.steps(c, group.sites[n], buffer)) {
            const int there = c.state.what(c.state.place(kind, next));
            if (there == 0 && !group.has(next)) return true;
            if (there == what && !group.has(next)) group.add(next);
        }
    return false;
}

// The least number of steps to a site of a set, each to where a test holds.
int count_steps(Context& c, const Ways& ways, const BoolNode* test, int start,
                const SiteSet& ends) {
    constexpr int never = 1'000'000'000;
    if (ends.empty(c.program.words())) return 0;
    if (!on_board(c.program, ways.kind(), start)) return never;
    if (ends.has(static_cast<uint32_t>(start))) return 0;
    const Keep keep_from(c.registers.from), keep_to(c.registers.to);
    Group reached(c.program.words());
    reached.add(start);
    WayBuffer buffer;
    int steps = 0;
    for (uint32_t n = 0; n < reached.size;) {
        ++steps;
        for (const uint32_t last = reached.size; n < last; ++n)
            for (int next : ways.steps(c, reached.sites[n], buffer)) {
                if (reached.has(next)) continue;
                c.registers.from = reached.sites[n];
                c.registers.to = next;
                if (test && !test->eval(c)) continue;
                if (ends.has(static_cast<uint32_t>(next))) return steps;
                reached.add(next);
            }
    }
    return never;
}

struct Liberties final : IntNode {
    Kind kind;
    IntPtr site;
    Ways ways;
    BoolPtr test;
    explicit Liberties(Reader& r)
        : kind(r.kind()),
          site(r.integer()),
          ways(r.program, kind, r.directions()),
          test(r.boolean()) {}
    int eval(Context& c) const override {
        return count_liberties(c, ways, site->eval(c), test.get());
    }
    bool is_positive(Context& c) const override {
        return test ? eval(c) > 0 : has_liberty(c, ways, site->eval(c));
    }
};

}  // namespace

void add_count_functions(Makers<IntPtr>& m) {
    m["count"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = r.integer();
        auto region = r.region();
        return make_int([=, site = std::move(site), region = std::move(region)](Context& c) {
            SiteSet sites;
            gather(c, site.get(), region.get(), sites);
            int total = 0;
            sites.each(c.program.words(), [&](int s) {
                const int place = c.state.place(kind, s);
                if (place < 0) return;
                total += c.state.stacking() ? c.state.height(place) : c.state.count(place);
            });
            return total;
        });
    };
    m["size Stack"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = r.integer();
        auto region = r.region();
        return make_int([=, site = std::move(site), region = std::move(region)](Context& c) {
            SiteSet sites;
            gather(c, site.get(), region.get(), sites);
            int total = 0;
            sites.each(c.program.words(), [&](int s) {
                const int place = c.state.place_anywhere(kind, s);
                if (place >= 0) total += c.state.height(place);
            });
            return total;
        });
    };
    m["count Sites"] = [](Reader& r) {
        auto region = r.region();
        return make_int([region = std::move(region)](Context& c) {
            SiteSet sites;
            region->eval(c, sites);
            return static_cast<int>(sites.count(c.program.words()));
        });
    };
    m["count Pieces"] = [](Reader& r) {
        auto p = read_piece_count(r);
        return make_int([p](Context& c) { return count_pieces(c, *p, false); });
    };
    m["some Pieces"] = [](Reader& r) {
        auto p = read_piece_count(r);
        return make_int([p](Context& c) { return count_pieces(c, *p, true); });
    };
    m["count Pips"] = [](Reader& r) {
        auto who = r.integer();
        return make_int([who = std::move(who)](Context& c) {
            const int owner = who->eval(c);
            const auto& containers = c.program.board.containers;
            for (const Container& box : containers) {
                if (!box.dice || box.owner != owner) continue;
                int sum = 0;
                for (uint32_t n = 0; n < box.sites; ++n) {
                    const int place = c.state.place(Cell, static_cast<int>(box.first_site + n));
                    sum += c.program.board.face(c.state.what(place), c.state.state(place), 0);
                }
                return sum;
            }
            return 0;
        });
    };
    m["count Groups"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto test = r.boolean();
        auto least = r.integer();
        return make_int([=, test = std::move(test), least = std::move(least)](Context& c) {
            const int smallest = least ? least->eval(c) : 0;
            int groups = 0;
            each_group(c, *ways, test.get(), nullptr,
                       [&](int size) { groups += size >= smallest; });
            return groups;
        });
    };
    m["count SizeBiggestGroup"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto region = r.region();
        auto test = r.boolean();
        return make_int([=, region = std::move(region), test = std::move(test)](Context& c) {
            int biggest = 0;
            each_group(c, *ways, test.get(), region.get(),
                       [&](int size) { biggest = std::max(biggest, size); });
            return biggest;
        });
    };
    m["count Liberties"] = [](Reader& r) { return IntPtr(std::make_unique<Liberties>(r)); };
    m["size Group"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = r.integer();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto test = r.boolean();
        return make_int([=, site = std::move(site), test = std::move(test)](Context& c) {
            const int start = site->eval(c);
            if (!on_board(c.program, kind, start)) return 0;
            const Keep keep_to(c.registers.to), keep_from(c.registers.from);
            const int what = c.state.what(c.state.place(kind, start));
            c.registers.from = c.registers.to = start;
            if (test && !test->eval(c)) return 0;
            Group group(c.program.words());
            grow_group(c, *ways, start, group, [&](int next) {
                if (!test) return c.state.what(c.state.place(kind, next)) == what;
                c.registers.to = next;
                return test->eval(c);
            });
            return static_cast<int>(group.size);
        });
    };
    m["size Territory"] = [](Reader& r) {
        const Kind kind = r.kind();
        const int role = r.number();
        const int direction = r.number();
        return make_int([=](Context& c) {
            const uint32_t ids = c.program.ids_of(c, role), words = c.program.words();
            const auto count = static_cast<int>(c.program.board.tables[kind].count);
            SiteSet seen;
            seen.clear(words);
            int total = 0;
            const NumberBuffer group_room(c);
            std::vector<int32_t>& group = *group_room;
            for (int start = 0; start < count; ++start) {
                if (seen.has(static_cast<uint32_t>(start))) continue;
                if (c.state.what(c.state.place(kind, start)) != 0) continue;
                group.assign(1, start);
                seen.add(static_cast<uint32_t>(start));
                bool theirs = true;
                for (size_t n = 0; n < group.size(); ++n)
                    for (int next : steps_of(c.program, kind, group[n], direction)) {
                        const int place = c.state.place(kind, next);
                        if (c.state.what(place) == 0) {
                            if (seen.has(static_cast<uint32_t>(next))) continue;
                            seen.add(static_cast<uint32_t>(next));
                            group.push_back(next);
                        } else {
                            theirs &= (ids >> c.state.who(place) & 1) != 0;
                        }
                    }
                if (theirs) total += static_cast<int>(group.size());
            }
            return total;
        });
    };
    m["count Steps"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto from = r.integer();
        auto to = r.integer();
        auto region = r.region();
        return make_int([=, from = std::move(from), to = std::move(to),
                         region = std::move(region)](Context& c) {
            const int a = from->eval(c);
            if (!on_board(c.program, kind, a)) return 0;
            SiteSet sites;
            gather(c, to.get(), region.get(), sites);
            keep_board(c.program, kind, sites);
            if (sites.empty(c.program.words())) return 0;
            const SiteTables& t = c.program.board.tables[kind];
            int least = std::numeric_limits<int>::max();
            sites.each(c.program.words(), [&](int b) {
                least = std::min(
                    least, t.distance[static_cast<size_t>(a) * t.count + static_cast<size_t>(b)]);
            });
            return least;
        });
    };
    m["count Steps by"] = [](Reader& r) {  // steps of a kind that a move has
        const Kind kind = r.kind();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto test = r.boolean();
        auto from = r.integer();
        auto to = r.integer();
        auto region = r.region();
        return make_int([=, test = std::move(test), from = std::move(from), to = std::move(to),
                         region = std::move(region)](Context& c) {
            const int a = from->eval(c);
            if (a < 0) return 0;
            SiteSet ends;
            gather(c, to.get(), region.get(), ends);
            return count_steps(c, *ways, test.get(), a, ends);
        });
    };
    m["count Stack"] = [](Reader& r) {
        const Kind kind = r.kind();
        const bool from_top = r.flag();
        auto site = r.integer();
        auto region = r.region();
        auto test = r.boolean(), stop = r.boolean();
        return make_int([=, site = std::move(site), region = std::move(region),
                         test = std::move(test), stop = std::move(stop)](Context& c) {
            SiteSet sites;
            gather(c, site.get(), region.get(), sites);
            const Keep keep_to(c.registers.to), keep_level(c.registers.level);
            int total = 0;
            sites.each(c.program.words(), [&](int s) {
                const int place = c.state.place_anywhere(kind, s);
                if (place < 0) return;
                const int height = c.state.height(place);
                for (int n = 0; n < height; ++n) {
                    c.registers.to = s;
                    c.registers.level = from_top ? height - 1 - n : n;
                    if (stop && stop->eval(c)) break;
                    total += !test || test->eval(c);
                }
            });
            return total;
        });
    };
}

}  // namespace omnilude::ludeme
