// Ludemes that are directions, as seen from a site.
#include <algorithm>
#include <array>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

using namespace direction;

// Clockwise, a sixteenth of a turn each.
constexpr std::array<int, 16> compass{N, NNE, NE, ENE, E, ESE, SE, SSE,
                                      S, SSW, SW, WSW, W, WNW, NW, NNW};

int compass_index(int d) {
    const auto at = std::find(compass.begin(), compass.end(), d);
    return at == compass.end() ? -1 : static_cast<int>(at - compass.begin());
}

enum class Relative : int32_t {
    Forward,
    Backward,
    Rightward,
    Leftward,
    Forwards,
    Backwards,
    Rightwards,
    Leftwards,
    FR,
    FL,
    BR,
    BL,
    SameDirection,
    OppositeDirection,
};

struct Absolute final : DirectionsNode {
    std::vector<int32_t> list;
    void eval(Context&, Kind, int, int, std::vector<int32_t>& out) const override {
        out.insert(out.end(), list.begin(), list.end());
    }
    std::span<const int32_t> view(Context&, Kind, int, int, std::vector<int32_t>&) const override {
        return list;
    }
    const std::vector<int32_t>* fixed() const override { return &list; }
};

// Numbers of relations in the tables of supported directions: All, Orthogonal, Diagonal, Adjacent,
// OffDiagonal.
std::span<const int32_t> supported(const Program& p, Kind kind, int relation, int site,
                                   bool by_site) {
    const SiteTables& t = p.board.tables[kind];
    if (!by_site) return t.supported[static_cast<size_t>(relation)];
    return t.supported_at[static_cast<size_t>(relation) * t.count + static_cast<size_t>(site)];
}

bool has(std::span<const int32_t> list, int d) {
    return std::find(list.begin(), list.end(), d) != list.end();
}

int facing_of(const Context& c, Kind kind, int site) {
    const int place = c.state.place_anywhere(kind, site);
    const int piece = place < 0 ? 0 : c.state.what(place);
    const int facing = c.program.board.components[static_cast<size_t>(piece)].facing;
    return facing < 0 ? static_cast<int>(N) : facing;
}

// The first supported direction when turning by one notch again and again.
int turn_until(std::span<const int32_t> list, int index, int by) {
    for (int n = 1; n <= 16; ++n) {
        const int d = compass[static_cast<size_t>(((index + by * n) % 16 + 16) % 16)];
        if (has(list, d)) return d;
    }
    return -1;
}

void add_along(Context& c, Kind kind, std::span<const int32_t> list, int start, int end,
               std::vector<int32_t>& out) {
    if (!on_board(c.program, kind, start) || !on_board(c.program, kind, end)) return;
    for (int d : list) {
        bool found = false;
        for (int number : rays_of(c.program, kind, start, d)) {
            const auto sites = ray(c.program, kind, number);
            if (std::find(sites.begin() + 1, sites.end(), end) == sites.end()) continue;
            out.push_back(d);
            found = true;
        }
        if (found) return;
    }
}

struct Relatives final : DirectionsNode {
    std::vector<int32_t> list;
    int relation = 3;
    bool by_site = false;
    bool turning = false;  // pieces of the game may be turned

    static bool is_along(int symbol) {
        return symbol == static_cast<int>(Relative::SameDirection) ||
               symbol == static_cast<int>(Relative::OppositeDirection);
    }
    bool by_facing() const override {
        return !turning && std::none_of(list.begin(), list.end(), is_along);
    }

    void eval(Context& c, Kind kind, int site, int given,
              std::vector<int32_t>& out) const override {
        if (!on_board(c.program, kind, site)) return;
        const int place = c.state.place(kind, site);
        // Where nobody stands there is no forward.
        if (given < 0 && (place < 0 || c.state.what(place) == 0)) return;
        const auto known = supported(c.program, kind, relation, site, by_site);
        int facing = given >= 0 ? given : facing_of(c, kind, site);
        for (int n = place < 0 ? 0 : c.state.rotation(place); n > 0; --n) {
            const int next = turn_until(known, compass_index(facing), 1);
            if (next >= 0) facing = next;
        }
        const Scalars& k = c.scalars();
        for (int symbol : list) {
            if (!is_along(symbol))
                add(known, facing, static_cast<Relative>(symbol), out);
            else if (symbol == static_cast<int>(Relative::SameDirection))
                add_along(c, kind, known, k.last_from, k.last_to, out);
            else
                add_along(c, kind, known, k.last_to, k.last_from, out);
        }
    }

