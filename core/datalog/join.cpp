#include "datalog/join.h"

#include <algorithm>
#include <cmath>

namespace omnilude {

namespace {

using Kind = PatternNode::Kind;

bool all_bound(const Pattern& pattern, const std::vector<bool>& bound) {
    return std::all_of(pattern.begin(), pattern.end(), [&](const PatternNode& node) {
        return node.kind != Kind::Variable || bound[node.value];
    });
}

}  // namespace

// How many facts a literal is likely to match once `bound` variables have values.
double Joiner::estimate(const Pattern& pattern, const std::vector<bool>& bound) const {
    const Functor predicate = head_functor(program_.bank, pattern);
    const int32_t stratum = program_.stratum_of_functor(predicate);
    if (stratum < 0) return 0;
    double facts = static_cast<double>(database_.facts(predicate).size());
    if (program_.strata[stratum].stage != Stratum::Stage::Static) facts = std::max(facts, 400.0);
    double known = 0, places = 0;
    for (const PatternNode& node : pattern) {
        if (node.kind == Kind::Application) continue;
        places += 1;
        known += node.kind == Kind::Constant || bound[node.value];
    }
    if (known == places) return 0.5;
    return std::pow(facts + 1, 1 - known / places);
}

uint32_t Joiner::make_plan(const Rule& rule, int32_t trigger,
                           const std::function<bool(Functor)>& recursive,
                           const std::function<bool(Functor)>& open) {
    Plan plan{&rule, trigger, {}, {}};
    std::vector<bool> bound(rule.variables, false);
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
        const Literal& literal = rule.body[i];
        if (static_cast<int32_t>(i) == trigger) continue;
        if (literal.kind == Literal::Kind::Negative &&
            open(head_functor(program_.bank, literal.pattern)))
            continue;
        left.push_back(i);
    }
    if (trigger >= 0)
        plan.entry = make_match(program_.bank, database_, rule.body[trigger].pattern, bound, false);
    while (!left.empty()) {
        // Tests as soon as they can be made, else the literal with fewest expected matches.
        size_t best = left.size();
        double best_cost = 0;
        for (size_t k = 0; k < left.size() && (best == left.size() || best_cost > 0.5); ++k) {
            budget_.spend();
            const Literal& literal = rule.body[left[k]];
            double cost = -1;
            if (literal.kind == Literal::Kind::Positive)
                cost = estimate(literal.pattern, bound);
            else if (!all_bound(literal.pattern, bound) || !all_bound(literal.other, bound))
                continue;
            if (best == left.size() || cost < best_cost) best = k, best_cost = cost;
        }
        if (best == left.size()) throw std::invalid_argument("unsafe rule reached the core");
        const uint32_t i = left[best];
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
        const Literal& literal = rule.body[i];
        Step step{Step::Kind::Differ, false, i, {}};
        if (literal.kind == Literal::Kind::Positive) {
            step.kind = Step::Kind::Match;
            const Functor f = head_functor(program_.bank, literal.pattern);
            step.not_newest = static_cast<int32_t>(i) < trigger && recursive(f);
            step.match = make_match(program_.bank, database_, literal.pattern, bound, true);
        } else if (literal.kind == Literal::Kind::Negative) {
            step.kind = Step::Kind::Absent;
        }
        plan.steps.push_back(std::move(step));
    }
    plans_.push_back(std::move(plan));
    return static_cast<uint32_t>(plans_.size() - 1);
}

Joiner::Group Joiner::prepare(std::span<const uint32_t> strata,
                              const std::function<bool(Functor)>& open) {
    Group group;
    const auto recursive = [&](Functor f) {
        const int32_t s = program_.stratum_of_functor(f);
        return s >= 0 &&
               std::find(strata.begin(), strata.end(), static_cast<uint32_t>(s)) != strata.end();
    };
    for (uint32_t s : strata)
        for (uint32_t number : program_.rules_of[s]) {
            const Rule& rule = program_.rules[number];
            bool triggered = false;
            for (uint32_t i = 0; i < rule.body.size(); ++i) {
                if (rule.body[i].kind != Literal::Kind::Positive) continue;
                const Functor f = head_functor(program_.bank, rule.body[i].pattern);
                if (!recursive(f)) continue;
                group.triggers[f].push_back(
                    make_plan(rule, static_cast<int32_t>(i), recursive, open));
                triggered = true;
            }
            if (!triggered) group.full.push_back(make_plan(rule, -1, recursive, open));
        }
    return group;
}

