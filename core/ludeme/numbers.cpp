// Ludemes that are numbers: constants, arithmetic, registers, players.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

struct Constant final : IntNode {
    int value;
    explicit Constant(int v) : value(v) {}
    int eval(Context&) const override { return value; }
    const int* constant() const override { return &value; }
};

template <class F>
void add_binary(Makers<IntPtr>& m, const char* name, F f) {
    m[name] = [f](Reader& r) {
        auto a = r.integer(), b = r.integer();
        return make_int([a = std::move(a), b = std::move(b), f](Context& c) {
            const int x = a->eval(c);
            return f(x, b->eval(c));
        });
    };
}

struct Register final : IntNode {
    Slot own;
    explicit Register(Slot slot) : own(slot) {}
    int eval(Context& c) const override { return c.registers.*own; }
    Slot slot() const override { return own; }
};

// A number of the state.
template <class F>
struct Steady final : IntNode {
    F f;
    explicit Steady(F g) : f(std::move(g)) {}
    int eval(Context& c) const override { return f(c); }
    bool is_steady() const override { return true; }
};

void add_register(Makers<IntPtr>& m, const char* name, Slot slot) {
    m[name] = [slot](Reader&) { return IntPtr(std::make_unique<Register>(slot)); };
}

template <class F>
void add_steady(Makers<IntPtr>& m, const char* name, F f) {
    m[name] = [f](Reader&) { return IntPtr(std::make_unique<Steady<F>>(f)); };
}

}  // namespace

