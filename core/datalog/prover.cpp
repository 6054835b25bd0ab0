#include "datalog/prover.h"

#include <algorithm>

namespace omnilude {

namespace {

using Kind = PatternNode::Kind;
constexpr Term unbound = UINT32_MAX;
constexpr uint32_t max_depth =
    20'000;  // of calls: the caller provides a stack that is large enough

// The literal with what is known put in, ground subterms interned, variables numbered in order.
bool instantiate(TermBank& bank, const Pattern& pattern, size_t& at,
                 const std::vector<Term>& bindings, std::vector<uint32_t>& names, Pattern& out) {
    const PatternNode node = pattern[at++];
    if (node.kind == Kind::Constant) {
        out.push_back(node);
        return true;
    }
    if (node.kind == Kind::Variable) {
        if (node.value < bindings.size() && bindings[node.value] != unbound) {
            out.push_back({Kind::Constant, bindings[node.value]});
            return true;
        }
        auto name = std::find(names.begin(), names.end(), node.value);
        if (name == names.end()) name = names.insert(names.end(), node.value);
        out.push_back({Kind::Variable, static_cast<uint32_t>(name - names.begin())});
        return false;
    }
    const size_t here = out.size();
    out.push_back(node);
    bool ground = true;
    for (uint32_t i = 0; i < bank.arity_of(node.value); ++i)
        ground &= instantiate(bank, pattern, at, bindings, names, out);
    if (!ground) return false;
    std::vector<Term> arguments;
    for (size_t i = here + 1; i < out.size(); ++i) arguments.push_back(out[i].value);
    out.resize(here);
    out.push_back({Kind::Constant, bank.make(node.value, arguments)});
    return true;
}

void skip(const TermBank& bank, const Pattern& pattern, size_t& at) {
    const PatternNode node = pattern[at++];
    if (node.kind != Kind::Application) return;
    for (uint32_t i = 0; i < bank.arity_of(node.value); ++i) skip(bank, pattern, at);
}

}  // namespace

Prover::Prover(Program& program, Database& database) : program_(program), database_(database) {
    auto grow = [](auto& list, size_t f) {
        if (list.size() <= f) list.resize(f + 1);
    };
    for (const Rule& rule : program.rules) {
        const Functor f = head_functor(program.bank, rule.head);
        grow(rules_, f);
        RuleInfo info{&rule, {}};
        for (const Literal& literal : rule.body) {
            info.variables.emplace_back();
            for (const Pattern* side : {&literal.pattern, &literal.other})
                for (const PatternNode& node : *side)
                    if (node.kind == Kind::Variable) info.variables.back().push_back(node.value);
        }
        rules_[f].push_back(std::move(info));
    }
    only_facts_.assign(rules_.size(), false);
    for (Functor f = 0; f < rules_.size(); ++f) {
        only_facts_[f] = std::all_of(rules_[f].begin(), rules_[f].end(),
                                     [](const RuleInfo& info) { return info.rule->body.empty(); });
        if (only_facts_[f])
            for (const RuleInfo& info : rules_[f])
                database_.insert(substitute(program.bank, info.rule->head, {}));
    }
    for (Functor f : {program.truth, program.does}) {
        grow(only_facts_, f);
        only_facts_[f] = true;
    }
}

void Prover::forget() {
    tables_.clear();
    open_.clear();
    bytes_ = 0;
    for (auto& entry : static_tables_) entry.second->on_stack = false;
    std::erase_if(static_tables_, [](const auto& entry) { return !entry.second->complete; });
}

std::vector<Term> Prover::ask(const Pattern& goal, Budget& budget) {
    const char here = 0;
    stack_base_ = &here;
    budget_ = &budget;
    ++pass_;
    Table& table = table_for(goal, {});
    if (table.predicate < only_facts_.size() && only_facts_[table.predicate]) {
        std::vector<Term> out;
        for (Term fact : database_.facts(table.predicate)) {
            size_t at = 0;
            if (fits(goal, at, fact, nullptr, nullptr)) out.push_back(fact);
        }
        return out;
    }
    solve(table);
    return table.answers;
}

Prover::Table& Prover::table_for(const Pattern& literal, const Bindings& bindings) {
    Pattern goal;
    std::vector<uint32_t> names;
    size_t at = 0;
    const bool ground = instantiate(program_.bank, literal, at, bindings, names, goal);
    std::string key;
    key.reserve(goal.size() * 5);
    for (const PatternNode& node : goal) {
        key.push_back(static_cast<char>(node.kind));
        key.append(reinterpret_cast<const char*>(&node.value), sizeof node.value);
    }
    const Functor predicate = head_functor(program_.bank, goal);
    const int32_t stratum = program_.stratum_of_functor(predicate);
    const bool fixed = stratum >= 0 && program_.strata[stratum].stage == Stratum::Stage::Static;
    auto& slot = (fixed ? static_tables_ : tables_)[key];
    if (!slot) {
        slot = std::make_unique<Table>();
        slot->goal = std::move(goal);
        slot->predicate = predicate;
        slot->ground = ground;
        bytes_ += sizeof(Table) + key.size() * 2 + 64;
        budget_->check_bytes(bytes_ + program_.bank.bytes());
    }
    return *slot;
}

// The first call of a group that depend on each other leads: it goes round until nothing changes.
void Prover::solve(Table& table) {
    if (table.complete || table.on_stack || table.pass == pass_) return;
    check_stack();
    table.on_stack = true;
    table.index = table.low = ++opened_;
    const size_t first_open = open_.size();
    bool again = true;
    while (again) {
        table.used = false;
        const uint64_t before = changes_;
        if (table.predicate < rules_.size())
            for (const RuleInfo& info : rules_[table.predicate]) {
                if (finished(table)) break;
                solve_rule(table, info);
            }
        again = table.low == table.index && table.used && changes_ != before && !finished(table);
        if (again) ++pass_;
    }
    table.on_stack = false;
    table.pass = pass_;
    if (table.low == table.index || finished(table)) {
        table.complete = true;
        // A goal that was answered early leaves the calls below it unfinished: whoever needs them
        // evaluates them again.
        for (size_t i = first_open; i < open_.size(); ++i) {
            open_[i]->complete = !finished(table);
            open_[i]->pass = 0;
        }
        open_.resize(first_open);
    } else {
        open_.push_back(&table);
    }
}

void Prover::check_stack() const {
    const char here = 0;
    const auto used = reinterpret_cast<uintptr_t>(stack_base_) - reinterpret_cast<uintptr_t>(&here);
    if (used > stack_limit_ && used < SIZE_MAX / 2) throw CallsTooDeep("calls nested too deep");
}

void Prover::call(Table& caller, Table& callee) {
    solve(callee);
    if (callee.complete) return;
    callee.used = true;
    caller.low = std::min(caller.low, callee.low);
}

void Prover::solve_rule(Table& table, const RuleInfo& info) {
    budget_->spend();
    Bindings bindings(info.rule->variables, unbound);
    // What the goal knows of its arguments, the rule knows too.
    const Pattern& head = info.rule->head;
    size_t h = 0, g = 0;
    auto meet = [&](auto&& self) -> bool {
        const PatternNode goal = table.goal[g];
        if (goal.kind == Kind::Variable) {
            ++g;
            skip(program_.bank, head, h);
            return true;
        }
        if (goal.kind == Kind::Constant) {
            ++g;
            return fits(head, h, goal.value, &bindings, nullptr);
        }
        const PatternNode node = head[h];
        if (node.kind == Kind::Variable) {
            skip(program_.bank, table.goal, g);
            ++h;
            return true;
        }
        if (node.kind == Kind::Constant) {
            // A ground head below a goal that is not: answers are compared with the goal later.
            const bool same = program_.bank.functor_of(node.value) == goal.value;
            skip(program_.bank, table.goal, g);
            ++h;
            return same;
        }
        if (node.value != goal.value) return false;
        ++g, ++h;
        for (uint32_t i = 0; i < program_.bank.arity_of(node.value); ++i)
            if (!self(self)) return false;
        return true;
    };
    if (!meet(meet)) return;
    std::vector<bool> used(info.rule->body.size(), false);
    join(table, info, bindings, used);
}

// Matches a ground term with a pattern; variables without a value get one if `bindings` is given.
bool Prover::fits(const Pattern& pattern, size_t& at, Term term, Bindings* bindings,
                  std::vector<uint32_t>* trail) const {
    const PatternNode node = pattern[at++];
    if (node.kind == Kind::Constant) return node.value == term;
    if (node.kind == Kind::Variable) {
        if (!bindings) return true;
        Term& value = (*bindings)[node.value];
        if (value != unbound) return value == term;
        value = term;
        if (trail) trail->push_back(node.value);
        return true;
    }
    if (program_.bank.functor_of(term) != node.value) return false;
    for (uint32_t i = 0; i < program_.bank.arity_of(node.value); ++i)
        if (!fits(pattern, at, program_.bank.argument(term, i), bindings, trail)) return false;
    return true;
}

void Prover::answer(Table& table, Term fact) {
    // Variables that occur twice in the goal are compared here.
    Bindings same(table.goal.size(), unbound);
    size_t at = 0;
    if (!fits(table.goal, at, fact, &same, nullptr)) return;
    const uint64_t hash = mix_hash(11, fact);
    if (table.known.find(hash, [&](uint32_t t) { return t == fact; }) != HashTable::none) return;
    table.known.insert(hash, fact);
    table.answers.push_back(fact);
    bytes_ += 24;
    ++changes_;
}

void Prover::join(Table& table, const RuleInfo& info, Bindings& bindings, std::vector<bool>& used) {
    budget_->spend();
    check_stack();
    if (finished(table)) return;
    const Rule& rule = *info.rule;
    // Tests as soon as they can be made, else the next condition as written.
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < rule.body.size() && next == UINT32_MAX; ++i) {
        if (used[i] || rule.body[i].kind == Literal::Kind::Positive) continue;
        if (std::all_of(info.variables[i].begin(), info.variables[i].end(),
                        [&](uint32_t v) { return bindings[v] != unbound; }))
            next = i;
    }
    for (uint32_t i = 0; i < rule.body.size() && next == UINT32_MAX; ++i)
        if (!used[i] && rule.body[i].kind == Literal::Kind::Positive) next = i;
    if (next == UINT32_MAX) {
        answer(table, substitute(program_.bank, rule.head, bindings));
        return;
    }
    used[next] = true;
    const Literal& literal = rule.body[next];
    if (literal.kind == Literal::Kind::Positive) {
        try_positive(table, info, bindings, used, next);
    } else if (literal.kind == Literal::Kind::Distinct) {
        if (substitute(program_.bank, literal.pattern, bindings) !=
            substitute(program_.bank, literal.other, bindings))
            join(table, info, bindings, used);
    } else {
        const Functor f = head_functor(program_.bank, literal.pattern);
        bool holds;
        if (f < only_facts_.size() && only_facts_[f]) {
            holds = database_.holds(substitute(program_.bank, literal.pattern, bindings));
        } else {
            Table& callee = table_for(literal.pattern, bindings);
            call(table, callee);
            if (!callee.complete)
                throw NegationInRecursion("'" + program_.bank.name_of(f) +
                                          "' depends on its own negation");
            holds = !callee.answers.empty();
        }
        if (!holds) join(table, info, bindings, used);
    }
    used[next] = false;
}

