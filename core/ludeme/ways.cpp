#include "ludeme/ways.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {
void add_steps(const Program& program, Kind kind, int site, const std::vector<int32_t>& directions,
               std::vector<int32_t>& out) {
    for (int d : directions)
        for (int t : steps_of(program, kind, site, d))
            if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
}

void add_rays(const Program& program, Kind kind, int site, const std::vector<int32_t>& directions,
              std::vector<int32_t>& out) {
    for (int d : directions) {
        const auto rays = rays_of(program, kind, site, d);
        out.insert(out.end(), rays.begin(), rays.end());
    }
}

void add_list(Lists& lists, const std::vector<int32_t>& items) {
    lists.items.insert(lists.items.end(), items.begin(), items.end());
    lists.start.push_back(static_cast<uint32_t>(lists.items.size()));
}
}  // namespace

Ways::Ways(Program& program, Kind kind, DirectionsPtr node, bool from_register)
    : kind_(kind),
      sites_(program.board.tables[kind].count),
      words_((sites_ + 63) / 64),
      node_(std::move(node)) {
    std::vector<const DirectionsNode*> choices;
    node_->list_choices(choices);
    tables_.resize(choices.size());
    for (size_t n = 0; n < choices.size(); ++n) {
        tables_[n].node = choices[n];
        fill(program, tables_[n]);
    }
    if (!std::all_of(tables_.begin(), tables_.end(), [](const Table& t) { return t.known; }))
        return;
    if (from_register && tables_.size() > 1) settle(program);
    find_sets(program);
}

// Where the piece itself decides between directions, that is known before it moves.
void Ways::settle(const Program& program) {
    for (size_t piece = 0; piece < program.board.components.size(); ++piece) {
        const auto owner = static_cast<int>(program.board.owners[piece]);
        const bool moves = owner >= 1 && owner <= static_cast<int>(program.players());
        const auto* node =
            moves ? node_->chosen_for(kind_, static_cast<int>(piece), owner) : nullptr;
        int number = -1;
        for (size_t n = 0; n < tables_.size(); ++n)
            if (tables_[n].node == node) number = static_cast<int>(n);
        settled_.push_back(number);
    }
}

void Ways::find_sets(const Program& program) {
    constexpr uint32_t unused = ~uint32_t{0};
    std::vector<std::vector<uint32_t>> groups;  // by table: which variant
    auto find_group = [&](size_t piece, int settled) {
        std::vector<uint32_t> variants;
        for (size_t n = 0; n < tables_.size(); ++n)
            variants.push_back(settled < 0 || n == static_cast<size_t>(settled)
                                   ? tables_[n].variants[piece]
                                   : unused);
        const auto at = std::find(groups.begin(), groups.end(), variants);
        const auto number = static_cast<uint32_t>(at - groups.begin());
        if (at == groups.end()) groups.push_back(std::move(variants));
        return number;
    };
    for (size_t piece = 0; piece < program.board.components.size(); ++piece) {
        groups_.push_back(find_group(piece, -1));
        own_groups_.push_back(settled_.empty() ? groups_.back()
                                               : find_group(piece, settled_[piece]));
    }
    beside_.assign(groups.size() * sites_ * words_, 0);
    beyond_ = beside_;
    std::vector<int32_t> leaps;
    for (size_t row = 0; row < groups.size() * sites_; ++row) {
        auto add = [&](std::vector<uint64_t>& sets, int s) {
            sets[row * words_ + static_cast<size_t>(s >> 6)] |= uint64_t{1} << (s & 63);
        };
        leaps.clear();
        for (size_t n = 0; n < tables_.size(); ++n) {
            const uint32_t variant = groups[row / sites_][n];
            if (variant == unused) continue;
            const size_t entry = size_t{variant} * sites_ + row % sites_;
            for (int s : tables_[n].steps[entry]) add(beside_, s);
            for (int number : tables_[n].rays[entry]) {
                const auto sites = ray(program, kind_, number);
                if (sites.size() > 1) {
                    const auto steps = tables_[n].steps[entry];
                    beside_are_steps_ &=
                        std::find(steps.begin(), steps.end(), sites[1]) != steps.end();
                    add(beside_, sites[1]);
                }
                if (sites.size() <= 2) continue;
                add(beyond_, sites[2]);
                leaps.insert(leaps.end(), {sites[1], sites[2]});
            }
        }
        add_list(leaps_, leaps);
    }
    find_shifts(program);
    if (groups.size() <= 1) groups_.clear();
}

