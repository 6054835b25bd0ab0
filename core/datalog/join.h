// Rules turned into join plans, and the semi-naive fixpoint that runs them.
//
// Static facts are derived with every negation tested; when rules are grounded, a negation of
// something that changes during play is left open. Every way to fire a rule is handed to a sink.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/budget.h"
#include "datalog/match.h"

namespace omnilude {

class Joiner {
  public:
    // Called for each way to satisfy a rule's body: the rule and, for each literal of its body that
    // is a tested positive one, the fact it matched.
    using Sink = std::function<void(const Rule&, Term head, std::span<const Term> matched)>;

    Joiner(Program& program, Database& database, Budget& budget)
        : program_(program), database_(database), budget_(budget) {}

    // Prepares the rules of these strata to be run together. Negated literals of a predicate for
    // which `open` holds are not tested.
    struct Group {
        std::vector<uint32_t> full;                                   // plans run once
        std::unordered_map<Functor, std::vector<uint32_t>> triggers;  // plans run for each new fact
    };
    Group prepare(std::span<const uint32_t> strata, const std::function<bool(Functor)>& open);

    // Queues a fact; it takes effect in the next run.
    void add(Term fact) {
        if (queued_.size() <= fact) queued_.resize(fact * 2 + 64, 0);
        if (queued_[fact] || database_.holds(fact)) return;
        queued_[fact] = 1;
        queue_.push_back(fact);
    }
    void run(const Group& group, const Sink& sink);

    std::span<const Term> bindings() const { return bindings_; }

  private:
    struct Step {
        enum class Kind : uint8_t { Match, Absent, Differ };
        Kind kind;
        bool not_newest = false;  // an earlier literal of the rule already stands for the new fact
        uint32_t literal;
        Match match;
    };
    struct Plan {
        const Rule* rule;
        int32_t trigger;  // literal that the new fact stands for, or -1
        Match entry;
        std::vector<Step> steps;
    };

    uint32_t make_plan(const Rule& rule, int32_t trigger,
                       const std::function<bool(Functor)>& recursive,
                       const std::function<bool(Functor)>& open);
    double estimate(const Pattern& pattern, const std::vector<bool>& bound) const;
    void start(const Plan& plan, Term fact, const Sink& sink);
    void join(const Plan& plan, size_t step, const Sink& sink);

    Program& program_;
    Database& database_;
    Budget& budget_;
    std::vector<Plan> plans_;
    std::vector<uint8_t> queued_;
    std::vector<Term> queue_;
    size_t head_ = 0;
    Term newest_ = 0;
    std::vector<Term> bindings_, matched_, keys_;
};

}  // namespace omnilude
