// Ludemes that are conditions.
#include <algorithm>
#include <cstring>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

struct Always final : BoolNode {
    bool value;
    explicit Always(bool v) : value(v) {}
    bool eval(Context&) const override { return value; }
    const bool* constant() const override { return &value; }
};

template <class F>
void add_flag(Makers<BoolPtr>& m, const char* name, F f) {
    m[name] = [f](Reader&) { return make_bool([f](Context& c) { return f(c); }); };
}

bool same_sets(Context& c, const RegionNode& a, const RegionNode& b) {
    SiteSet x, y;
    a.eval(c, x);
    b.eval(c, y);
    return std::memcmp(x.bits, y.bits, c.program.words() * sizeof(uint64_t)) == 0;
}

// Whether the player that moves next could not move at all.
bool next_is_stuck(Context& c) {
    if (c.no_moves_test) return false;
    Scalars& k = c.scalars();
    const int mover = k.mover, next = k.next, previous = k.previous;
    c.no_moves_test = true;
    if (!k.over && k.active) {
        const auto n = static_cast<int>(c.program.players());
        k.previous = mover;
        k.mover = next;
        int following = k.mover % n + 1;
        for (int tried = 0; tried < n && !(k.active >> following & 1); ++tried)
            following = following % n + 1;
        k.next = following;
    }
    c.program.compute_stalemate(c);
    c.no_moves_test = false;
    k.previous = previous;
    k.mover = mover;
    k.next = next;
    return k.stalemated >> next & 1;
}

// Whether an enemy of a player could move to a site. All that is set for it is put back.
bool attacked_at(Context& c, int owner, int site, const MovesNode* moves, bool set_next) {
    const Program& program = c.program;
    Scalars& k = c.scalars();
    const int mover = k.mover, next = k.next, previous = k.previous;
    const uint32_t stalemated = k.stalemated;
    const Registers registers = c.registers;
    const bool threat_test = c.threat_test, no_moves_test = c.no_moves_test;
    const bool stop_at_roll = c.stop_at_roll, roll_needed = c.roll_needed;
    c.threat_test = true;
    c.no_moves_test = c.stop_at_roll = false;
    k.previous = owner;
    bool found = false;
    for (int enemy = 1; enemy <= static_cast<int>(program.players()) && !found; ++enemy) {
        if (enemy == owner) continue;
        k.mover = enemy;
        if (set_next) k.next = owner;
        const auto phase = static_cast<size_t>(c.state.phase(static_cast<uint32_t>(enemy)));
        const MovesNode* rule = moves ? moves : program.phases[phase].play.get();
        found = rule->can_move_to(c, site);
    }
    k.mover = mover;
    k.next = next;
    k.previous = previous;
    k.stalemated = stalemated;
    c.registers = registers;
    c.threat_test = threat_test;
    c.no_moves_test = no_moves_test;
    c.stop_at_roll = stop_at_roll;
    c.roll_needed = roll_needed;
    return found;
}

// Whether an enemy of a piece could move to a site if it were there.
bool threatened_at(Context& c, Kind kind, int piece, int site, const MovesNode* moves,
                   bool set_next) {
    const int owner = c.state.owner_of(piece);
    const int place = c.state.place(kind, site);
    if (place < 0 || c.state.stacking() ||
        (c.state.what(place) == piece && c.state.who(place) == owner))
        return attacked_at(c, owner, site, moves, set_next);
    Trial trial(c);
    trial.context.state.set_site(place, owner, piece, -1, -1, -1, -1);
    ++trial.context.changes;
    return attacked_at(trial.context, owner, site, moves, set_next);
}

}  // namespace