// Calls `add(shifts, site, row)` for every site and every group of an owner's pieces, then for
// those of all pieces, whoever is on move.
template <class Add>
void Ways::fill_shifts(const Program& program, std::vector<Shifts>& shifts, Add&& add) const {
    shifts.assign(program.layout.owners + size_t{1}, Shifts(words_));
    std::vector<std::vector<uint32_t>> done(shifts.size());
    for (size_t piece = 0; piece < groups_.size(); ++piece) {
        auto add_group = [&](size_t owner, uint32_t group) {
            if (std::find(done[owner].begin(), done[owner].end(), group) != done[owner].end())
                return;
            done[owner].push_back(group);
            for (uint32_t site = 0; site < sites_; ++site)
                add(shifts[owner], static_cast<int>(site), size_t{group} * sites_ + site);
        };
        add_group(program.board.owners[piece], own_groups_[piece]);
        add_group(shifts.size() - 1, groups_[piece]);
    }
    if (!std::all_of(shifts.begin(), shifts.end(), [](const auto& one) { return one.known(); }))
        shifts.clear();
}

void Ways::find_shifts(const Program& program) {
    fill_shifts(program, leap_shifts_, [&](Shifts& shifts, int site, size_t row) {
        const auto leaps = leaps_[row];
        for (size_t n = 0; n < leaps.size(); n += 2) shifts.add(site, leaps[n], leaps[n + 1]);
    });
    fill_shifts(program, step_shifts_, [&](Shifts& shifts, int site, size_t row) {
        each_bit(beside_.data() + row * words_, words_, [&](int to) {
            shifts.add_step(site, to);
            return false;
        });
    });
}

template <class Find>
bool Ways::keep(const Context& c, const std::vector<Shifts>& shifts, SiteSet& sites,
                Find&& find) const {
    if (shifts.empty()) return false;
    uint64_t starts[max_words];
    std::fill_n(starts, words_, 0);
    // In stacks the piece on top, which may be another's, decides on directions.
    find(c.state.stacking() ? shifts.back() : shifts[static_cast<size_t>(c.scalars().mover)],
         starts);
    if (sites_ % 64) starts[words_ - 1] |= ~uint64_t{0} << sites_ % 64;  // what is not on the board
    for (uint32_t w = 0; w < words_; ++w) sites.bits[w] &= starts[w];
    return true;
}

bool Ways::keep_leaping(const Context& c, const SiteSet& over, const SiteSet& to,
                        SiteSet& sites) const {
    return keep(c, leap_shifts_, sites, [&](const Shifts& shifts, uint64_t* starts) {
        shifts.find_starts(over.bits, to.bits, starts);
    });
}

bool Ways::keep_stepping(const Context& c, const SiteSet& to, SiteSet& sites) const {
    return keep(c, step_shifts_, sites, [&](const Shifts& shifts, uint64_t* starts) {
        shifts.find_starts(to.bits, starts);
    });
}

namespace {
const uint64_t* share_sets(Program& program, std::vector<uint64_t> sets) {
    for (const auto& known : program.neighbours)
        if (*known == sets) return known->data();
    program.neighbours.push_back(std::make_unique<const std::vector<uint64_t>>(std::move(sets)));
    return program.neighbours.back()->data();
}
}  // namespace

