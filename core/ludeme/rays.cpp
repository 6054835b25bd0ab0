#include "ludeme/rays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

namespace omnilude::ludeme {

namespace {

using Point = std::array<double, 3>;
const double most_bent = std::tan(0.25);       // from one step of a ray to the next
const double nearly_straight = std::tan(0.1);  // between rays that are opposite

// The tangent of the turn at b on the way from a to c; infinite for a right angle or more.
double bend(const Point& a, const Point& b, const Point& c) {
    const Point v{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const Point u{c[0] - b[0], c[1] - b[1], c[2] - b[2]};
    const double dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    if (dot <= 0) return std::numeric_limits<double>::infinity();
    const double x = v[1] * u[2] - v[2] * u[1];
    const double y = v[2] * u[0] - v[0] * u[2];
    const double z = v[0] * u[1] - v[1] * u[0];
    return std::sqrt(x * x + y * y + z * z) / dot;
}

// Angle from north; what is west of it by a hair counts as north.
double clockwise(const Point& start, const Point& end) {
    double score = std::numbers::pi / 2 - std::atan2(end[1] - start[1], end[0] - start[0]) + 0.0001;
    while (score < 0) score += 2 * std::numbers::pi;
    return score;
}

constexpr int rotational = 10;  // Rotational among the directions

bool turns_round(int d) {
    return d == direction::CW || d == direction::CCW || d == direction::In || d == direction::Out;
}

class Tracer {
  public:
    Tracer(const std::vector<Point>& points, const Lists& ends) : points_(points), ends_(ends) {}

    // All rays from a site, in the order of directions, each with its opposite.
    void from(int site, RayTables& out) {
        const auto first = static_cast<int32_t>(out.direction.size());
        for (int d = 0; d < direction::count; ++d)
            for (int32_t end : ends_[index(d, site)]) {
                found_.clear();
                path_.assign({site, end});
                trace(d);
                for (const auto& sites : found_) add(d, sites, first, out);
            }
    }

    size_t index(int d, int site) const {
        return static_cast<size_t>(d) * points_.size() + static_cast<size_t>(site);
    }

  private:
    void add(int d, const std::vector<int32_t>& sites, int32_t first, RayTables& out) {
        const auto now = static_cast<int32_t>(out.direction.size());
        for (int32_t n = first; n < now; ++n) {
            const auto other = out.rays[static_cast<size_t>(n)];
            if (out.direction[static_cast<size_t>(n)] == d &&
                std::equal(other.begin(), other.end(), sites.begin(), sites.end()))
                return;
        }
        out.rays.items.insert(out.rays.items.end(), sites.begin(), sites.end());
        out.rays.start.push_back(static_cast<uint32_t>(out.rays.items.size()));
        out.direction.push_back(d);
        out.opposite.push_back(-1);
        for (int32_t n = first; n < now; ++n) {
            const int e = out.direction[static_cast<size_t>(n)];
            const int32_t next = out.rays[static_cast<size_t>(n)][1];
            const bool comparable = d == e || (d >= direction::first && e >= direction::first);
            if (!pair_up(d, e) && !(comparable && opposite(sites[0], sites[1], next))) continue;
            int32_t& mine = out.opposite[static_cast<size_t>(now)];
            int32_t& its = out.opposite[static_cast<size_t>(n)];
            if (mine < 0) mine = n;
            if (its < 0) its = now;
        }
    }

    static bool pair_up(int d, int e) {
        using namespace direction;
        return (d == CW && e == CCW) || (d == CCW && e == CW) || (d == In && e == Out) ||
               (d == Out && e == In);
    }

    bool opposite(int site, int a, int b) const {
        return bend(points_[static_cast<size_t>(a)], points_[static_cast<size_t>(site)],
                    points_[static_cast<size_t>(b)]) < nearly_straight;
    }

    // More than one ray only where two ways are equally straight.
    void trace(int d) {
        const size_t length = path_.size();
        for (;;) {
            const std::vector<int32_t>& next = following(d, path_[path_.size() - 2], path_.back());
            const bool known =
                next.size() == 1 && std::find(path_.begin(), path_.end(), next[0]) != path_.end();
            if (next.empty() || known) {
                found_.push_back(path_);
                break;
            }
            if (next.size() == 1) {
                path_.push_back(next[0]);
                continue;
            }
            for (int32_t site : std::vector<int32_t>(next)) {
                if (std::find(path_.begin(), path_.end(), site) != path_.end()) {
                    found_.push_back(path_);
                    continue;
                }
                path_.push_back(site);
                trace(d);
                path_.pop_back();
            }
            break;
        }
        path_.resize(length);
    }

    const std::vector<int32_t>& following(int d, int32_t before, int32_t at) {
        const uint64_t key = (static_cast<uint64_t>(d) << 48) |
                             (static_cast<uint64_t>(before) << 24) | static_cast<uint64_t>(at);
        const auto [found, fresh] = next_.try_emplace(key);
        if (!fresh) return found->second;
        const auto candidates = ends_[index(d, at)];
        std::vector<int32_t>& chosen = found->second;
        if (turns_round(d)) {
            if (!candidates.empty()) chosen.push_back(candidates[0]);
            return chosen;
        }
        double best = most_bent;
        for (int32_t end : candidates) {
            const double turned =
                bend(points_[static_cast<size_t>(before)], points_[static_cast<size_t>(at)],
                     points_[static_cast<size_t>(end)]);
            if (turned < best) {
                best = turned;
                chosen.assign({end});
                if (turned == 0.0) break;
            } else if (turned == best) {
                chosen.push_back(end);
            }
        }
        return chosen;
    }

    const std::vector<Point>& points_;
    const Lists& ends_;
    std::unordered_map<uint64_t, std::vector<int32_t>> next_;
    std::vector<int32_t> path_;
    std::vector<std::vector<int32_t>> found_;
};

// Inwards, outwards and around together, without those that begin another.
void gather_rotational(const RayTables& out, std::vector<std::vector<int32_t>>& by_direction) {
    std::vector<int32_t> gathered = by_direction[rotational];
    for (int d :
         {int{direction::In}, int{direction::Out}, int{direction::CW}, int{direction::CCW}}) {
        const auto& more = by_direction[static_cast<size_t>(d)];
        gathered.insert(gathered.end(), more.begin(), more.end());
    }
    for (size_t n = gathered.size(); n-- > 0;) {
        const auto sites = out.rays[static_cast<size_t>(gathered[n])];
        bool begins = false;
        for (size_t m = 0; m < gathered.size() && !begins; ++m) {
            const auto other = out.rays[static_cast<size_t>(gathered[m])];
            begins = m != n && other.size() >= sites.size() &&
                     std::equal(sites.begin(), sites.end(), other.begin());
        }
        if (begins) gathered.erase(gathered.begin() + static_cast<long>(n));
    }
    if (!gathered.empty()) by_direction[rotational] = gathered;
}

bool same_sites(const RayTables& out, int32_t a, int32_t b) {
    const auto x = out.rays[static_cast<size_t>(a)], y = out.rays[static_cast<size_t>(b)];
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

RayTables trace_rays(const std::vector<std::array<double, 3>>& points, const Lists& ends) {
    RayTables out;
    Tracer tracer(points, ends);
    const size_t sites = points.size();
    std::vector<std::vector<int32_t>> at(direction::count * sites), distinct(at.size());
    std::vector<std::vector<int32_t>> by_direction(direction::count);
    for (size_t site = 0; site < sites; ++site) {
        const size_t first = out.direction.size();
        tracer.from(static_cast<int>(site), out);
        for (auto& list : by_direction) list.clear();
        for (size_t n = first; n < out.direction.size(); ++n)
            by_direction[static_cast<size_t>(out.direction[n])].push_back(static_cast<int32_t>(n));
        gather_rotational(out, by_direction);
        for (size_t d = 0; d < direction::count; ++d) {
            std::vector<int32_t>& all = by_direction[d];
            std::vector<int32_t> kept;
            for (int32_t ray : all) {
                const bool back = std::any_of(kept.begin(), kept.end(), [&](int32_t one) {
                    const int32_t other = out.opposite[static_cast<size_t>(one)];
                    return other >= 0 && same_sites(out, other, ray);
                });
                if (!back) kept.push_back(ray);
            }
            auto angle = [&](int32_t ray) {
                return clockwise(
                    points[site],
                    points[static_cast<size_t>(out.rays[static_cast<size_t>(ray)][1])]);
            };
            auto earlier = [&](int32_t a, int32_t b) { return angle(a) < angle(b); };
            std::stable_sort(all.begin(), all.end(), earlier);
            std::stable_sort(kept.begin(), kept.end(), earlier);
            at[d * sites + site] = all;
            distinct[d * sites + site] = kept;
        }
    }
    auto flatten = [](const std::vector<std::vector<int32_t>>& lists, Lists& into) {
        for (const auto& list : lists) {
            into.items.insert(into.items.end(), list.begin(), list.end());
            into.start.push_back(static_cast<uint32_t>(into.items.size()));
        }
    };
    flatten(at, out.at);
    flatten(distinct, out.distinct);
    return out;
}

}  // namespace omnilude::ludeme