void add_number_functions(Makers<IntPtr>& m) {
    m["number"] = [](Reader& r) { return IntPtr(std::make_unique<Constant>(r.number())); };
    m["role"] = [](Reader& r) -> IntPtr {
        const int role = r.number();
        if (role <= 16) return std::make_unique<Constant>(role);
        auto id = [role](Context& c) { return c.program.id_of(c, role); };
        if (role == static_cast<int>(Role::Player)) return make_int(std::move(id));
        return std::make_unique<Steady<decltype(id)>>(id);
    };
    m["+"] = [](Reader& r) {
        auto list = r.integers();
        return make_int([list = std::move(list)](Context& c) {
            int sum = 0;
            for (const auto& item : list) sum += item->eval(c);
            return sum;
        });
    };
    m["*"] = [](Reader& r) {
        auto list = r.integers();
        return make_int([list = std::move(list)](Context& c) {
            int product = 1;
            for (const auto& item : list) product *= item->eval(c);
            return product;
        });
    };
    add_binary(m, "-", [](int a, int b) { return a - b; });
    add_binary(m, "/", [](int a, int b) {
        if (b == 0) throw GameError("division by zero");
        return a / b;
    });
    add_binary(m, "%", [](int a, int b) {
        if (b == 0) throw GameError("division by zero");
        return a % b;
    });
    add_binary(m, "^", [](int a, int b) { return static_cast<int>(std::pow(a, b)); });
    add_binary(m, "min", [](int a, int b) { return std::min(a, b); });
    add_binary(m, "max", [](int a, int b) { return std::max(a, b); });
    m["abs"] = [](Reader& r) {
        auto a = r.integer();
        return make_int([a = std::move(a)](Context& c) { return std::abs(a->eval(c)); });
    };
    m["+Of"] = [](Reader& r) {
        auto a = r.array();
        return make_int([a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            return std::accumulate(list.begin(), list.end(), 0);
        });
    };
    m["*Of"] = [](Reader& r) {
        auto a = r.array();
        return make_int([a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            // Products of many sizes wrap around, as they do where this is recorded.
            uint32_t product = list.empty() ? 0 : 1;
            for (int one : list) product *= static_cast<uint32_t>(one);
            return static_cast<int>(product);
        });
    };
    m["minOf"] = [](Reader& r) {
        auto a = r.array();
        return make_int([a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            return list.empty() ? -1 : *std::min_element(list.begin(), list.end());
        });
    };
    m["maxOf"] = [](Reader& r) {
        auto a = r.array();
        return make_int([a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            return list.empty() ? -1 : *std::max_element(list.begin(), list.end());
        });
    };
    m["if"] = [](Reader& r) {
        auto test = r.boolean();
        auto a = r.integer(), b = r.integer();
        return make_int([test = std::move(test), a = std::move(a), b = std::move(b)](Context& c) {
            return test->eval(c) ? a->eval(c) : b->eval(c);
        });
    };
    // Registers.
    add_register(m, "from", &Registers::from);
    add_register(m, "to", &Registers::to);
    add_register(m, "between", &Registers::between);
    add_register(m, "site", &Registers::site);
    add_register(m, "level", &Registers::level);
    add_register(m, "value", &Registers::value);
    add_register(m, "player", &Registers::player);
    add_register(m, "pips", &Registers::pips);
    add_register(m, "track", &Registers::track);
    // Numbers of the state.
    add_steady(m, "mover", [](Context& c) { return c.scalars().mover; });
    add_steady(m, "next", [](Context& c) { return c.scalars().next; });
    add_steady(m, "prev", [](Context& c) { return c.scalars().previous; });
    add_steady(m, "counter", [](Context& c) { return c.scalars().counter; });
    add_steady(m, "temp", [](Context& c) { return c.scalars().temp; });
    add_steady(m, "pot", [](Context& c) { return c.scalars().pot; });
    add_steady(m, "last To", [](Context& c) { return c.scalars().last_to; });
    add_steady(m, "last From", [](Context& c) { return c.scalars().last_from; });
    add_steady(m, "last To after", [](Context& c) { return c.scalars().last_to_after; });
    add_steady(m, "last From after", [](Context& c) { return c.scalars().last_from_after; });
    add_steady(m, "last LevelTo", [](Context& c) { return c.scalars().last_level_to; });
    add_steady(m, "last LevelFrom", [](Context& c) { return c.scalars().last_level_from; });
    add_steady(m, "from StartOfTurn", [](Context& c) {
        const Scalars& k = c.scalars();
        return k.plies && c.state.passes()[0].mover == k.mover ? k.turn_from : off;
    });
    add_steady(m, "count Moves", [](Context& c) { return c.scalars().plies; });
    add_steady(m, "count Turns", [](Context& c) { return c.scalars().turn; });
    add_steady(m, "count MovesThisTurn", [](Context& c) { return c.scalars().turn_plies; });
    add_steady(m, "count Players",
               [](Context& c) { return static_cast<int>(c.program.players()); });
    add_steady(m, "count Active", [](Context& c) { return std::popcount(c.scalars().active); });
    add_steady(m, "value Pending", [](Context& c) {
        const NumberList pending = c.state.pending();
        return pending.size() == 1 ? pending[0] : 0;
    });
    m["score"] = [](Reader& r) {
        auto who = r.integer();
        return make_int([who = std::move(who)](Context& c) {
            const int p = who->eval(c);
            return p >= 0 && p <= static_cast<int>(c.program.players())
                       ? c.state.score(static_cast<uint32_t>(p))
                       : 0;
        });
    };
    m["value Player"] = [](Reader& r) {
        auto who = r.integer();
        return make_int([who = std::move(who)](Context& c) {
            const int p = who->eval(c);
            return p >= 0 && p <= static_cast<int>(c.program.players())
                       ? c.state.player_value(static_cast<uint32_t>(p))
                       : -1;
        });
    };
    m["amount"] = [](Reader& r) {
        auto who = r.integer();
        return make_int([who = std::move(who)](Context& c) {
            const int p = who->eval(c);
            return p >= 0 && p <= static_cast<int>(c.program.players())
                       ? c.state.amount(static_cast<uint32_t>(p))
                       : 0;
        });
    };
    m["var"] = [](Reader& r) {
        const auto n = static_cast<uint32_t>(r.number());
        return make_int([n](Context& c) { return c.state.variable(n); });
    };
    m["size Array"] = [](Reader& r) {
        auto a = r.array();
        return make_int([a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            return static_cast<int>(list.size());
        });
    };
    m["arrayValue"] = [](Reader& r) {
        auto a = r.array();
        auto index = r.integer();
        return make_int([a = std::move(a), index = std::move(index)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            const int n = index->eval(c);
            return n >= 0 && static_cast<size_t>(n) < list.size() ? list[static_cast<size_t>(n)]
                                                                  : off;
        });
    };
    m["count Value"] = [](Reader& r) {
        auto value = r.integer();
        auto a = r.array();
        return make_int([value = std::move(value), a = std::move(a)](Context& c) {
            const NumberBuffer list_room(c);
            std::vector<int32_t>& list = *list_room;
            a->eval(c, list);
            return static_cast<int>(std::count(list.begin(), list.end(), value->eval(c)));
        });
    };
}

void add_ranges(Makers<RangePtr>& m) {
    struct Range final : RangeNode {
        IntPtr low, high;
        void eval(Context& c, int& a, int& b) const override {
            a = low->eval(c);
            b = high ? high->eval(c) : a;
        }
        bool is_exact() const override { return !high; }
    };
    m["range"] = [](Reader& r) {
        auto range = std::make_unique<Range>();
        range->low = r.integer();
        range->high = r.integer();
        return RangePtr(std::move(range));
    };
}

