// How a literal is looked up in the database, given which variables have values already.
#pragma once

#include <span>
#include <vector>

#include "datalog/database.h"

namespace omnilude {

struct Match {
    struct Slot {  // a variable's value or a constant
        bool constant;
        uint32_t value;
    };
    struct Place {
        Path path;
        uint32_t variable;
    };
    uint32_t index = 0;
    std::vector<Slot> keys;
    std::vector<Place> binds, repeats;

    // Sets the variables that are learnt; false if one occurs twice with different terms.
    bool bind(const TermBank& bank, Term fact, std::span<Term> bindings) const {
        for (const Place& place : binds) bindings[place.variable] = follow(bank, fact, place.path);
        for (const Place& place : repeats)
            if (bindings[place.variable] != follow(bank, fact, place.path)) return false;
        return true;
    }
};

// Walks a pattern and sorts its places into what must hold, what is looked up by, what is learnt.
// `bound` says which variables have values, and is extended by those that are learnt. The index is
// made only if `indexed`.
Match make_match(const TermBank& bank, Database& database, const Pattern& pattern,
                 std::vector<bool>& bound, bool indexed);

}  // namespace omnilude
