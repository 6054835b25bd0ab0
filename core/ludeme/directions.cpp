// Ludemes that are directions, as seen from a site.
#include <algorithm>
#include <array>

#include "ludeme/reader.h"

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

    void eval(Context& c, Kind kind, int site, int given,
              std::vector<int32_t>& out) const override {
        if (!on_board(c.program, kind, site)) return;
        const auto known = supported(c.program, kind, relation, site, by_site);
        int facing = given >= 0 ? given : facing_of(c, kind, site);
        const int place = c.state.place(kind, site);
        for (int n = place < 0 ? 0 : c.state.rotation(place); n > 0; --n) {
            const int next = turn_until(known, compass_index(facing), 1);
            if (next >= 0) facing = next;
        }
        const int index = compass_index(facing);
        auto tick = [&](int n) {
            return compass[static_cast<size_t>(((index + n) % 16 + 16) % 16)];
        };
        auto add = [&](int d) {
            if (has(known, d)) out.push_back(d);
        };
        auto sweep = [&](int first, int last, int by) {
            for (int n = first; n != last + by; n += by) add(tick(n));
        };
        auto turn = [&](int from, int by) {
            const int d = turn_until(known, index + from, by);
            if (d >= 0) out.push_back(d);
        };
        for (int symbol : list) switch (static_cast<Relative>(symbol)) {
                case Relative::Forward:
                    add(tick(0));
                    break;
                case Relative::Backward:
                    add(tick(8));
                    break;
                case Relative::Rightward:
                    add(tick(4));
                    break;
                case Relative::Leftward:
                    add(tick(-4));
                    break;
                case Relative::Forwards:
                    sweep(-3, 3, 1);
                    break;
                case Relative::Backwards:
                    sweep(5, 11, 1);
                    break;
                case Relative::Rightwards:
                    sweep(1, 7, 1);
                    break;
                case Relative::Leftwards:
                    sweep(-1, -7, -1);
                    break;
                case Relative::FR:
                    turn(0, 1);
                    break;
                case Relative::FL:
                    turn(0, -1);
                    break;
                case Relative::BR:
                    turn(8, 1);
                    break;
                case Relative::BL:
                    turn(8, -1);
                    break;
                case Relative::SameDirection:
                    add_along(c, kind, known, c.scalars().last_from, c.scalars().last_to, out);
                    break;
                case Relative::OppositeDirection:
                    add_along(c, kind, known, c.scalars().last_to, c.scalars().last_from, out);
                    break;
            }
    }
};

struct FromTo final : DirectionsNode {
    Kind own_kind;
    IntPtr from, to;
    void eval(Context& c, Kind, int, int, std::vector<int32_t>& out) const override {
        const int a = from->eval(c), b = to->eval(c);
        if (!on_board(c.program, own_kind, a) || !on_board(c.program, own_kind, b)) return;
        for (int d : supported(c.program, own_kind, 0, a, false))
            for (int number : rays_of(c.program, own_kind, a, d)) {
                const auto sites = ray(c.program, own_kind, number);
                if (std::find(sites.begin() + 1, sites.end(), b) != sites.end()) out.push_back(d);
            }
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
        std::vector<int32_t> first, second, x, y;
        a->eval(c, kind, site, facing, first);
        b->eval(c, kind, site, facing, second);
        expand(c.program, kind, site, first, x);
        expand(c.program, kind, site, second, y);
        for (int d : x)
            if (!difference || std::find(y.begin(), y.end(), d) == y.end()) out.push_back(d);
        if (!difference)
            for (int d : y)
                if (std::find(x.begin(), x.end(), d) == x.end()) out.push_back(d);
    }
};

struct Either final : DirectionsNode {
    BoolPtr test;
    DirectionsPtr a, b;
    void eval(Context& c, Kind kind, int site, int facing,
              std::vector<int32_t>& out) const override {
        (test->eval(c) ? a : b)->eval(c, kind, site, facing, out);
    }
};

}  // namespace

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
        return DirectionsPtr(std::move(node));
    };
    m["from to"] = [](Reader& r) {
        auto node = std::make_unique<FromTo>();
        node->own_kind = r.kind();
        node->from = r.integer();
        node->to = r.integer();
        return DirectionsPtr(std::move(node));
    };
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
