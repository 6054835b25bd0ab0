// Instances rewritten so that less depends on how the rules were written, and all that is read off
// them stays the same. Every step looks only at what a symmetry of the rules would keep, so none
// of them hides a symmetry.
#pragma once

#include <vector>

#include "datalog/grounder.h"

namespace omnilude {

using Atom = uint32_t;                  // a term of the program's bank
using BodyLiteral = uint32_t;           // twice the atom, plus one where it is negated
using Body = std::vector<BodyLiteral>;  // sorted; empty is true
using Definition = std::vector<Body>;   // sorted; none is false

struct NormalForm {
    // By atom: its definition, where it is neither a fluent nor a move. Definitions in turn name
    // only fluents, moves and kept atoms.
    std::vector<Definition> definitions;
    std::vector<Atom> same;  // by atom: the first one with the same definition
    std::vector<bool> kept;
};

NormalForm normalise(const Program& program, const Grounding& grounding, Budget& budget);

}  // namespace omnilude