    void find(const Program& program, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        if (facing < 0) return;
        const auto known = supported(program, kind, relation, site, by_site);
        for (int symbol : list) add(known, facing, static_cast<Relative>(symbol), out);
    }

    static void add(std::span<const int32_t> known, int facing, Relative symbol,
                    std::vector<int32_t>& out) {
        const int index = compass_index(facing);
        auto tick = [&](int n) {
            const int d = compass[static_cast<size_t>(((index + n) % 16 + 16) % 16)];
            if (has(known, d)) out.push_back(d);
        };
        auto sweep = [&](int first, int last, int by) {
            for (int n = first; n != last + by; n += by) tick(n);
        };
        auto turn = [&](int from, int by) {
            const int d = turn_until(known, index + from, by);
            if (d >= 0) out.push_back(d);
        };
        switch (symbol) {
            case Relative::Forward:
                return tick(0);
            case Relative::Backward:
                return tick(8);
            case Relative::Rightward:
                return tick(4);
            case Relative::Leftward:
                return tick(-4);
            case Relative::Forwards:
                return sweep(-3, 3, 1);
            case Relative::Backwards:
                return sweep(5, 11, 1);
            case Relative::Rightwards:
                return sweep(1, 7, 1);
            case Relative::Leftwards:
                return sweep(-1, -7, -1);
            case Relative::FR:
                return turn(0, 1);
            case Relative::FL:
                return turn(0, -1);
            case Relative::BR:
                return turn(8, 1);
            case Relative::BL:
                return turn(8, -1);
            case Relative::SameDirection:
            case Relative::OppositeDirection:
                return;
        }
    }
};

struct FromTo final : DirectionsNode {
    Kind own_kind;
    IntPtr from, to;
    uint32_t sites;
    Lists table;  // by both sites
    explicit FromTo(Reader& r) : own_kind(r.kind()), from(r.integer()), to(r.integer()) {
        const SiteTables& t = r.program.board.tables[own_kind];
        sites = t.count;
        std::vector<std::vector<int32_t>> ends(sites);
        for (uint32_t a = 0; a < sites; ++a) {
            for (auto& list : ends) list.clear();
            for (int d : supported(r.program, own_kind, 0, static_cast<int>(a), false))
                for (int number : rays_of(r.program, own_kind, static_cast<int>(a), d)) {
                    const auto ray = t.rays[static_cast<size_t>(number)];
                    for (size_t n = 1; n < ray.size(); ++n)
                        if (std::find(ray.begin() + 1, ray.begin() + static_cast<long>(n),
                                      ray[n]) == ray.begin() + static_cast<long>(n))
                            ends[static_cast<size_t>(ray[n])].push_back(d);
                }
            for (const auto& list : ends) {
                table.items.insert(table.items.end(), list.begin(), list.end());
                table.start.push_back(static_cast<uint32_t>(table.items.size()));
            }
        }
    }
    void eval(Context& c, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        const auto list = view(c, kind, site, facing, out);
        out.insert(out.end(), list.begin(), list.end());
    }
    std::span<const int32_t> view(Context& c, Kind, int, int,
                                  std::vector<int32_t>&) const override {
        const int a = from->eval(c), b = to->eval(c);
        if (!on_board(c.program, own_kind, a) || !on_board(c.program, own_kind, b)) return {};
        return table[static_cast<size_t>(a) * sites + static_cast<size_t>(b)];
    }
    bool is_from_to(Kind kind, Slot a, Slot b) const override {
        return kind == own_kind && from->slot() == a && to->slot() == b;
    }
    int first_between(int a, int b) const override {
        const auto list = table[static_cast<size_t>(a) * sites + static_cast<size_t>(b)];
        return list.empty() ? -1 : list.front();
    }
};

