// The sound interpreter: one position at a time, straight from the rules.
//
// It is the engine of games whose circuit would be too large, and the witness against which every
// circuit is checked when it is loaded: it shares neither the splitting of rules nor the joins with
// the way to the circuit. Not thread-safe: callers hold a lock.
#pragma once

#include <vector>

#include "datalog/prover.h"

namespace omnilude {

class Reasoner {
  public:
    // Each query may take at most `seconds` and `bytes`; so may the constructor.
    Reasoner(Program program, double seconds, uint64_t bytes);
    Reasoner(const Reasoner&) = delete;
    Reasoner& operator=(const Reasoner&) = delete;

    using Position = std::vector<Term>;  // fluents, sorted
    const Position& initial() const { return initial_; }

    struct View {
        bool terminal = false;
        std::vector<std::vector<Term>> legal;  // by role; sorted
        std::vector<std::vector<int>> goals;   // by role; every value that holds, sorted
    };
    View view(const Position& position, bool with_legal, bool with_goals);

    struct Transition {
        Position next;
        std::vector<std::vector<Term>> percepts;  // by role; sorted
    };
    Transition play(const Position& position, std::span<const Term> moves);

    const TermBank& bank() const { return program_.bank; }
    const std::vector<Term>& roles() const { return program_.roles; }

  private:
    // Runs `questions` about a position, with the moves made in it if any.
    template <class Questions>
    void inquire(const Position& position, std::span<const Term> moves, Questions questions);
    std::vector<Term> values(Functor predicate);             // x of predicate(x)
    std::vector<Term> values(Functor predicate, Term role);  // x of predicate(role, x)

    Program program_;
    Database database_;
    double seconds_;
    uint64_t bytes_;
    Budget budget_;
    Prover prover_;
    Position initial_;
};

}  // namespace omnilude
