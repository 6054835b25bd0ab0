// Rules as the front end hands them over, and patterns: terms with variables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datalog/terms.h"

namespace omnilude {

// A term with variables, in prefix order.
struct PatternNode {
    enum class Kind : uint8_t { Variable, Constant, Application };
    Kind kind;
    uint32_t value;  // variable number, ground term, or functor
};
using Pattern = std::vector<PatternNode>;

struct Literal {
    enum class Kind : uint8_t { Positive, Negative, Distinct };
    Kind kind;
    Pattern pattern;
    Pattern other;  // second side of Distinct
};

struct Rule {
    uint32_t variables = 0;
    uint32_t stratum = 0;
    Pattern head;
    std::vector<Literal> body;
};

// What the front end knows of each rule's stratum: evaluated in order, lowest first.
struct Stratum {
    // Static strata depend on neither `true` nor `does`; Position ones on `true` alone; Transition
    // ones on `does` as well.
    enum class Stage : uint8_t { Static, Position, Transition };
    Stage stage;
    std::vector<Functor> predicates;
};

struct Program {
    explicit Program(std::vector<std::string> symbols) : bank(std::move(symbols)) {}
    TermBank bank;
    std::vector<Rule> rules;
    std::vector<Stratum> strata;
    std::vector<std::vector<uint32_t>> rules_of;  // by stratum: numbers of rules
    std::vector<int32_t> stratum_of;              // by functor; -1 where no rule or fact defines it
    // The words of the language, as functors of this bank.
    Functor role, init, truth, next, legal, does, goal, terminal, sees;
    std::vector<Term> roles;

    int32_t stratum_of_functor(Functor f) const {
        return f < stratum_of.size() ? stratum_of[f] : -1;
    }
};

// Reads the front end's flat encoding (see omnilude.rules.gdl.encode, which writes it).
Program decode_program(std::vector<std::string> symbols, std::span<const int32_t> code);

// A goal's value: a whole number from 0 to 100 as it is usually written, or -1 for anything else.
int goal_value(const std::string& text);

Term substitute(TermBank& bank, const Pattern& pattern, std::span<const Term> bindings);
inline Functor head_functor(const TermBank& bank, const Pattern& pattern) {
    return pattern[0].kind == PatternNode::Kind::Constant ? bank.functor_of(pattern[0].value)
                                                          : pattern[0].value;
}

}  // namespace omnilude
