// From ground rule instances to a network: what each atom is, in terms of fluents and moves.
#pragma once

#include <vector>

#include "base/budget.h"
#include "circuit/factor.h"
#include "circuit/net.h"
#include "datalog/grounder.h"

namespace omnilude {

struct CircuitNet {
    Net net;
    std::vector<Wire> fluents;            // variables, one for each fluent of the grounding
    std::vector<std::vector<Wire>> does;  // variables, by role and move
    std::vector<std::vector<Wire>> legal;
    std::vector<Wire> next;  // by fluent
    Wire terminal = wire_false;
    struct Goal {
        int value;
        Wire wire;
    };
    std::vector<std::vector<Goal>> goals;  // by role
    struct Percept {
        Term term;
        Wire wire;
    };
    std::vector<std::vector<Percept>> sees;  // by role
    std::vector<Recursion> recursions;       // each rests on earlier ones only
    // What the rules say of a position beyond its fluents: every atom of a relation that rests on
    // `true` and not on `does`, unless it is always or never true. Only where asked for.
    struct View {
        Term atom;
        Wire wire;
    };
    std::vector<View> views;
    bool odd_goal = false;  // a goal value that is no whole number from 0 to 100 can be derived
};

CircuitNet build_net(const Program& program, const Grounding& grounding, Budget& budget,
                     bool views = false);

}  // namespace omnilude
