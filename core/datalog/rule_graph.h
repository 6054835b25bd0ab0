// The rules of a game as a coloured graph whose automorphisms are symmetries of the game.
//
// The instances are first brought into a normal form, so that it matters less how the rules were
// written: constants are folded, conjunctions and alternatives that have names only are unfolded,
// atoms with equal definitions become one. Then there is a vertex for
//   - every role, move and fluent, in this order, numbered as they are listed;
//   - every other atom, as what instances define; where instances use it, another one ("use"),
//     joined to it; where they use a negation, one more ("not"), joined to the use;
//   - every instance, joined to the atom that it defines and to the literals of its body;
//   - terminal, every goal value and every percept of a role, joined to the atom that defines it.
// A move is joined to its role and to the atom that makes it legal, a fluent to the atom that makes
// it true next, goals and percepts to their role. Colours tell these kinds apart, and goals by
// their value.
//
// What is proved by it: an automorphism maps the normal form onto itself, hence the one model of
// the rules in a position onto the model in the mapped position (a renaming of atoms changes no
// semantics, and names of derived relations are no colours). So legal, next, goal and terminal
// commute with it, and what looks the same to a role still does. Initial states are left out.
//
// With `ends` false the graph says only which fluents terminal and each role's goals rest on, not
// how: scores that are added up in some order hide symmetries. Its automorphisms prove that legal
// and next commute; for goals and terminal they are candidates.
#pragma once

#include <string>
#include <vector>

#include "datalog/grounder.h"

namespace omnilude {

struct RuleGraph {
    std::vector<std::string> roles, fluents;
    std::vector<std::vector<std::string>> moves;  // by role
    std::vector<int32_t> colours;                 // by vertex; roles are 0
    std::vector<int32_t> edges;                   // two vertices each
    uint64_t instances = 0;                       // of the normal form
};

RuleGraph make_rule_graph(Program& program, Budget& budget, bool ends);

}  // namespace omnilude