void Ways::fill(Program& program, Table& table) const {
    if (!table.node->by_facing()) return;
    table.known = true;
    table.facing = table.node->fixed() == nullptr;
    std::vector<int> facings;
    const auto& components = program.board.components;
    for (size_t piece = 0; piece < components.size(); ++piece) {
        int facing = table.facing ? components[piece].facing : -1;
        if (facing < 0) facing = static_cast<int>(direction::N);
        if (table.facing && piece == 0) facing = -1;  // where nobody stands there is no forward
        const auto at = std::find(facings.begin(), facings.end(), facing);
        table.variants.push_back(static_cast<uint32_t>(at - facings.begin()));
        if (at == facings.end()) facings.push_back(facing);
    }
    const SiteTables& t = program.board.tables[kind_];
    table.reach.assign(facings.size() * sites_ * words_, 0);
    std::vector<uint64_t> neighbours;
    if (!table.facing) neighbours.assign(size_t{sites_} * words_, 0);
    std::vector<int32_t> directions, items;
    for (size_t f = 0; f < facings.size(); ++f)
        for (uint32_t site = 0; site < sites_; ++site) {
            directions.clear();
            table.node->find(program, kind_, static_cast<int>(site), facings[f], directions);
            items.clear();
            add_steps(program, kind_, static_cast<int>(site), directions, items);
            add_list(table.steps, items);
            if (!table.facing)
                for (int s : items)
                    neighbours[site * words_ + static_cast<uint32_t>(s >> 6)] |= uint64_t{1}
                                                                                 << (s & 63);
            items.clear();
            add_rays(program, kind_, static_cast<int>(site), directions, items);
            add_list(table.rays, items);
            int length = 0;
            uint64_t* reach = table.reach.data() + (f * sites_ + site) * words_;
            for (int number : items)
                for (int s : t.rays[static_cast<size_t>(number)].subspan(1)) {
                    ++length;
                    reach[s >> 6] |= uint64_t{1} << (s & 63);
                }
            table.ray_sites.push_back(length);
        }
    if (!neighbours.empty()) table.neighbours = share_sets(program, std::move(neighbours));
}

const Ways::Table& Ways::table(Context& c, int site) const {
    if (tables_.size() == 1) return tables_.front();
    if (!settled_.empty() && !c.plain) {
        const size_t piece = piece_at(c, site);
        if (settled_[piece] >= 0 && is_movers(c, piece))
            return tables_[static_cast<size_t>(settled_[piece])];
    }
    const DirectionsNode* node = &node_->chosen(c);
    for (const Table& one : tables_)
        if (one.node == node) return one;
    throw GameError("directions that were not foreseen");
}

size_t Ways::entry(const Context& c, const Table& table, int site) const {
    if (!table.facing) return static_cast<size_t>(site);
    return size_t{table.variants[piece_at(c, site)]} * sites_ + static_cast<size_t>(site);
}

template <class Find>
std::span<const int32_t> Ways::look_up(Context& c, Lists Table::* lists, int site,
                                       WayBuffer& buffer, Find&& find) const {
    const Table& t = table(c, site);
    if (t.known) return (t.*lists)[entry(c, t, site)];
    buffer.directions.clear();
    buffer.items.clear();
    t.node->eval(c, kind_, site, -1, buffer.directions);
    find(c.program, kind_, site, buffer.directions, buffer.items);
    return buffer.items;
}

std::span<const int32_t> Ways::steps(Context& c, int site, WayBuffer& buffer) const {
    return look_up(c, &Table::steps, site, buffer, add_steps);
}

std::span<const int32_t> Ways::rays(Context& c, int site, WayBuffer& buffer) const {
    return look_up(c, &Table::rays, site, buffer, add_rays);
}

namespace {
// The part of a set that hangs together with a site, until a site of `end` joins it or one of
// `beside` lies beside it, where they are given: whether that happened. Where the width is known
// when it is compiled, sets of few words stay in registers; 0: it is not.
template <uint32_t Known>
bool flood_words(uint32_t width, const uint64_t* neighbours, const uint64_t* set, uint32_t start,
                 const uint64_t* end, const uint64_t* beside, uint64_t* result) {
    const uint32_t words = Known ? Known : width;
    uint64_t waiting[Known ? Known : max_words] = {}, inside[Known ? Known : max_words] = {};
    waiting[start / 64] = inside[start / 64] = uint64_t{1} << start % 64;
    uint64_t met = 0;
    for (uint32_t w = 0; w < words && !met;) {
        if (!waiting[w]) {
            ++w;
            continue;
        }
        const auto site = w * 64 + static_cast<uint32_t>(std::countr_zero(waiting[w]));
        waiting[w] &= waiting[w] - 1;
        const uint64_t* around = neighbours + size_t{site} * words;
        uint32_t lowest = w;
        for (uint32_t v = words; v-- > 0;) {
            const uint64_t more = around[v] & set[v] & ~inside[v];
            inside[v] |= more;
            waiting[v] |= more;
            if (v < w && more) lowest = v;
            if (end) met |= more & end[v];
            if (beside) met |= around[v] & beside[v];
        }
        w = lowest;
    }
    for (uint32_t v = 0; v < words; ++v) result[v] = inside[v];
    return met != 0;
}

auto* flood_of_width(uint32_t words) {
    return words == 1   ? flood_words<1>
           : words == 2 ? flood_words<2>
           : words == 3 ? flood_words<3>
           : words == 4 ? flood_words<4>
           : words == 6 ? flood_words<6>
                        : flood_words<0>;
}
}  // namespace

