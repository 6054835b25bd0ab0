// Goal-directed evaluation with tables: only what a question needs is ever computed, so relations
// that are huge or infinite as a whole, but small for the arguments they are called with, are fine.
//
// A call is a goal with some of its arguments known; its table holds the ground answers. Calls that
// depend on each other are evaluated again until nothing new is found (their first one leads).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/budget.h"
#include "datalog/match.h"

namespace omnilude {

// Calls nest deeper than the stack at hand allows.
struct CallsTooDeep : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct NegationInRecursion : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Prover {
  public:
    Prover(Program& program, Database& database);

    // All ground instances of the goal that hold. Facts of `true` and `does` are in the database.
    // Tables of relations that change during play are kept until `forget`.
    std::vector<Term> ask(const Pattern& goal, Budget& budget);
    void forget();
    // How much of the stack calls may use, from where `ask` is called.
    void limit_stack(size_t bytes) { stack_limit_ = bytes; }
    size_t bytes() const { return bytes_; }

  private:
    struct Table {
        Pattern goal;
        Functor predicate;
        bool ground = false, complete = false, on_stack = false, used = false;
        uint64_t pass = 0;
        uint64_t index = 0, low = 0;  // order of opening, and the earliest call depended on
        std::vector<Term> answers;
        HashTable known;
    };
    struct RuleInfo {
        const Rule* rule;
        std::vector<std::vector<uint32_t>> variables;  // by literal
    };
    using Bindings = std::vector<Term>;

    Table& table_for(const Pattern& literal, const Bindings& bindings);
    void solve(Table& table);
    void solve_rule(Table& table, const RuleInfo& info);
    void join(Table& table, const RuleInfo& info, Bindings& bindings, std::vector<bool>& used);
    void try_positive(Table& table, const RuleInfo& info, Bindings& bindings,
                      std::vector<bool>& used, uint32_t number);
    void answer(Table& table, Term fact);
    void call(Table& caller, Table& callee);
    void check_stack() const;
    bool finished(const Table& table) const { return table.ground && !table.answers.empty(); }
    bool fits(const Pattern& pattern, size_t& at, Term term, Bindings* bindings,
              std::vector<uint32_t>* trail) const;

    Program& program_;
    Database& database_;
    Budget* budget_ = nullptr;
    std::vector<std::vector<RuleInfo>> rules_;  // by functor
    std::vector<bool> only_facts_;              // by functor
    std::unordered_map<std::string, std::unique_ptr<Table>> static_tables_, tables_;
    std::vector<Table*> open_;  // evaluated but not complete
    uint64_t opened_ = 0;
    size_t stack_limit_ = 0;
    const char* stack_base_ = nullptr;
    uint64_t pass_ = 0, changes_ = 0;
    std::unordered_map<uint64_t, Match> matches_;  // by literal and which variables are bound
    size_t bytes_ = 0;
};

}  // namespace omnilude