void add_arrays(Makers<ArrayPtr>& m) {
    m["numbers"] = [](Reader& r) {
        auto list = r.integers();
        return make_array([list = std::move(list)](Context& c, std::vector<int32_t>& out) {
            for (const auto& item : list) out.push_back(item->eval(c));
        });
    };
    m["sites"] = [](Reader& r) {
        auto region = r.region();
        return make_array([region = std::move(region)](Context& c, std::vector<int32_t>& out) {
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), [&](int site) { out.push_back(site); });
        });
    };
    m["Remembered"] = [](Reader& r) {
        const auto list = static_cast<uint32_t>(r.number());
        return make_array([list](Context& c, std::vector<int32_t>& out) {
            const NumberList values = c.state.remembered(list);
            for (uint32_t n = 0; n < values.size(); ++n) out.push_back(values[n]);
        });
    };
    m["results"] = [](Reader& r) {
        auto from = r.array(), to = r.array();
        auto value = r.integer();
        return make_array([from = std::move(from), to = std::move(to), value = std::move(value)](
                              Context& c, std::vector<int32_t>& out) {
            const Keep keep_from(c.registers.from), keep_to(c.registers.to);
            const NumberBuffer starts_room(c), ends_room(c);
            std::vector<int32_t>&starts = *starts_room, &ends = *ends_room;
            from->eval(c, starts);
            for (int start : starts) {
                c.registers.from = start;
                ends.clear();
                to->eval(c, ends);
                for (int end : ends) {
                    c.registers.to = end;
                    out.push_back(value->eval(c));
                }
            }
        });
    };
    m["sizes Group"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto ways = std::make_shared<Ways>(r.program, kind, r.directions());
        const int role = r.number();  // -1: the pieces of all players, whoever they belong to
        auto least = r.integer();
        return make_array([=, least = std::move(least)](Context& c, std::vector<int32_t>& out) {
            const int owner = role >= 0 ? c.program.id_of(c, role) : -1;
            const int smallest = least ? least->eval(c) : 0;
            Group group(c.program.words());
            auto joins = [&](int site) {
                const int place = c.state.place(kind, site);
                return owner >= 0 ? c.state.who(place) == owner : !c.state.empty(place);
            };
            // Of all pieces, groups begin with those of players, and others join them.
            auto begins = [&](int site) {
                const int who = c.state.who(c.state.place(kind, site));
                return owner >= 0 || (who > 0 && who <= static_cast<int>(c.program.players()));
            };
            const auto count = static_cast<int>(c.program.board.tables[kind].count);
            for (int site = 0; site < count; ++site) {
                if (group.has(site) || !joins(site) || !begins(site)) continue;
                grow_group(c, *ways, site, group, joins);  // what was seen before stays inside
                if (static_cast<int>(group.size) >= smallest)
                    out.push_back(static_cast<int32_t>(group.size));
            }
        });
    };
    m["difference"] = [](Reader& r) {  // each number that is taken away goes once
        auto a = r.array(), b = r.array();
        return make_array(
            [a = std::move(a), b = std::move(b)](Context& c, std::vector<int32_t>& out) {
                const NumberBuffer without_room(c);
                std::vector<int32_t>& without = *without_room;
                const auto first = static_cast<long>(out.size());
                a->eval(c, out);
                b->eval(c, without);
                for (int32_t one : without) {
                    const auto at = std::find(out.begin() + first, out.end(), one);
                    if (at != out.end()) out.erase(at);
                }
            });
    };
    m["union"] = [](Reader& r) {
        auto a = r.array(), b = r.array();
        return make_array(
            [a = std::move(a), b = std::move(b)](Context& c, std::vector<int32_t>& out) {
                const NumberBuffer more_room(c);
                std::vector<int32_t>& more = *more_room;
                a->eval(c, out);
                b->eval(c, more);
                for (int x : more)
                    if (std::find(out.begin(), out.end(), x) == out.end()) out.push_back(x);
            });
    };
    m["intersection"] = [](Reader& r) {
        auto a = r.array(), b = r.array();
        return make_array(
            [a = std::move(a), b = std::move(b)](Context& c, std::vector<int32_t>& out) {
                const NumberBuffer first_room(c), second_room(c);
                std::vector<int32_t>&first = *first_room, &second = *second_room;
                a->eval(c, first);
                b->eval(c, second);
                for (int x : second)
                    if (std::find(first.begin(), first.end(), x) != first.end()) out.push_back(x);
            });
    };
    m["if"] = [](Reader& r) {
        auto test = r.boolean();
        auto a = r.array(), b = r.array();
        return make_array([test = std::move(test), a = std::move(a), b = std::move(b)](
                              Context& c, std::vector<int32_t>& out) {
            if (test->eval(c))
                a->eval(c, out);
            else if (b)
                b->eval(c, out);
        });
    };
    m["players"] = [](Reader& r) {
        const int role = r.number();
        auto test = r.boolean();
        return make_array([role, test = std::move(test)](Context& c, std::vector<int32_t>& out) {
            const Keep keep(c.registers.player);
            const uint32_t ids = c.program.ids_of(c, role);
            for (int p = 0; p <= static_cast<int>(c.program.players()) + 1; ++p) {
                if (!(ids >> p & 1)) continue;
                c.registers.player = p;
                if (!test || test->eval(c)) out.push_back(p);
            }
        });
    };
}

}  // namespace omnilude::ludeme
