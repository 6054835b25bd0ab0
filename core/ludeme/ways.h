// Directions of a generator together with what they lead to: looked up, not found each time.
#pragma once

#include "ludeme/nodes.h"
#include "ludeme/shifts.h"

namespace omnilude::ludeme {

// Room for what must be found after all.
struct WayBuffer {
    std::vector<int32_t> directions, items;
};

class Ways {
  public:
    // `from_register`: they are those of the piece on the site in the register `from`.
    Ways(Program& program, Kind kind, DirectionsPtr node, bool from_register = false);

    const DirectionsNode& directions() const { return *node_; }
    Kind kind() const { return kind_; }
    // Where steps from a site end, each once, in the order of directions.
    std::span<const int32_t> steps(Context& c, int site, WayBuffer& buffer) const;
    // Numbers of rays from a site, by direction.
    std::span<const int32_t> rays(Context& c, int site, WayBuffer& buffer) const;
    // The part of a set that hangs together with one of its sites; false: it must be grown by
    // steps.
    bool flood(Context& c, const SiteSet& set, int start, SiteSet& inside) const;
    // As far as a site of another set, if it comes to one: whether it does.
    bool flood_until(const SiteSet& set, int start, const SiteSet* end, SiteSet& inside) const;
    // Whether that part has a site of another set beside it.
    bool touches(const SiteSet& set, int start, const SiteSet& other) const;
    // Whether they depend on nothing but the site and the piece on it.
    bool steady() const { return tables_.size() == 1 && tables_.front().known; }
    bool can_flood() const { return tables_.size() == 1 && tables_.front().neighbours; }
    // Then: whether every step can be taken back.
    bool is_mutual() const;
    // The sites beside one, as a set, where that can be done.
    const uint64_t* neighbours(int site) const {
        return tables_.front().neighbours + static_cast<size_t>(site) * words_;
    }
    // False only if no ray from one site has the other on it.
    bool may_reach(Context& c, int from, int to) const;
    // Whether it is known what is around a site whatever happens: the next three.
    bool has_sets() const { return !beside_.empty(); }
    // Whether what is beside a site is where the steps of the piece there end, all of it.
    bool has_exact_steps(const Context& c, int site) const {
        if (!beside_are_steps_ || tables_.size() == 1) return beside_are_steps_;
        if (settled_.empty()) return false;
        const size_t piece = piece_at(c, site);
        return settled_[piece] >= 0 && is_movers(c, piece);
    }
    // All sites that the piece on a site may come to by one step, or by two straight on, as sets of
    // words.
    const uint64_t* beside(const Context& c, int site) const {
        return beside_.data() + row(c, site) * words_;
    }
    const uint64_t* beyond(const Context& c, int site) const {
        return beyond_.data() + row(c, site) * words_;
    }
    // The first and the second site straight on of one ray after another.
    std::span<const int32_t> leaps(const Context& c, int site) const {
        return leaps_[row(c, site)];
    }
    // Keeps in a set of sites of the mover's pieces only those with two steps straight on, over a
    // site of one set to one of another; false: it cannot be told by shifts.
    bool keep_leaping(const Context& c, const SiteSet& over, const SiteSet& to,
                      SiteSet& sites) const;
    // The same for one step to a site of a set.
    bool keep_stepping(const Context& c, const SiteSet& to, SiteSet& sites) const;
    bool can_keep_stepping() const { return !step_shifts_.empty(); }
    uint32_t words() const { return words_; }
    // Never less than there are, for any piece or site where it is -1; -1: not known.
    int most_steps(int piece, int site) const { return most(&Table::steps, piece, site); }
    int most_rays(int piece, int site) const { return most(&Table::rays, piece, site); }
    // Never less than the number of sites on all rays, without where they start.
    int most_ray_sites(int piece, int site) const;

