// Regions around, along, between or connected to sites.
#include <algorithm>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

struct Around {
    Kind kind;
    ArrayPtr origins;
    int what;  // 0: all; 1 Empty, 2 NotEmpty, 3 Own, 4 Enemy, 5 NotEnemy, 6 NotOwn
    IntPtr distance;
    int direction;
    BoolPtr test, include_self;
};

bool around_fits(const Context& c, int what, int piece) {
    const auto players = static_cast<int>(c.program.players());
    const int mover = c.scalars().mover;
    const int owner = c.program.board.components[static_cast<size_t>(piece)].owner;
    const bool shared = owner == players + 1;
    auto enemy = [&] {
        if (piece == 0 || owner < 1 || owner > players) return false;
        if (!c.program.has_teams()) return owner != mover;
        return c.state.team(static_cast<uint32_t>(owner)) !=
               c.state.team(static_cast<uint32_t>(mover));
    };
    switch (what) {
        case 1:
            return piece == 0;
        case 2:
            return piece != 0;
        case 3:
            return piece != 0 && (owner == mover || shared);
        case 4:
            return enemy();
        case 5:
            if (!c.program.has_teams()) return piece != 0 && (owner == mover || shared);
            return enemy() || (piece != 0 && shared);
        case 6:
            return piece != 0 && owner != mover && !shared;
        default:
            return true;
    }
}

void around(Context& c, const Around& a, SiteSet& out) {
    out.clear(c.program.words());
    const NumberBuffer origins_room(c);
    std::vector<int32_t>& origins = *origins_room;
    a.origins->eval(c, origins);
    if (origins.empty() || origins[0] < 0) return;
    const int distance = a.distance ? a.distance->eval(c) : 1;
    {
        const Keep keep_from(c.registers.from), keep_to(c.registers.to);
        for (int origin : origins) {
            if (!on_board(c.program, a.kind, origin)) continue;
            c.registers.from = origin;
            for (int number : rays_of(c.program, a.kind, origin, a.direction)) {
                const auto sites = ray(c.program, a.kind, number);
                if (distance < 0 || sites.size() <= static_cast<size_t>(distance)) continue;
                const int x = sites[static_cast<size_t>(distance)];
                c.registers.to = x;
                if (a.test && !a.test->eval(c)) continue;
                if (a.what && !around_fits(c, a.what, c.state.what(c.state.place(a.kind, x))))
                    continue;
                add_site(c, out, x);
            }
        }
    }
    const bool self = a.include_self && a.include_self->eval(c);
    for (int origin : origins) {
        if (origin < 0) continue;
        if (self)
            add_site(c, out, origin);
        else if (static_cast<uint32_t>(origin) < c.program.words() * 64)
            out.remove(static_cast<uint32_t>(origin));
    }
}

}  // namespace

