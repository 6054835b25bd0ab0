// From the encoded rules of a game to its trees. Each kind of ludeme registers how it is read.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ludeme/program.h"

namespace omnilude::ludeme {

class Reader {
  public:
    Reader(Program& program, const std::vector<std::string>& symbols,
           const std::vector<int32_t>& code)
        : program(program), symbols_(symbols), code_(code) {}

    Program& program;

    int number();
    bool flag() { return number() != 0; }
    Kind kind() { return static_cast<Kind>(number()); }
    const std::string& symbol();
    std::vector<int32_t> numbers();
    SiteSet sites();

    // Null where nothing was written.
    IntPtr integer();
    BoolPtr boolean();
    RegionPtr region();
    ArrayPtr array();
    DirectionsPtr directions();
    RangePtr range();
    MovesPtr moves();
    std::unique_ptr<EndRule> end_rule();
    std::unique_ptr<StartRule> start_rule();

    std::vector<IntPtr> integers();
    std::vector<BoolPtr> booleans();
    std::vector<RegionPtr> regions();
    std::vector<MovesPtr> move_list();

    bool done() const { return at_ == code_.size(); }

  private:
    template <class Pointer>
    Pointer read(const char* what,
                 const std::unordered_map<std::string, std::function<Pointer(Reader&)>>& makers);