void Joiner::join(const Plan& plan, size_t number, const Sink& sink) {
    if (number == plan.steps.size()) {
        const Term head = substitute(program_.bank, plan.rule->head, bindings_);
        sink(*plan.rule, head, {matched_.data(), plan.rule->body.size()});
        return;
    }
    const Step& step = plan.steps[number];
    const Literal& literal = plan.rule->body[step.literal];
    if (step.kind == Step::Kind::Differ) {
        budget_.spend();
        if (substitute(program_.bank, literal.pattern, bindings_) !=
            substitute(program_.bank, literal.other, bindings_))
            join(plan, number + 1, sink);
        return;
    }
    if (step.kind == Step::Kind::Absent) {
        budget_.spend();
        if (!database_.holds(substitute(program_.bank, literal.pattern, bindings_)))
            join(plan, number + 1, sink);
        return;
    }
    const Match& match = step.match;
    if (keys_.size() < match.keys.size()) keys_.resize(match.keys.size());
    for (size_t k = 0; k < match.keys.size(); ++k)
        keys_[k] = match.keys[k].constant ? match.keys[k].value : bindings_[match.keys[k].value];
    budget_.spend();
    for (uint32_t entry = database_.find(match.index, {keys_.data(), match.keys.size()});
         entry != Database::none; entry = database_.after(match.index, entry)) {
        const Term fact = database_.fact(match.index, entry);
        budget_.spend();
        if (step.not_newest && fact == newest_) continue;
        if (!match.bind(program_.bank, fact, bindings_)) continue;
        matched_[step.literal] = fact;
        join(plan, number + 1, sink);
    }
}

void Joiner::start(const Plan& plan, Term fact, const Sink& sink) {
    if (bindings_.size() < plan.rule->variables) bindings_.resize(plan.rule->variables);
    if (matched_.size() < plan.rule->body.size()) matched_.resize(plan.rule->body.size());
    if (plan.trigger >= 0) {
        // The entry match has no index of its own: its constants and functors are tested here.
        const Pattern& pattern = plan.rule->body[plan.trigger].pattern;
        size_t at = 0;
        auto fits = [&](auto&& self, Term term) -> bool {
            const PatternNode node = pattern[at++];
            if (node.kind == Kind::Variable) return true;
            if (node.kind == Kind::Constant) return node.value == term;
            if (program_.bank.functor_of(term) != node.value) return false;
            for (uint32_t i = 0; i < program_.bank.arity_of(node.value); ++i)
                if (!self(self, program_.bank.argument(term, i))) return false;
            return true;
        };
        budget_.spend();
        if (!fits(fits, fact) || !plan.entry.bind(program_.bank, fact, bindings_)) return;
        matched_[plan.trigger] = fact;
    }
    join(plan, 0, sink);
}

void Joiner::run(const Group& group, const Sink& sink) {
    for (uint32_t plan : group.full) start(plans_[plan], 0, sink);
    for (; head_ < queue_.size(); ++head_) {
        const Term fact = queue_[head_];
        queued_[fact] = 0;
        if (!database_.insert(fact)) continue;
        newest_ = fact;
        const Functor predicate = program_.bank.functor_of(fact);
        const auto triggers = group.triggers.find(predicate);
        if (triggers == group.triggers.end()) continue;
        for (uint32_t plan : triggers->second) start(plans_[plan], fact, sink);
    }
    queue_.clear();
    head_ = 0;
}

}  // namespace omnilude
