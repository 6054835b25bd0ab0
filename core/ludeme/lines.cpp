// Conditions about lines and patterns.
#include <algorithm>
#include <array>

#include "ludeme/reader.h"
#include "ludeme/ways.h"

namespace omnilude::ludeme {

namespace {

// Sites to look at from each site for lines of one length through it, run by run: away along a
// ray, then along the opposite one. Runs are equally long; a site that is no site ends them.
class LineRuns {
  public:
    LineRuns(const SiteTables& t, int direction, int reach, bool use_opposites, int nowhere)
        : stride_(static_cast<size_t>(reach) + 1) {
        for (uint32_t site = 0; site < t.count; ++site) {
            const size_t at = static_cast<size_t>(direction) * t.count + site;
            for (int number : t.distinct_at[at]) {
                const int opposite = t.opposite[static_cast<size_t>(number)];
                add(t.rays[static_cast<size_t>(number)], nowhere);
                if (opposite >= 0 && use_opposites)
                    add(t.rays[static_cast<size_t>(opposite)], nowhere);
                else
                    add({}, nowhere);
            }
            starts_.push_back(static_cast<uint32_t>(runs_.size()));
        }
    }
    // Whether some line of pieces like that on a site is long enough, or exactly so long.
    bool any(const uint16_t* what, int site, int length, bool exact) const {
        const int own = what[site];
        const int16_t* run = runs_.data() + starts_[static_cast<size_t>(site)];
        const int16_t* const end = runs_.data() + starts_[static_cast<size_t>(site) + 1];
        for (; run != end; run += 2 * stride_) {
            // Most sites have no such piece beside them: one branch for both sides.
            if ((what[run[0]] != own) & (what[run[stride_]] != own)) continue;
            int count = 1;
            for (const int16_t* s = run; what[*s] == own; ++s) ++count;
            for (const int16_t* s = run + stride_; what[*s] == own; ++s) ++count;
            if (exact ? count == length : count >= length) return true;
        }
        return false;
    }

  private:
    void add(std::span<const int32_t> sites, int nowhere) {
        for (size_t n = 1; n <= stride_; ++n)
            runs_.push_back(
                static_cast<int16_t>(n < sites.size() && n < stride_ ? sites[n] : nowhere));
    }
    size_t stride_;
    std::vector<uint32_t> starts_{0};
    std::vector<int16_t> runs_;
};

struct Line {
    Kind kind;
    IntPtr length, through;
    RegionPtr through_any;
    int direction;
    std::vector<int32_t> pieces;  // numbers of components; where empty: that of the pivot
    std::vector<IntPtr> whats;
    int role;  // or -1
    BoolPtr exact, contiguous, test;
    bool by_level, top, use_opposites;
    IntPtr how_many;
    std::unique_ptr<LineRuns> runs;  // where nothing is asked of a line but its length
};

// The pieces that may make up a line, as bits where there are few components, else a list.
class PieceSet {
  public:
    void add(int piece) {
        if (piece < 64)
            bits_ |= uint64_t{1} << piece;
        else
            more_.push_back(piece);
    }
    bool has(int piece) const {
        if (piece < 64) return bits_ >> piece & 1;
        return std::find(more_.begin(), more_.end(), piece) != more_.end();
    }

