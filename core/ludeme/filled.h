// Groups of pieces on a board that is only filled, kept from ply to ply: nothing is ever taken
// away, so a piece can only join groups together (union-find).
#pragma once

#include "ludeme/sites.h"

namespace omnilude::ludeme {

// The sites that are filled, in this order, and their groups as far as conditions have asked.
struct Filled {
    uint32_t count = 0;
    uint16_t sites[max_sites];

    struct Groups {
        const void* condition = nullptr;  // that they are kept for
        uint32_t count = 0;               // of the filled sites that are in them
        SiteSet sites;                    // those
        uint16_t parents[max_sites];      // the first site of a group is its own
        uint64_t marks[max_sites];        // of all sites of a group, at its first

        int first_of(int site) {
            while (parents[site] != site) {
                parents[site] = parents[parents[site]];
                site = parents[site];
            }
            return site;
        }
        uint64_t marks_of(int site) { return marks[first_of(site)]; }
        void join(int a, int b) {
            a = first_of(a), b = first_of(b);
            parents[b] = static_cast<uint16_t>(a);
            marks[a] |= marks[b];
        }
    };
    Groups groups[2];

    void clear() {
        count = 0;
        for (Groups& one : groups) one.condition = nullptr;
    }
    // Those of a condition, up to date; null where there is no room for more. `mark(site)` gives
    // the marks of a site, `join_beside(site, groups)` joins it with those beside it that are in
    // groups.
    template <class Mark, class JoinBeside>
    Groups* update(const void* condition, uint32_t words, Mark&& mark, JoinBeside&& join_beside) {
        Groups* found = nullptr;
        for (Groups& one : groups)
            if (!found && (one.condition == condition || !one.condition)) found = &one;
        if (!found) return nullptr;
        if (!found->condition) {
            found->condition = condition;
            found->count = 0;
            found->sites.clear(words);
        }
        while (found->count < count) {
            const int site = sites[found->count++];
            found->parents[site] = static_cast<uint16_t>(site);
            found->marks[site] = mark(site);
            join_beside(site, *found);
            found->sites.add(static_cast<uint32_t>(site));
        }
        return found;
    }
};

}  // namespace omnilude::ludeme
