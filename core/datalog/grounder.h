// Grounding: every way in which a rule might ever fire during play, without variables.
//
// Reachability is over-approximated: what changes during play may be both true and false, so only
// negations of static relations prune. The result is sound, because the circuit built from it keeps
// the negations.
#pragma once

#include <vector>

#include "base/budget.h"
#include "datalog/rules.h"

namespace omnilude {

struct Grounding {
    std::vector<Term> fluents;             // f for every true(f) that may hold, by text
    std::vector<Term> initial;             // f for every init(f)
    std::vector<std::vector<Term>> moves;  // by role
    // Instances one after another: head, number of positive and of negative literals, then those.
    std::vector<uint32_t> instances;
    uint64_t instance_count = 0;
};

Grounding ground(Program& program, Budget& budget);

}  // namespace omnilude