bool Ways::is_mutual() const {
    for (uint32_t site = 0; site < sites_; ++site)
        if (each_bit(neighbours(static_cast<int>(site)), words_,
                     [&](int other) { return !(neighbours(other)[site >> 6] >> (site & 63) & 1); }))
            return false;
    return true;
}

bool Ways::touches(const SiteSet& set, int start, const SiteSet& other) const {
    const uint64_t* around = neighbours(start);
    for (uint32_t w = 0; w < words_; ++w)
        if (around[w] & other.bits[w]) return true;
    SiteSet inside;
    return flood_of_width(words_)(words_, tables_.front().neighbours, set.bits,
                                  static_cast<uint32_t>(start), nullptr, other.bits, inside.bits);
}

bool Ways::flood_until(const SiteSet& set, int start, const SiteSet* end, SiteSet& inside) const {
    return flood_of_width(words_)(words_, tables_.front().neighbours, set.bits,
                                  static_cast<uint32_t>(start), end ? end->bits : nullptr, nullptr,
                                  inside.bits);
}

bool Ways::flood(Context& c, const SiteSet& set, int start, SiteSet& inside) const {
    if (!can_flood()) return false;
    Context::Grown& last = c.grown;
    const uint64_t* const neighbours = tables_.front().neighbours;
    const size_t bytes = words_ * sizeof(uint64_t);
    if (last.neighbours != neighbours || last.start != start ||
        std::memcmp(last.set.bits, set.bits, bytes) != 0) {
        last.neighbours = neighbours;
        last.start = start;
        std::memcpy(last.set.bits, set.bits, bytes);
        flood_until(set, start, nullptr, last.inside);
    }
    std::memcpy(inside.bits, last.inside.bits, bytes);
    return true;
}

bool Ways::may_reach(Context& c, int from, int to) const {
    if (static_cast<uint32_t>(to) >= sites_) return false;
    const Table& t = table(c, from);
    if (!t.known) return true;
    return t.reach[entry(c, t, from) * words_ + static_cast<size_t>(to >> 6)] >> (to & 63) & 1;
}

template <class Count>
int Ways::greatest(int piece, int site, Count&& count) const {
    const auto low = static_cast<uint32_t>(std::max(site, 0));
    const uint32_t high = site < 0 ? sites_ : std::min(sites_, low + 1);
    const int settled = piece < 0 || settled_.empty() ? -1 : settled_[static_cast<size_t>(piece)];
    int result = 0;
    for (const Table& t : tables_) {
        if (!t.known) return -1;
        if (settled >= 0 && &t != &tables_[static_cast<size_t>(settled)]) continue;
        for (size_t p = 0; p < t.variants.size(); ++p)
            if (piece < 0 || static_cast<size_t>(piece) == p)
                for (uint32_t s = low; s < high; ++s)
                    result = std::max(result, count(t, size_t{t.variants[p]} * sites_ + s));
    }
    return result;
}

int Ways::most(Lists Table::* lists, int piece, int site) const {
    return greatest(piece, site, [&](const Table& t, size_t n) {
        return static_cast<int>((t.*lists)[n].size());
    });
}

int Ways::most_ray_sites(int piece, int site) const {
    return greatest(piece, site,
                    [](const Table& t, size_t n) { return static_cast<int>(t.ray_sites[n]); });
}

// --- what must be beside a site ---

Precheck::Precheck(const Program& program, const Ways& ways, const BoolNode* test, Slot slot)
    : words_(ways.words()) {
    const Kind kind = ways.kind();
    const bool sites_are_places = program.layout.layer[kind] == 0;
    if (!test || !sites_are_places || !ways.has_sets() || program.wants.count) return;
    if (program.layout.hands && kind != program.board.kind) return;
    hints_ = test->hints(slot, kind);
    // Sets of owners tell who is on top only where there is one piece on a place.
    if (program.wants.stacking && hints_ & MustNotBeOwn) {
        hints_ &= ~MustNotBeOwn;
        looks_at_top_ = true;
    }
}

}  // namespace omnilude::ludeme