  private:
    // Of directions that depend on no more than site and facing; entries are [variant, site].
    struct Table {
        const DirectionsNode* node = nullptr;
        bool known = false, facing = false;
        std::vector<uint32_t> variants;  // by component
        Lists steps, rays;
        std::vector<int32_t> ray_sites;
        std::vector<uint64_t> reach;  // sets of sites: those on rays
        // And those of steps; only where all pieces are alike.
        const uint64_t* neighbours = nullptr;
    };
    const Table& table(Context& c, int site) const;
    template <class Find>
    std::span<const int32_t> look_up(Context& c, Lists Table::* lists, int site, WayBuffer& buffer,
                                     Find&& find) const;
    size_t entry(const Context& c, const Table& table, int site) const;
    int most(Lists Table::* lists, int piece, int site) const;
    size_t row(const Context& c, int site) const {
        if (groups_.empty()) return static_cast<size_t>(site);
        const size_t piece = piece_at(c, site);
        const auto& groups = is_movers(c, piece) ? own_groups_ : groups_;
        return size_t{groups[piece]} * sites_ + static_cast<size_t>(site);
    }
    static bool is_movers(const Context& c, size_t piece) {
        return c.state.owner_of(static_cast<int>(piece)) == c.scalars().mover;
    }
    size_t piece_at(const Context& c, int site) const {
        const int place = c.state.place_anywhere(kind_, site);
        return place < 0 ? 0 : static_cast<size_t>(c.state.what(place));
    }
    void settle(const Program& program);
    void find_sets(const Program& program);
    void find_shifts(const Program& program);
    template <class Add>
    void fill_shifts(const Program& program, std::vector<Shifts>& shifts, Add&& add) const;
    template <class Find>
    bool keep(const Context& c, const std::vector<Shifts>& shifts, SiteSet& sites,
              Find&& find) const;
    template <class Count>
    int greatest(int piece, int site, Count&& count) const;
    void fill(Program& program, Table& table) const;

    Kind kind_;
    uint32_t sites_, words_;
    DirectionsPtr node_;
    std::vector<Table> tables_;
    // By component: which table holds for it if it is the mover's, or -1; empty: all -1.
    std::vector<int> settled_;
    // At [group, site]; a group is of components with the same directions.
    std::vector<uint32_t> groups_;      // by component; empty: one for all
    std::vector<uint32_t> own_groups_;  // the same for those of the mover
    std::vector<uint64_t> beside_, beyond_;
    bool beside_are_steps_ = true;  // no ray begins with anything else
    Lists leaps_;
    // Of the pieces of each owner, and last of all pieces; empty: not known.
    std::vector<Shifts> leap_shifts_, step_shifts_;
};

// Rules out sites by what must be on them for a test to hold, before anything is evaluated.
class Precheck {
  public:
    Precheck(const Program& program, const Ways& ways, const BoolNode* test, Slot slot);
    bool known() const { return hints_ != 0; }
    // All sites that can pass.
    void all_passing(const Context& c, SiteSet& out) const {
        for (uint32_t w = 0; w < words_; ++w) out.bits[w] = passing(c, w);
    }
    // True only if no site of a set, which has as many words as the ways have, can pass.
    bool excludes(const Context& c, const uint64_t* set) const {
        if (!hints_ || c.plain) return false;
        for (uint32_t w = 0; w < words_; ++w)
            if (set[w] & passing(c, w)) return false;
        return true;
    }
    bool excludes_site(const Context& c, int site) const {
        return hints_ && !c.plain &&
               !(passing(c, static_cast<uint32_t>(site) >> 6) >> (site & 63) & 1);
    }
    // Of a site that is in `all_passing`: whether the piece on top of it does not pass.
    bool excludes_top(const Context& c, int site) const {
        return looks_at_top_ && c.state.owner_of(c.state.what(site)) == c.scalars().mover;
    }

  private:
    uint64_t passing(const Context& c, uint32_t word) const {
        uint64_t bits = ~uint64_t{0};
        const uint64_t empty = c.state.empties()[word];
        if (hints_ & MustBeEmpty) bits &= empty;
        if (hints_ & MustBeOccupied) bits &= ~empty;
        if (hints_ & MustNotBeOwn)
            bits &= ~c.state.owned(static_cast<uint32_t>(c.scalars().mover))[word];
        return bits;
    }
    int hints_ = 0;
    bool looks_at_top_ = false;  // in stacks: it must not be the mover's
    uint32_t words_;
};

// All steps to sites that touch, or that share a side.
DirectionsPtr all_adjacent();
DirectionsPtr all_orthogonal();

// A group that grows from a site. Not initialised beyond what it holds.
struct Group {
    uint32_t size = 0;
    SiteSet inside;
    uint16_t sites[max_sites];
    explicit Group(uint32_t words) { inside.clear(words); }
    void add(int site) {
        inside.add(static_cast<uint32_t>(site));
        sites[size++] = static_cast<uint16_t>(site);
    }
    bool has(int site) const { return inside.has(static_cast<uint32_t>(site)); }
};

// All sites that are reached from `start` by steps to sites that join.
template <class Joins>
void grow_group(Context& c, const Ways& ways, int start, Group& group, Joins&& joins) {
    WayBuffer buffer;
    group.size = 0;
    group.add(start);
    for (uint32_t n = 0; n < group.size; ++n)
        for (int next : ways.steps(c, group.sites[n], buffer))
            if (!group.has(next) && joins(next)) group.add(next);
}

}  // namespace omnilude::ludeme