void add_surroundings(Makers<RegionPtr>& m) {
    m["sites Walk"] = [](Reader& r) {  // by site: where turtle walks end
        auto start = r.integer();
        std::vector<std::vector<int32_t>> ends(static_cast<size_t>(r.number()));
        for (auto& list : ends) list = r.numbers();
        return make_region(
            [start = std::move(start), ends = std::move(ends)](Context& c, SiteSet& out) {
                out.clear(c.program.words());
                const int s = start->eval(c);
                if (s < 0 || static_cast<size_t>(s) >= ends.size()) return;
                for (int site : ends[static_cast<size_t>(s)]) add_site(c, out, site);
            });
    };
    m["sites Around"] = [](Reader& r) {
        auto a = std::make_shared<Around>();
        a->kind = r.kind();
        a->origins = r.array();
        a->what = r.number();
        a->distance = r.integer();
        a->direction = r.number();
        a->test = r.boolean();
        a->include_self = r.boolean();
        return make_region([a](Context& c, SiteSet& out) { around(c, *a, out); });
    };
    m["sites Direction"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto origins = r.array();
        auto directions = r.directions();
        auto included = r.boolean(), stop = r.boolean(), stop_included = r.boolean();
        auto distance = r.integer();
        return make_region([=, origins = std::move(origins), directions = std::move(directions),
                            included = std::move(included), stop = std::move(stop),
                            stop_included = std::move(stop_included),
                            distance = std::move(distance)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const NumberBuffer starts_room(c);
            std::vector<int32_t>& starts = *starts_room;
            origins->eval(c, starts);
            const int most = distance ? distance->eval(c) : 1000;
            const bool with_start = included && included->eval(c);
            const Keep keep(c.registers.to);
            for (int start : starts) {
                if (!on_board(c.program, kind, start)) continue;
                if (with_start) add_site(c, out, start);
                for (int d : DirectionList(c, *directions, kind, start))
                    for (int number : rays_of(c.program, kind, start, d)) {
                        const auto sites = ray(c.program, kind, number);
                        for (size_t n = 1; n < sites.size() && static_cast<int>(n) <= most; ++n) {
                            c.registers.to = sites[n];
                            if (stop && stop->eval(c)) {
                                if (stop_included && stop_included->eval(c))
                                    add_site(c, out, sites[n]);
                                break;
                            }
                            add_site(c, out, sites[n]);
                        }
                    }
            }
        });
    };
    m["sites Distance"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto start = r.integer();
        auto range = r.range();
        return make_region(
            [=, start = std::move(start), range = std::move(range)](Context& c, SiteSet& out) {
                out.clear(c.program.words());
                const int from = start->eval(c);
                int low = 0, high = 0;
                range->eval(c, low, high);
                if (!on_board(c.program, kind, from) || low < 0) return;
                const SiteTables& t = c.program.board.tables[kind];
                const int32_t* row = t.distance.data() + static_cast<size_t>(from) * t.count;
                for (int site = 0; site < static_cast<int>(t.count); ++site) {
                    const int steps = row[site];
                    if (steps == 0 && site != from) continue;  // cannot be reached
                    if (steps >= low && steps <= high) add_site(c, out, site);
                }
            });
    };
    m["sites LineOfSight"] = [](Reader& r) {
        const int what = r.number();  // 0 Piece, 1 Empty, 2 Farthest
        auto start = r.integer();
        auto directions = r.directions();
        return make_region([what, start = std::move(start), directions = std::move(directions)](
                               Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const Kind kind = c.program.board.kind;
            const int s = start->eval(c);
            if (!on_board(c.program, kind, s)) return;
            for (int d : DirectionList(c, *directions, kind, s))
                for (int number : rays_of(c.program, kind, s, d)) {
                    const auto sites = ray(c.program, kind, number);
                    int last = off;
                    for (size_t n = 1; n < sites.size(); ++n) {
                        if (c.state.what(c.state.place(kind, sites[n])) != 0) {
                            if (what == 0) add_site(c, out, sites[n]);
                            break;
                        }
                        last = sites[n];
                        if (what == 1) add_site(c, out, last);
                    }
                    if (what == 2) add_site(c, out, last);
                }
        });
    };
    m["sites Group"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto origins = r.array();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        auto test = r.boolean();
        return make_region(
            [=, origins = std::move(origins), test = std::move(test)](Context& c, SiteSet& out) {
                out.clear(c.program.words());
                const NumberBuffer starts_room(c);
                std::vector<int32_t>& starts = *starts_room;
                origins->eval(c, starts);
                const Keep keep_to(c.registers.to), keep_from(c.registers.from);
                const int outer = c.registers.from;
                for (int start : starts) {
                    if (!on_board(c.program, kind, start)) continue;
                    const int what = c.state.what(c.state.place(kind, start));
                    c.registers.from = outer;
                    c.registers.to = start;
                    if (test && !test->eval(c)) continue;
                    c.registers.from = start;
                    Group group(c.program.words());
                    grow_group(c, *ways, start, group, [&](int next) {
                        if (!test) return c.state.what(c.state.place(kind, next)) == what;
                        c.registers.to = next;
                        return test->eval(c);
                    });
                    for (uint32_t w = 0; w < c.program.words(); ++w)
                        out.bits[w] |= group.inside.bits[w];
                }
            });
    };
    m["sites Incident"] = [](Reader& r) {  // lists by element
        auto site = r.integer();
        const Kind kind = r.kind();
        std::vector<std::vector<int32_t>> lists(static_cast<size_t>(r.number()));
        for (auto& list : lists) list = r.numbers();
        auto owner = r.integer();
        return make_region([=, site = std::move(site), lists = std::move(lists),
                            owner = std::move(owner)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int s = site->eval(c);
            if (s < 0 || static_cast<size_t>(s) >= lists.size()) return;
            const int wanted = owner ? owner->eval(c) : -1;
            const auto everybody = static_cast<int>(c.program.players()) + 1;
            for (int x : lists[static_cast<size_t>(s)]) {
                const int place = c.state.place(kind, x);
                const int who = place < 0 ? 0 : c.state.who(place);
                if (!owner || who == wanted || (wanted == everybody && who != 0))
                    add_site(c, out, x);
            }
        });
    };
    // Empty sites beside pieces; at first, where a game without a board begins, its centre.
    m["sites Playable"] = [](Reader& r) {
        const Kind kind = r.kind();
        const std::vector<int32_t> centre = r.numbers();
        const bool boardless = r.flag();
        if (boardless) r.program.first_site = centre.empty() ? -1 : centre[0];
        auto ways = std::make_shared<Ways>(r.program, kind, all_adjacent());
        return make_region([=](Context& c, SiteSet& out) {
            const uint32_t words = c.program.words();
            SiteSet empty;
            sites_of_places(c.program, kind, c.state.empties(), empty);
            keep_board(c.program, kind, empty);
            out.clear(words);
            const auto count = c.program.board.tables[kind].count;
            const bool begins = boardless ? empty.count(words) == count : c.scalars().plies == 0;
            if (begins) {
                for (int site : centre) add_site(c, out, site);
                return;
            }
            SiteSet pieces;
            for (uint32_t w = 0; w < words; ++w) pieces.bits[w] = ~empty.bits[w];
            keep_board(c.program, kind, pieces);
            pieces.each(words, [&](int site) {
                const uint64_t* around = ways->beside(c, site);
                for (uint32_t w = 0; w < ways->words(); ++w) out.bits[w] |= around[w];
            });
            for (uint32_t w = 0; w < words; ++w) out.bits[w] &= empty.bits[w];
        });
    };
    m["sites Between"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto directions = r.directions();
        auto from = r.integer(), to = r.integer();
        auto with_from = r.boolean(), with_to = r.boolean(), test = r.boolean();
        return make_region([=, directions = std::move(directions), from = std::move(from),
                            to = std::move(to), with_from = std::move(with_from),
                            with_to = std::move(with_to),
                            test = std::move(test)](Context& c, SiteSet& out) {
            out.clear(c.program.words());
            const int a = from->eval(c), b = to->eval(c);
            if (!on_board(c.program, kind, a) || !on_board(c.program, kind, b)) return;
            const Keep k1(c.registers.from), k2(c.registers.to), k3(c.registers.between);
            c.registers.from = a;
            c.registers.to = b;
            if (with_from && with_from->eval(c)) add_site(c, out, a);
            if (with_to && with_to->eval(c)) add_site(c, out, b);
            for (int d : DirectionList(c, *directions, kind, a))
                for (int number : rays_of(c.program, kind, a, d)) {
                    const auto sites = ray(c.program, kind, number);
                    const auto at = std::find(sites.begin() + 1, sites.end(), b);
                    if (at == sites.end()) continue;
                    for (auto x = at; --x != sites.begin();) {
                        c.registers.between = *x;
                        if (!test || test->eval(c)) add_site(c, out, *x);
                    }
                    return;
                }
        });
    };
    auto of_moves = [&m](const char* name, bool from) {
        m[name] = [from](Reader& r) {
            auto moves = r.moves();
            return make_region([from, moves = std::move(moves)](Context& c, SiteSet& out) {
                out.clear(c.program.words());
                const Arena::Mark mark = c.arena.mark();
                MoveList list;
                moves->eval(c, list);
                for (uint32_t n = list.first; n != none; n = c.arena.move(n).next)
                    add_site(c, out, from ? c.arena.move(n).from : c.arena.move(n).to);
                c.arena.release(mark);
            });
        };
    };
    of_moves("sites From", true);
    of_moves("sites To", false);
    m["sites Track"] = [](Reader& r) {
        const int fixed = r.number();  // track, or -1: by owner or register
        const std::vector<int32_t> by_owner = r.numbers();
        auto who = r.integer(), from = r.integer(), to = r.integer();
        return make_region([=, who = std::move(who), from = std::move(from), to = std::move(to)](
                               Context& c, SiteSet& out) {
            out.clear(c.program.words());
            int number = fixed;
            if (number < 0 && c.registers.track >= 0) number = c.registers.track;
            if (number < 0 && who) {
                const int owner = who->eval(c);
                if (owner >= 0 && static_cast<size_t>(owner) < by_owner.size())
                    number = by_owner[static_cast<size_t>(owner)];
            }
            if (number < 0) return;
            const auto& elements = c.program.board.tracks[static_cast<size_t>(number)].elements;
            const int a = from ? from->eval(c) : off, b = to ? to->eval(c) : off;
            size_t first = 0;
            if (from && a != off) {
                while (first < elements.size() && elements[first].site != a) ++first;
                if (first == elements.size()) return;
            }
            bool met = false;
            for (size_t n = first; n < elements.size() && !met; ++n) {
                add_site(c, out, elements[n].site);
                met = to && elements[n].site == b;
            }
            if (!met)
                for (size_t n = 0; n < first && !met; ++n) {
                    add_site(c, out, elements[n].site);
                    met = to && elements[n].site == b;
                }
        });
    };
    m["expand"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto region = r.region();
        auto steps = r.integer();
        const int direction = r.number();
        return make_region(
            [=, region = std::move(region), steps = std::move(steps)](Context& c, SiteSet& out) {
                region->eval(c, out);
                const int count = steps ? steps->eval(c) : 1;
                for (int n = 0; n < count; ++n) {
                    SiteSet before;
                    before.copy(out, c.program.words());
                    before.each(c.program.words(), [&](int site) {
                        if (!on_board(c.program, kind, site)) return;
                        for (int next : steps_of(c.program, kind, site, direction))
                            add_site(c, out, next);
                    });
                }
            });
    };
}

}  // namespace omnilude::ludeme