void add_conditions(Makers<BoolPtr>& m) {
    m["true"] = [](Reader&) { return BoolPtr(std::make_unique<Always>(true)); };
    m["false"] = [](Reader&) { return BoolPtr(std::make_unique<Always>(false)); };
    m["xor"] = [](Reader& r) {
        auto a = r.boolean(), b = r.boolean();
        return make_bool([a = std::move(a), b = std::move(b)](Context& c) {
            const bool x = a->eval(c);
            return x != b->eval(c);
        });
    };
    m["if"] = [](Reader& r) {
        auto test = r.boolean(), a = r.boolean(), b = r.boolean();
        return make_bool([test = std::move(test), a = std::move(a), b = std::move(b)](Context& c) {
            return test->eval(c) ? a->eval(c) : b && b->eval(c);
        });
    };
    m["same"] = [](Reader& r) {
        auto a = r.region(), b = r.region();
        return make_bool(
            [a = std::move(a), b = std::move(b)](Context& c) { return same_sets(c, *a, *b); });
    };
    // --- sites ---
    m["all In"] = [](Reader& r) {
        auto sites = r.array();
        auto region = r.region();
        return make_bool([sites = std::move(sites), region = std::move(region)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            sites->eval(c, list);
            return std::all_of(list.begin(), list.end(),
                               [&](int s) { return s >= 0 && region->contains(c, s); });
        });
    };
    m["in Array"] = [](Reader& r) {
        auto values = r.array(), array = r.array();
        return make_bool([values = std::move(values), array = std::move(array)](Context& c) {
            const NumberBuffer list_room(c), all_room(c);
            std::vector<int32_t>&list = *list_room, &all = *all_room;
            values->eval(c, list);
            array->eval(c, all);
            return std::all_of(list.begin(), list.end(), [&](int x) {
                return std::find(all.begin(), all.end(), x) != all.end();
            });
        });
    };
    m["is Visited"] = [](Reader& r) {
        auto site = r.integer();
        return make_bool([site = std::move(site)](Context& c) {
            const int s = site->eval(c);
            return s >= 0 && c.state.visited(s);
        });
    };
    m["is Related"] = [](Reader& r) {
        const Kind kind = r.kind();
        const int relation = r.number();
        auto site = r.integer();
        auto region = r.region();
        return make_bool([=, site = std::move(site), region = std::move(region)](Context& c) {
            const int a = site->eval(c);
            SiteSet sites;
            region->eval(c, sites);
            return sites.any(c.program.words(), [&](int b) {
                if (!on_board(c.program, kind, b)) return false;
                const auto around = steps_of(c.program, kind, b, relation);
                return std::find(around.begin(), around.end(), a) != around.end();
            });
        });
    };
    m["is Full"] = [](Reader& r) {
        const Kind kind = r.kind();
        return make_bool([kind](Context& c) {
            SiteSet sites;
            sites_of_places(c.program, kind, c.state.empties(), sites);
            keep_board(c.program, kind, sites);
            return sites.empty(c.program.words());
        });
    };
    m["is Last"] = [](Reader& r) {  // of a kind
        const bool from = r.flag();
        const Kind kind = r.kind();
        return make_bool([from, kind](Context& c) {
            const Scalars& k = c.scalars();
            return k.plies > 0 && (from ? k.last_kind_from : k.last_kind_to) == kind;
        });
    };
    m["is Hidden"] = [](Reader& r) {
        const int side = r.number();
        const Kind kind = r.kind();
        auto site = r.integer(), player = r.integer();
        return make_bool([=, site = std::move(site), player = std::move(player)](Context& c) {
            const int place = c.state.place_anywhere(kind, site->eval(c)), who = player->eval(c);
            if (place < 0 || who < 1 || who > static_cast<int>(c.program.players())) return false;
            return (c.state.hidden(static_cast<uint32_t>(who), place) >> side & 1) != 0;
        });
    };
    m["is Within"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto piece = r.integer();
        auto region = r.region();
        return make_bool([=, piece = std::move(piece), region = std::move(region)](Context& c) {
            const int what = piece->eval(c);
            if (what <= 0) return false;
            SiteSet sites;
            region->eval(c, sites);
            return sites.any(c.program.words(), [&](int s) {
                const int place = c.state.place_anywhere(kind, s);
                if (place < 0) return false;
                for (int level = 0; level < c.state.height(place); ++level)
                    if (c.state.what(place, level) == what) return true;
                return false;
            });
        });
    };
    m["is Flat"] = [](Reader& r) {
        auto site = r.integer();
        return make_bool([site = std::move(site)](Context& c) {
            const int s = site->eval(c);
            if (!on_board(c.program, Vertex, s)) return false;
            const SiteTables& t = c.program.board.tables[Vertex];
            if (t.layer[static_cast<size_t>(s)] == 0) return true;
            constexpr int downward = 9;
            for (int below : steps_of(c.program, Vertex, s, downward))
                if (c.state.what(c.state.place(Vertex, below)) == 0) return false;
            return true;
        });
    };
    // --- players ---
    m["is Active"] = [](Reader& r) {
        auto who = r.integer();
        return make_bool([who = std::move(who)](Context& c) {
            const int id = who->eval(c);
            return id > 0 && id <= static_cast<int>(c.program.players()) &&
                   (c.scalars().active >> id & 1);
        });
    };
    m["is Triggered"] = [](Reader& r) {
        auto who = r.integer();
        return make_bool([who = std::move(who)](Context& c) {
            const int id = who->eval(c);
            return id > 0 && id <= static_cast<int>(c.program.players()) &&
                   (c.scalars().active >> id & 1) && (c.scalars().triggered >> id & 1);
        });
    };
    // --- the course of the game ---
    m["is Even"] = [](Reader& r) {
        auto a = r.integer();
        return make_bool([a = std::move(a)](Context& c) { return (a->eval(c) & 1) == 0; });
    };
    add_flag(m, "is Pending", [](Context& c) { return c.state.pending().size() > 0; });
    add_flag(m, "all Passed", [](Context& c) {
        return c.scalars().plies >= static_cast<int32_t>(c.program.players()) && all_passed(c);
    });
    add_flag(m, "was Pass", [](Context& c) { return c.scalars().last_pass != 0; });
    add_flag(m, "all DiceEqual", [](Context& c) { return c.scalars().dice_equal != 0; });
    add_flag(m, "all DiceUsed", [](Context& c) {
        for (uint32_t n = 0; n < c.program.wants.dice; ++n)
            if (c.state.die(n) != 0) return false;
        return true;
    });
    m["is AnyDie"] = [](Reader& r) {
        auto a = r.integer();
        const int dice = r.number();
        return make_bool([a = std::move(a), dice](Context& c) {
            const int value = a->eval(c);
            for (uint32_t n = 0; n < static_cast<uint32_t>(dice); ++n)
                if (c.state.die(n) == value) return true;
            return false;
        });
    };
    m["is Decided"] = [](Reader& r) {
        const int what = r.number();
        return make_bool([what](Context& c) { return c.scalars().decided == what; });
    };
    m["is Proposed"] = [](Reader& r) {
        const int what = r.number();
        return make_bool([what](Context& c) { return (c.scalars().proposed >> what & 1) != 0; });
    };
    m["is Repeat"] = [](Reader& r) {
        const bool situational = r.flag(), in_turn = r.flag();
        return make_bool([situational, in_turn](Context& c) {
            const State& s = c.state;
            return s.recorded(situational ? s.situation_hash() : s.position_hash(), in_turn);
        });
    };
    add_flag(m, "is Cycle", [](Context& c) {
        const uint32_t k = c.program.players() * c.program.players();
        const uint32_t size = c.state.record_size();
        if (size < 3 * k) return false;
        for (uint32_t n = 0; n < k; ++n) {
            const uint64_t last = c.state.record_at(size - k + n);
            if (c.state.record_at(size - 2 * k + n) != last ||
                c.state.record_at(size - 3 * k + n) != last)
                return false;
        }
        return true;
    });
    m["no Moves"] = [](Reader& r) {
        const int role = r.number();
        return make_bool([role](Context& c) {
            if (role == static_cast<int>(Role::Next)) return next_is_stuck(c);
            const int id = c.program.id_of(c, role);
            return id > 0 && (c.scalars().stalemated >> id & 1);
        });
    };
    m["can Move"] = [](Reader& r) {
        auto moves = r.moves();
        return make_bool([moves = std::move(moves)](Context& c) {
            if (!c.program.wants.visited) return moves->can_move(c);
            Trial trial(c);
            trial.context.state.visit(c.scalars().last_from);
            trial.context.state.visit(c.scalars().last_to);
            return moves->can_move(trial.context);
        });
    };
    m["is Threatened"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto piece = r.integer(), site = r.integer();
        auto region = r.region();
        auto moves = r.moves();
        return make_bool([=, piece = std::move(piece), site = std::move(site),
                          region = std::move(region), moves = std::move(moves)](Context& c) {
            if (c.threat_test) return false;
            SiteSet sites;
            sites.clear(c.program.words());
            if (site) {
                add_site(c, sites, site->eval(c));
            } else if (region) {
                region->eval(c, sites);
            }
            if (piece) {
                const int what = piece->eval(c);
                if (what < 1 || static_cast<size_t>(what) >= c.program.board.owners.size())
                    return false;
                if (!site && !region) {
                    const auto owner = static_cast<uint32_t>(c.state.owner_of(what));
                    const auto first = static_cast<int>(c.program.layout.layer[kind]);
                    const auto count = static_cast<int>(c.program.board.tables[kind].count);
                    each_bit(c.state.owned(owner), c.program.words(), [&](int place) {
                        if (place < first || place >= first + count) return false;
                        if (c.state.what(place) != what) return false;
                        sites.add(static_cast<uint32_t>(place - first));
                        return true;
                    });
                }
                return sites.any(c.program.words(), [&](int s) {
                    return threatened_at(c, kind, what, s, moves.get(), false);
                });
            }
            return sites.any(c.program.words(), [&](int s) {
                const int place = c.state.place(kind, s);
                const int what = place < 0 ? 0 : c.state.what(place);
                return what > 0 && threatened_at(c, kind, what, s, moves.get(), true);
            });
        });
    };
    m["all Sites"] = [](Reader& r) {
        auto region = r.region();
        auto test = r.boolean();
        return make_bool([region = std::move(region), test = std::move(test)](Context& c) {
            SiteSet sites;
            region->eval(c, sites);
            const Keep keep(c.registers.site);
            return !sites.any(c.program.words(), [&](int s) {
                c.registers.site = s;
                return !test->eval(c);
            });
        });
    };
    m["all Values"] = [](Reader& r) {
        auto array = r.array();
        auto test = r.boolean();
        return make_bool([array = std::move(array), test = std::move(test)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            array->eval(c, list);
            const Keep keep(c.registers.value);
            return std::all_of(list.begin(), list.end(), [&](int v) {
                c.registers.value = v;
                return test->eval(c);
            });
        });
    };
}

}  // namespace omnilude::ludeme
