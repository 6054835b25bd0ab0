// The sound interpreter: one position at a time, straight from the rules.
//
// It is the engine of games whose grounding would explode, and the witness against which every
// circuit is checked when it is loaded. Not thread-safe: callers hold a lock.
#pragma once

#include <memory>
#include <vector>

#include "datalog/join.h"

namespace omnilude {

class Reasoner {
   public:
    // Each query may take at most `seconds`; construction (static facts) spends from the same.
    Reasoner(Program program, double seconds, uint64_t bytes);

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
    TermBank& bank() { return program_.bank; }
    const std::vector<Term>& roles() const { return program_.roles; }
    const Database& database() const { return database_; }

   private:
    struct Query {
        std::vector<Joiner::Group> groups;
        std::vector<Functor> predicates;  // to be cleared afterwards
    };
    Query prepare(std::span<const Functor> wanted);
    void evaluate(const Query& query, const Position& position, std::span<const Term> moves);
    size_t role_number(Term role) const;

    Program program_;
    Database database_;
    double seconds_;
    uint64_t bytes_;
    Budget budget_;
    Joiner joiner_;
    Query legal_, goal_, both_, next_;
    Position initial_;
};

}  // namespace omnilude
