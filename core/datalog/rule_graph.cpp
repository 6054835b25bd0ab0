#include "datalog/rule_graph.h"

#include "datalog/normal_form.h"

namespace omnilude {

namespace {

// Roles are 0, so that callers can give some of them another colour: -1 is free.
enum Colour : int32_t { Role, Move, Fluent, Defined, Use, Not, Instance, Percept, Terminal, Goal };

constexpr int32_t none = -1;

class Builder {
  public:
    Builder(const Program& program, const Grounding& grounding, Budget& budget, bool ends)
        : program_(program), grounding_(grounding), budget_(budget), ends_(ends) {}

    RuleGraph run() {
        rules_ = normalise(program_, grounding_, budget_);
        const size_t atoms = program_.bank.size();
        defined_.assign(atoms, none);
        use_.assign(atoms, none);
        not_.assign(atoms, none);
        stays_.assign(atoms, false);
        name_things();
        add_inputs();
        for (Atom t = 0; t < atoms; ++t) add_output(t);
        while (!open_.empty()) {
            const Atom t = open_.back();
            open_.pop_back();
            add_instances(defined_[t], rules_.definitions[t]);
        }
        if (!ends_) add_supports();
        pin_scenery();
        return std::move(out_);
    }

  private:
    int32_t vertex(int32_t colour) {
        out_.colours.push_back(colour);
        return static_cast<int32_t>(out_.colours.size()) - 1;
    }
    void join(int32_t a, int32_t b) { out_.edges.insert(out_.edges.end(), {a, b}); }

    void name_things() {
        const TermBank& bank = program_.bank;
        for (Term role : program_.roles) out_.roles.push_back(bank.text(role));
        for (Term fluent : grounding_.fluents) out_.fluents.push_back(bank.text(fluent));
        for (const auto& moves : grounding_.moves) {
            out_.moves.emplace_back();
            for (Term move : moves) out_.moves.back().push_back(bank.text(move));
        }
    }

    void add_inputs() {
        const size_t terms = program_.bank.size();
        role_.assign(terms, none);
        fluent_.assign(terms, none);
        for (Term role : program_.roles) role_[role] = vertex(Role);
        for (const auto& moves : grounding_.moves) {
            move_.emplace_back(terms, none);
            for (Term m : moves) {
                move_.back()[m] = vertex(Move);
                join(move_.back()[m], static_cast<int32_t>(move_.size()) - 1);
            }
        }
        for (Term f : grounding_.fluents) fluent_[f] = vertex(Fluent);
        const TermBank& bank = program_.bank;
        for (Atom t = 0; t < terms; ++t) {
            if (bank.functor_of(t) == program_.truth)
                use_[t] = fluent_[bank.argument(t, 0)];
            else if (bank.functor_of(t) == program_.does)
                use_[t] = move_vertex(t);
        }
    }

    int32_t move_vertex(Atom t) const {  // of does or legal
        const int32_t role = role_[program_.bank.argument(t, 0)];
        return role == none ? none : move_[static_cast<size_t>(role)][program_.bank.argument(t, 1)];
    }

    // What play reads off the rules: everything else matters only as far as these rest on it.
    void add_output(Atom t) {
        const TermBank& bank = program_.bank;
        const Functor f = bank.functor_of(t);
        if (rules_.definitions[t].empty()) return;
        if (!ends_ && (f == program_.terminal || f == program_.goal)) return;
        int32_t meaning = none;
        if (f == program_.next) {
            meaning = fluent_[bank.argument(t, 0)];
        } else if (f == program_.legal) {
            meaning = move_vertex(t);
        } else if (f == program_.terminal) {
            meaning = vertex(Terminal);
        } else if (f == program_.sees && role_[bank.argument(t, 0)] != none) {
            meaning = vertex(Percept);
            join(meaning, role_[bank.argument(t, 0)]);
        } else if (f == program_.goal && role_[bank.argument(t, 0)] != none) {
            // Values of the usual kind are told apart by their size, odd ones by their name.
            const int value = goal_value(bank.text(bank.argument(t, 1)));
            meaning = vertex(value >= 0 ? Goal + value
                                        : Goal + 101 + static_cast<int32_t>(bank.argument(t, 1)));
            join(meaning, role_[bank.argument(t, 0)]);
        }
        if (meaning == none) return;
        const Atom same = rules_.same[t];
        if (rules_.kept[same]) {
            join(meaning, define(same));
        } else {
            if (f == program_.next && rules_.definitions[t][0].size() == 1)
                stays_[rules_.definitions[t][0][0] / 2] =
                    use_[rules_.definitions[t][0][0] / 2] == meaning;
            const int32_t alone = vertex(Defined);
            join(meaning, alone);
            add_instances(alone, rules_.definitions[t]);
        }
    }