    const std::vector<std::string>& symbols_;
    const std::vector<int32_t>& code_;
    size_t at_ = 0;
    uint32_t generators_ = 0;
};

template <class Pointer>
using Makers = std::unordered_map<std::string, std::function<Pointer(Reader&)>>;

// Filled by the files of ludemes.
void add_number_functions(Makers<IntPtr>& makers);
void add_site_functions(Makers<IntPtr>& makers);
void add_count_functions(Makers<IntPtr>& makers);
void add_conditions(Makers<BoolPtr>& makers);
void add_site_conditions(Makers<BoolPtr>& makers);
void add_line_conditions(Makers<BoolPtr>& makers);
void add_group_conditions(Makers<BoolPtr>& makers);
void add_regions(Makers<RegionPtr>& makers);
void add_surroundings(Makers<RegionPtr>& makers);
void add_arrays(Makers<ArrayPtr>& makers);
void add_directions(Makers<DirectionsPtr>& makers);
void add_ranges(Makers<RangePtr>& makers);
void add_movements(Makers<MovesPtr>& makers);
void add_jumps(Makers<MovesPtr>& makers);
void add_piece_moves(Makers<MovesPtr>& makers);
void add_transfers(Makers<MovesPtr>& makers);
void add_operators(Makers<MovesPtr>& makers);
void add_loops(Makers<MovesPtr>& makers);
void add_piece_loop(Makers<MovesPtr>& makers);
void add_captures(Makers<MovesPtr>& makers);
void add_settings(Makers<MovesPtr>& makers);
void add_end_rules(Makers<std::unique_ptr<EndRule>>& makers);
void add_start_rules(Makers<std::unique_ptr<StartRule>>& makers);

// Nodes made of a function.
template <class F>
struct IntFunction final : IntNode {
    F f;
    explicit IntFunction(F&& g) : f(std::move(g)) {}
    int eval(Context& c) const override { return f(c); }
};
template <class F>
IntPtr make_int(F&& f) {
    return std::make_unique<IntFunction<std::decay_t<F>>>(std::forward<F>(f));
}

template <class F>
struct BoolFunction final : BoolNode {
    F f;
    explicit BoolFunction(F&& g) : f(std::move(g)) {}
    bool eval(Context& c) const override { return f(c); }
};
template <class F>
BoolPtr make_bool(F&& f) {
    return std::make_unique<BoolFunction<std::decay_t<F>>>(std::forward<F>(f));
}

template <class F>
struct RegionFunction final : RegionNode {
    F f;
    explicit RegionFunction(F&& g) : f(std::move(g)) {}
    void eval(Context& c, SiteSet& out) const override { f(c, out); }
};
template <class F>
RegionPtr make_region(F&& f) {
    return std::make_unique<RegionFunction<std::decay_t<F>>>(std::forward<F>(f));
}

template <class F>
struct ArrayFunction final : ArrayNode {
    F f;
    explicit ArrayFunction(F&& g) : f(std::move(g)) {}
    void eval(Context& c, std::vector<int32_t>& out) const override { f(c, out); }
};
template <class F>
ArrayPtr make_array(F&& f) {
    return std::make_unique<ArrayFunction<std::decay_t<F>>>(std::forward<F>(f));
}

template <class F>
struct MovesFunction final : MovesNode {
    F f;
    explicit MovesFunction(F&& g) : f(std::move(g)) {}
    void eval(Context& c, MoveList& out) const override { f(c, out); }
};
template <class F>
MovesPtr make_moves(F&& f) {
    return std::make_unique<MovesFunction<std::decay_t<F>>>(std::forward<F>(f));
}

// --- what many ludemes need ---

// The sites of one kind within a set of places.
inline void sites_of_places(const Program& program, Kind kind, const uint64_t* places,
                            SiteSet& out) {
    const Layout& layout = program.layout;
    const uint32_t first = layout.layer[kind], count = layout.layer_size[kind];
    if (first == 0 && count == layout.places) {
        std::memcpy(out.bits, places, layout.words * sizeof(uint64_t));
        return;
    }
    const uint32_t skip = first / 64, shift = first % 64;
    for (uint32_t w = 0; w < layout.words; ++w) {
        const uint32_t from = w + skip;
        uint64_t word = from < layout.words ? places[from] >> shift : 0;
        if (shift && from + 1 < layout.words) word |= places[from + 1] << (64 - shift);
        const uint32_t bits = count > w * 64 ? count - w * 64 : 0;
        out.bits[w] = bits >= 64 ? word : word & ((uint64_t{1} << bits) - 1);
    }
}

// Only sites of the board itself.
inline void keep_board(const Program& program, Kind kind, SiteSet& out) {
    const uint32_t count = program.board.tables[kind].count;
    for (uint32_t w = 0; w < program.words(); ++w) {
        if ((w + 1) * 64 <= count) continue;
        const uint32_t bits = count > w * 64 ? count - w * 64 : 0;
        out.bits[w] &= bits ? (uint64_t{1} << bits) - 1 : 0;
    }
}

inline std::span<const int32_t> rays_of(const Program& program, Kind kind, int site,
                                        int direction) {
    const SiteTables& t = program.board.tables[kind];
    return t.rays_at[static_cast<size_t>(direction) * t.count + static_cast<size_t>(site)];
}

inline std::span<const int32_t> distinct_rays_of(const Program& program, Kind kind, int site,
                                                 int direction) {
    const SiteTables& t = program.board.tables[kind];
    return t.distinct_at[static_cast<size_t>(direction) * t.count + static_cast<size_t>(site)];
}

inline std::span<const int32_t> ray(const Program& program, Kind kind, int number) {
    return program.board.tables[kind].rays[static_cast<size_t>(number)];
}

inline std::span<const int32_t> steps_of(const Program& program, Kind kind, int site,
                                         int direction) {
    const SiteTables& t = program.board.tables[kind];
    return t.steps_at[static_cast<size_t>(direction) * t.count + static_cast<size_t>(site)];
}

inline bool on_board(const Program& program, Kind kind, int site) {
    return site >= 0 && static_cast<uint32_t>(site) < program.board.tables[kind].count;
}

// Directions from a site.
class DirectionList {
  public:
    DirectionList(Context& c, const DirectionsNode& node, Kind kind, int site, int facing = -1)
        : room_(c), list_(node.view(c, kind, site, facing, *room_)) {}
    const int32_t* begin() const { return list_.data(); }
    const int32_t* end() const { return list_.data() + list_.size(); }
    bool empty() const { return list_.empty(); }

  private:
    const NumberBuffer room_;
    std::span<const int32_t> list_;
};

// Players that a role stands for, or the one of a number where that is given, as bits.
inline uint32_t players_meant(Context& c, int role, const IntNode* number) {
    const uint32_t all = (1u << (c.program.players() + 1)) - 2;
    if (!number) return c.program.ids_of(c, role) & all;
    const int one = number->eval(c);
    return one >= 1 && one <= static_cast<int>(c.program.players()) ? 1u << one : 0;
}

// Everything of an owner, as a bit; none where there can be no such owner.
inline uint32_t owner_bit(int id) { return id >= 0 && id < 32 ? 1u << id : 0; }

inline void add_site(const Context& c, SiteSet& out, int site) {
    if (site >= 0 && static_cast<uint32_t>(site) < c.program.words() * 64)
        out.add(static_cast<uint32_t>(site));
}

}  // namespace omnilude::ludeme