// Classes become the directions that a site has in them.
void expand(const Program& p, Kind kind, int site, const std::vector<int32_t>& list,
            std::vector<int32_t>& out) {
    auto relation_of = [](int d) {
        switch (d) {
            case All:
                return 0;
            case Orthogonal:
                return 1;
            case Diagonal:
                return 2;
            case Adjacent:
                return 3;
            case OffDiagonal:
                return 4;
            default:
                return -1;
        }
    };
    auto add = [&](int d) {
        if (std::find(out.begin(), out.end(), d) == out.end()) out.push_back(d);
    };
    for (int d : list) {
        const int relation = relation_of(d);
        if (relation < 0) {
            add(d);
            continue;
        }
        for (int one : supported(p, kind, relation, site, true)) add(one);
    }
}

struct Algebra final : DirectionsNode {
    DirectionsPtr a, b;
    bool difference = false;
    void eval(Context& c, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        if (!on_board(c.program, kind, site)) return;
        std::vector<int32_t> first, second;
        a->eval(c, kind, site, facing, first);
        b->eval(c, kind, site, facing, second);
        combine(c.program, kind, site, first, second, out);
    }
    bool by_facing() const override { return a->by_facing() && b->by_facing(); }
    void find(const Program& program, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        std::vector<int32_t> first, second;
        a->find(program, kind, site, facing, first);
        b->find(program, kind, site, facing, second);
        combine(program, kind, site, first, second, out);
    }
    void combine(const Program& program, Kind kind, int site, const std::vector<int32_t>& first,
                 const std::vector<int32_t>& second, std::vector<int32_t>& out) const {
        std::vector<int32_t> x, y;
        expand(program, kind, site, first, x);
        expand(program, kind, site, second, y);
        for (int d : x)
            if (!difference || !has(y, d)) out.push_back(d);
        if (!difference)
            for (int d : y)
                if (!has(x, d)) out.push_back(d);
    }
};

struct Either final : DirectionsNode {
    BoolPtr test;
    DirectionsPtr a, b;
    void eval(Context& c, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        (test->eval(c) ? a : b)->eval(c, kind, site, facing, out);
    }
    const DirectionsNode& chosen(Context& c) const override {
        return (test->eval(c) ? a : b)->chosen(c);
    }
    void list_choices(std::vector<const DirectionsNode*>& out) const override {
        a->list_choices(out);
        b->list_choices(out);
    }
    const DirectionsNode* chosen_for(Kind kind, int piece, int owner) const override {
        const int holds = test->holds_for(&Registers::from, kind, piece, owner);
        return holds < 0 ? nullptr : (holds ? a : b)->chosen_for(kind, piece, owner);
    }
};

}  // namespace

DirectionsPtr all_adjacent() {
    auto node = std::make_unique<Absolute>();
    node->list = {Adjacent};
    return node;
}

DirectionsPtr all_orthogonal() {
    auto node = std::make_unique<Absolute>();
    node->list = {Orthogonal};
    return node;
}

void add_directions(Makers<DirectionsPtr>& m) {
    m["absolute"] = [](Reader& r) {
        auto node = std::make_unique<Absolute>();
        node->list = r.numbers();
        return DirectionsPtr(std::move(node));
    };
    m["relative"] = [](Reader& r) {
        auto node = std::make_unique<Relatives>();
        node->list = r.numbers();
        node->relation = r.number();
        node->by_site = r.flag();
        node->turning = r.program.wants.rotation;
        return DirectionsPtr(std::move(node));
    };
    m["from to"] = [](Reader& r) { return DirectionsPtr(std::make_unique<FromTo>(r)); };
    auto algebra = [&m](const char* name, bool difference) {
        m[name] = [difference](Reader& r) {
            auto node = std::make_unique<Algebra>();
            node->a = r.directions();
            node->b = r.directions();
            node->difference = difference;
            return DirectionsPtr(std::move(node));
        };
    };
    algebra("union", false);
    algebra("difference", true);
    m["if"] = [](Reader& r) {
        auto node = std::make_unique<Either>();
        node->test = r.boolean();
        node->a = r.directions();
        node->b = r.directions();
        return DirectionsPtr(std::move(node));
    };
}

}  // namespace omnilude::ludeme