    // One vertex for the end and one for the goals of each role, joined to all that they rest on.
    void add_supports() {
        const TermBank& bank = program_.bank;
        std::vector<Atom> roots;
        for (Atom t = 0; t < bank.size(); ++t)
            if (bank.functor_of(t) == program_.terminal) roots.push_back(t);
        join_support(vertex(Terminal), roots);
        for (Term role : program_.roles) {
            roots.clear();
            for (Atom t = 0; t < bank.size(); ++t)
                if (bank.functor_of(t) == program_.goal && bank.argument(t, 0) == role)
                    roots.push_back(t);
            const int32_t goals = vertex(Goal);
            join(goals, role_[role]);
            join_support(goals, roots);
        }
    }

    void join_support(int32_t meaning, std::vector<Atom> open) {
        std::vector<bool> seen(program_.bank.size(), false);
        while (!open.empty()) {
            const Atom t = open.back();
            open.pop_back();
            for (const Body& body : rules_.definitions[t])
                for (BodyLiteral literal : body) {
                    const Atom below = literal / 2;
                    if (seen[below]) continue;
                    budget_.spend();
                    seen[below] = true;
                    open.push_back(below);
                    if (program_.bank.functor_of(below) == program_.truth)
                        join(meaning, use_[below]);
                }
        }
    }

    // Fluents that nothing reads, except to keep them as they are, could be exchanged at will, and
    // that would say nothing of the game: each gets a colour of its own.
    void pin_scenery() {
        std::vector<uint32_t> degree(out_.colours.size(), 0);
        for (int32_t end : out_.edges) ++degree[static_cast<size_t>(end)];
        for (Atom t = 0; t < program_.bank.size(); ++t) {
            if (program_.bank.functor_of(t) != program_.truth || use_[t] == none) continue;
            const auto fluent = static_cast<size_t>(use_[t]);
            if (degree[fluent] == (stays_[t] ? 2 : 0)) out_.colours[fluent] = -2 - use_[t];
        }
    }

    int32_t define(Atom t) {
        if (defined_[t] == none) {
            defined_[t] = vertex(Defined);
            open_.push_back(t);
        }
        return defined_[t];
    }

    void add_instances(int32_t head, const Definition& bodies) {
        for (const Body& body : bodies) {
            budget_.spend(body.size());
            ++out_.instances;
            const int32_t instance = vertex(Instance);
            join(instance, head);
            for (BodyLiteral literal : body) join(instance, literal_vertex(literal));
        }
    }

    int32_t literal_vertex(BodyLiteral literal) {
        const Atom t = literal / 2;
        if (use_[t] == none) {
            use_[t] = vertex(Use);
            join(use_[t], define(t));
        }
        if (literal % 2 == 0) return use_[t];
        if (not_[t] == none) {
            not_[t] = vertex(Not);
            join(not_[t], use_[t]);
        }
        return not_[t];
    }

    const Program& program_;
    const Grounding& grounding_;
    Budget& budget_;
    const bool ends_;
    NormalForm rules_;
    RuleGraph out_;
    std::vector<int32_t> defined_, use_, not_;  // vertices by atom
    std::vector<bool> stays_;                   // by atom: next is what it is now
    std::vector<int32_t> role_, fluent_;        // vertices by term
    std::vector<std::vector<int32_t>> move_;    // by role and term
    std::vector<Atom> open_;                    // defined, instances not yet added
};

}  // namespace

RuleGraph make_rule_graph(Program& program, Budget& budget, bool ends) {
    const Grounding grounding = ground(program, budget);
    return Builder(program, grounding, budget, ends).run();
}

}  // namespace omnilude