void Prover::try_positive(Table& table, const RuleInfo& info, Bindings& bindings,
                          std::vector<bool>& used, uint32_t number) {
    const Literal& literal = info.rule->body[number];
    const Functor f = head_functor(program_.bank, literal.pattern);
    std::vector<uint32_t> trail;
    auto undo = [&] {
        for (uint32_t v : trail) bindings[v] = unbound;
        trail.clear();
    };
    if (f < only_facts_.size() && only_facts_[f]) {
        const auto& variables = info.variables[number];
        std::vector<bool> bound(bindings.size());
        uint64_t key = mix_hash(13, reinterpret_cast<uintptr_t>(&literal));
        for (uint32_t v : variables) {
            bound[v] = bindings[v] != unbound;
            key = mix_hash(key, bound[v] ? 3 : 5);
        }
        auto at = matches_.find(key);
        if (at == matches_.end())
            at = matches_
                     .emplace(key,
                              make_match(program_.bank, database_, literal.pattern, bound, true))
                     .first;
        const Match match = at->second;
        std::vector<Term> keys;
        for (const Match::Slot& slot : match.keys)
            keys.push_back(slot.constant ? slot.value : bindings[slot.value]);
        for (uint32_t entry = database_.find(match.index, keys); entry != Database::none;
             entry = database_.after(match.index, entry)) {
            budget_->spend();
            if (match.bind(program_.bank, database_.fact(match.index, entry), bindings))
                join(table, info, bindings, used);
            for (const Match::Place& place : match.binds) bindings[place.variable] = unbound;
            if (finished(table)) return;
        }
        return;
    }
    if (f >= rules_.size() || rules_[f].empty()) return;
    Table& callee = table_for(literal.pattern, bindings);
    call(table, callee);
    // The list may grow while it is read, when the calls depend on each other.
    for (size_t i = 0; i < callee.answers.size(); ++i) {
        budget_->spend();
        size_t at = 0;
        if (fits(literal.pattern, at, callee.answers[i], &bindings, &trail))
            join(table, info, bindings, used);
        undo();
        if (finished(table)) return;
    }
}

}  // namespace omnilude
