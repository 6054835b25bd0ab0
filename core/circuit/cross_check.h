// The circuit against the interpreter, on random games: a slip of the compiler must never become a
// silently wrong game.
#pragma once

#include <string>

#include "circuit/circuit_game.h"
#include "datalog/reasoner.h"

namespace omnilude {

struct CrossCheck {
    uint64_t playouts = 0, positions = 0;
    std::string difference;  // empty where the two agree
};

// Plays up to `playouts` games or for `seconds`, whichever ends first, but always looks at the
// initial position.
CrossCheck cross_check(const CircuitGame& game, Reasoner& reasoner, uint64_t playouts,
                       double seconds, uint64_t seed);

}  // namespace omnilude