  private:
    uint64_t bits_ = 0;
    std::vector<int32_t> more_;
};

void add_wanted(Context& c, const Line& line, PieceSet& wanted, int otherwise) {
    if (!line.whats.empty()) {
        for (const auto& what : line.whats) wanted.add(what->eval(c));
    } else if (line.role >= 0) {
        const int owner = c.program.id_of(c, line.role);
        const auto& components = c.program.board.components;
        for (size_t n = 1; n < components.size(); ++n)
            if (components[n].owner == owner) wanted.add(static_cast<int>(n));
    } else {
        wanted.add(otherwise);
    }
}

bool flat_line_through(Context& c, const Line& line, int pivot, int length, bool& give_up) {
    give_up = false;
    const int before = c.registers.to;
    if (pivot < 0) return give_up = true, false;
    c.registers.to = pivot;
    if (line.test && !line.test->eval(c)) {
        c.registers.to = before;
        return give_up = true, false;
    }
    if (!on_board(c.program, line.kind, pivot)) return give_up = true, false;
    const int own = c.state.what(c.state.place(line.kind, pivot));
    PieceSet wanted;
    add_wanted(c, line, wanted, own);
    if (!wanted.has(own)) return false;
    const bool exact = line.exact && line.exact->eval(c);
    const bool contiguous = !line.contiguous || line.contiguous->eval(c);
    const int how_many = line.how_many ? line.how_many->eval(c) : 1;
    uint64_t kinds_met = 0;
    auto meet = [&](int piece) { kinds_met |= uint64_t{1} << (piece & 63); };
    auto enough = [&] { return std::popcount(kinds_met) >= how_many; };
    const SiteTables& t = c.program.board.tables[line.kind];
    // Counts along a ray; returns whether the line is complete.
    auto walk = [&](int number, int& count) {
        const auto sites = t.rays[static_cast<size_t>(number)];
        for (size_t n = 1; n < sites.size(); ++n) {
            if (line.test) c.registers.to = sites[n];
            const int piece = c.state.what(c.state.place(line.kind, sites[n]));
            if (wanted.has(piece) && (!line.test || line.test->eval(c))) {
                ++count;
                meet(piece);
                if (!exact && count == length && enough()) return true;
            } else if (contiguous) {
                return false;
            }
        }
        return false;
    };
    for (int number : distinct_rays_of(c.program, line.kind, pivot, line.direction)) {
        int count = 1;
        kinds_met = 0;
        meet(own);
        if (walk(number, count)) return c.registers.to = before, true;
        const int opposite = t.opposite[static_cast<size_t>(number)];
        if (opposite >= 0 && line.use_opposites) {
            int both = count;
            if (walk(opposite, both)) return c.registers.to = before, true;
            if (both == length && enough()) return c.registers.to = before, true;
        } else if (count == length && enough()) {
            return c.registers.to = before, true;
        }
    }
    c.registers.to = before;
    return false;
}

bool flat_line(Context& c, const Line& line) {
    const int length = line.length->eval(c);
    bool give_up = false;
    if (!line.through_any)
        return flat_line_through(c, line, line.through->eval(c), length, give_up);
    SiteSet pivots;
    line.through_any->eval(c, pivots);
    bool found = false;
    pivots.any(c.program.words(), [&](int pivot) {
        if (!line.whats.empty()) {
            PieceSet wanted;
            add_wanted(c, line, wanted, 0);
            if (!wanted.has(c.state.what(c.state.place_anywhere(line.kind, pivot)))) return false;
        }
        found = flat_line_through(c, line, pivot, length, give_up);
        return found || give_up;
    });
    return found;
}

bool stack_line(Context& c, const Line& line) {
    const int start = line.through->eval(c);
    if (!on_board(c.program, line.kind, start)) return false;
    const State& s = c.state;
    const int place = s.place(line.kind, start);
    const int length = line.length->eval(c);
    const bool exact = line.exact && line.exact->eval(c);
    PieceSet wanted;
    add_wanted(c, line, wanted, s.what(place));
    if (length == 1) return true;
    const SiteTables& t = c.program.board.tables[line.kind];
    auto at = [&](int site) { return s.place(line.kind, site); };
    auto matches = [&](int site) {
        const int p = at(site);
        if (line.top) return wanted.has(s.what(p)) && s.height(p) > 0;
        for (int level = 0; level < s.height(p); ++level)
            if (wanted.has(s.what(p, level))) return true;
        return false;
    };
    const auto rays = distinct_rays_of(c.program, line.kind, start, line.direction);
    if (!line.by_level) {
        if (!matches(start)) return false;
        for (int number : rays) {
            int count = 1;
            auto walk = [&](int n, int& sum) {
                const auto sites = t.rays[static_cast<size_t>(n)];
                for (size_t i = 1; i < sites.size(); ++i) {
                    c.registers.to = sites[i];
                    if (!matches(sites[i]) || (line.test && !line.test->eval(c))) return false;
                    if (++sum == length && !exact) return true;
                }
                return false;
            };
            if (walk(number, count)) return true;
            const int opposite = t.opposite[static_cast<size_t>(number)];
            if (opposite >= 0) {
                if (walk(opposite, count)) return true;
            }
            if (count == length) return true;
        }
        return false;
    }
    const int height = s.height(place), top = height - 1;
    if (height >= length) {
        int count = 1;
        for (int level = top - 1; level >= 0 && count < length; --level) {
            if (!wanted.has(s.what(place, level))) break;
            ++count;
        }
        if (count == length) return true;
    }
    if (height == 0) return false;
    for (int number : rays) {
        const auto forward = t.rays[static_cast<size_t>(number)];
        const int opposite = t.opposite[static_cast<size_t>(number)];
        // How the level changes from site to site: level, downwards, upwards.
        for (int slope : {0, -1, 1}) {
            int count = 0;
            bool complete = false;
            auto look = [&](int site, int level, int& sum) {
                if (level < 0) return true;  // passed over
                if (s.height(at(site)) <= level || !wanted.has(s.what(at(site), level)))
                    return false;
                if (++sum == length && !exact) complete = true;
                return !complete;
            };
            for (size_t i = 0; i < forward.size(); ++i)
                if (!look(forward[i], top + slope * static_cast<int>(i), count)) break;
            if (complete) return true;
            if (opposite >= 0) {
                int both = count;
                const auto back = t.rays[static_cast<size_t>(opposite)];
                for (size_t i = 1; i < back.size(); ++i)
                    if (!look(back[i], top - slope * static_cast<int>(i), both)) break;
                if (complete) return true;
                // Downwards the test after the fact looks at the first half only.
                if ((slope == -1 ? count : both) == length) return true;
            } else if (count == length) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

void add_line_conditions(Makers<BoolPtr>& m) {
    m["is Line"] = [](Reader& r) {
        auto line = std::make_shared<Line>();
        line->kind = r.kind();
        line->length = r.integer();
        line->direction = r.number();
        line->through = r.integer();
        line->through_any = r.region();
        line->role = r.number();
        line->whats = r.integers();
        line->exact = r.boolean();
        line->contiguous = r.boolean();
        line->test = r.boolean();
        line->by_level = r.flag();
        line->top = r.flag();
        line->use_opposites = r.flag();
        line->how_many = r.integer();
        const bool plain = line->length->constant() && !line->through_any && line->role < 0 &&
                           line->whats.empty() && !line->contiguous && !line->test &&
                           !line->how_many && !r.program.wants.stacking;
        // Runs take room; lines longer than the board has sites are not worth it.
        const auto sites = static_cast<int>(r.program.board.tables[line->kind].count);
        if (plain && *line->length->constant() > 1 && *line->length->constant() <= sites)
            line->runs = std::make_unique<LineRuns>(
                r.program.board.tables[line->kind], line->direction, *line->length->constant(),
                line->use_opposites, r.program.layout.nowhere(line->kind));
        return make_bool([line](Context& c) {
            if (line->runs) {
                const int site = line->through->eval(c);
                if (!on_board(c.program, line->kind, site)) return false;
                const bool exact = line->exact && line->exact->eval(c);
                return line->runs->any(c.state.pieces(line->kind), site, *line->length->constant(),
                                       exact);
            }
            return c.state.stacking() ? stack_line(c, *line) : flat_line(c, *line);
        });
    };
    // Turtle walks over the board, as lists of sites for each start and heading.
    m["is Pattern"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto start = r.integer();
        auto whats = r.integers();
        const int headings = r.number(), length = r.number();
        const std::vector<int32_t> walks = r.numbers();  // [sites, headings, length]
        return make_bool([=, start = std::move(start), whats = std::move(whats)](Context& c) {
            const int s = start->eval(c);
            if (!on_board(c.program, kind, s)) return false;
            const NumberBuffer wanted_room(c);
            std::vector<int32_t>& wanted = *wanted_room;
            for (const auto& what : whats) wanted.push_back(what->eval(c));
            const int own = c.state.what(c.state.place(kind, s));
            if (whats.empty()) wanted.push_back(own);
            if (wanted[0] == 0 && whats.empty()) return false;
            if (own != wanted[0]) return false;
            for (int h = 0; h < headings; ++h) {
                const auto first = static_cast<size_t>((s * headings + h) * length);
                bool fits = true;
                for (int n = 0; n < length && fits; ++n) {
                    const int site = walks[first + static_cast<size_t>(n)];
                    fits = site >= 0 && c.state.what(c.state.place(kind, site)) ==
                                            wanted[static_cast<size_t>(n + 1) % wanted.size()];
                }
                if (fits) return true;
            }
            return false;
        });
    };
}

}  // namespace omnilude::ludeme
