#include "datalog/normal_form.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace omnilude {

namespace {

// Unfolding stops at these sizes: beyond them it would cost more than it could find.
constexpr size_t max_unfolded = 32;   // literals or bodies put in the place of one literal
constexpr size_t max_absorbing = 64;  // bodies of a definition that are compared with each other
constexpr uint32_t unknown = UINT32_MAX;

constexpr BodyLiteral positive(Atom atom) { return atom * 2; }
constexpr Atom atom_of(BodyLiteral literal) { return literal / 2; }
constexpr bool negated(BodyLiteral literal) { return literal & 1; }

class Normaliser {
  public:
    Normaliser(const Program& program, const Grounding& grounding, Budget& budget)
        : program_(program), grounding_(grounding), budget_(budget) {}

    NormalForm run() {
        const size_t atoms = program_.bank.size();
        out_.definitions.resize(atoms);
        out_.kept.assign(atoms, false);
        forms_.assign(atoms, Form::Other);
        out_.same.resize(atoms);
        std::iota(out_.same.begin(), out_.same.end(), Atom{0});
        find_inputs();
        group_instances();
        visit_components();
        return std::move(out_);
    }

  private:
    enum class Form : uint8_t { Input, False, True, Same, Recursive, Other };

    void find_inputs() {
        const TermBank& bank = program_.bank;
        std::vector<bool> fluent(bank.size(), false);
        for (Term f : grounding_.fluents) fluent[f] = true;
        std::vector<std::vector<bool>> move;
        for (const auto& moves : grounding_.moves) {
            move.emplace_back(bank.size(), false);
            for (Term m : moves) move.back()[m] = true;
        }
        for (Atom t = 0; t < bank.size(); ++t) {
            if (bank.functor_of(t) == program_.truth) {
                forms_[t] = fluent[bank.argument(t, 0)] ? Form::Input : Form::False;
            } else if (bank.functor_of(t) == program_.does) {
                const auto role =
                    std::find(program_.roles.begin(), program_.roles.end(), bank.argument(t, 0));
                const bool known =
                    role != program_.roles.end() &&
                    move[static_cast<size_t>(role - program_.roles.begin())][bank.argument(t, 1)];
                forms_[t] = known ? Form::Input : Form::False;
            }
        }
    }

    void group_instances() {
        const auto& data = grounding_.instances;
        first_.assign(program_.bank.size() + 1, 0);
        auto next = [&](size_t i) { return i + 3 + data[i + 1] + data[i + 2]; };
        for (size_t i = 0; i < data.size(); i = next(i)) ++first_[data[i] + 1];
        for (size_t t = 0; t + 1 < first_.size(); ++t) first_[t + 1] += first_[t];
        places_.resize(grounding_.instance_count);
        std::vector<size_t> fill(first_.begin(), first_.end() - 1);
        for (size_t i = 0; i < data.size(); i = next(i)) places_[fill[data[i]]++] = i;
    }

    // Atoms that rest on each other, those below first (Tarjan, without recursion).
    void visit_components() {
        const size_t atoms = program_.bank.size();
        std::vector<uint32_t> index(atoms, unknown), low(atoms, 0);
        std::vector<bool> on_stack(atoms, false);
        std::vector<Atom> stack;
        struct Frame {
            Atom atom;
            size_t instance, literal;
        };
        std::vector<Frame> work;
        uint32_t counter = 0;
        auto open = [&](Atom t) {
            index[t] = low[t] = counter++;
            stack.push_back(t);
            on_stack[t] = true;
            work.push_back({t, first_[t], 0});
        };
        for (Atom root = 0; root < atoms; ++root) {
            if (index[root] != unknown || forms_[root] != Form::Other) continue;
            open(root);
            while (!work.empty()) {
                budget_.spend();
                Frame& frame = work.back();
                const Atom t = frame.atom;
                if (frame.instance < first_[t + 1]) {
                    const uint32_t* instance = &grounding_.instances[places_[frame.instance]];
                    if (frame.literal == instance[1] + instance[2]) {
                        ++frame.instance;
                        frame.literal = 0;
                        continue;
                    }
                    const Atom below = instance[3 + frame.literal++];
                    if (index[below] == unknown) {
                        if (forms_[below] == Form::Other) open(below);
                    } else if (on_stack[below]) {
                        low[t] = std::min(low[t], index[below]);
                    }
                    continue;
                }
                work.pop_back();
                if (!work.empty()) low[work.back().atom] = std::min(low[work.back().atom], low[t]);
                if (low[t] != index[t]) continue;
                const size_t size = static_cast<size_t>(
                    stack.end() - std::find(stack.rbegin(), stack.rend(), t).base() + 1);
                const std::vector<Atom> component(stack.end() - static_cast<ptrdiff_t>(size),
                                                  stack.end());
                stack.resize(stack.size() - size);
                for (Atom a : component) on_stack[a] = false;
                if (size > 1)
                    for (Atom a : component) forms_[a] = Form::Recursive;
                for (Atom a : component) define(a);
            }
        }
    }

    void define(Atom t) {
        Definition bodies;
        for (size_t k = first_[t]; k < first_[t + 1]; ++k) {
            Body body;
            if (!unfold(t, &grounding_.instances[places_[k]], body)) continue;
            // An alternative that is only named is put in the place of its name.
            if (body.size() == 1 && !negated(body[0]) && forms_[atom_of(body[0])] == Form::Other) {
                const Definition& below = out_.definitions[atom_of(body[0])];
                if (below.size() <= max_unfolded) {
                    bodies.insert(bodies.end(), below.begin(), below.end());
                    continue;
                }
            }
            bodies.push_back(std::move(body));
        }
        std::sort(bodies.begin(), bodies.end());
        bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
        absorb(bodies);
        for (const Body& body : bodies) literals_ += body.size() + 1;
        budget_.check_instances(literals_);
        if (forms_[t] == Form::Other) settle(t, bodies);
        out_.kept[t] =
            forms_[t] == Form::Recursive || (forms_[t] == Form::Other && out_.same[t] == t);
        out_.definitions[t] = std::move(bodies);
    }

    // The body of an instance with the definitions of its atoms put in; false if it never holds.
    bool unfold(Atom head, const uint32_t* instance, Body& body) {
        for (uint32_t j = 0; j < instance[1] + instance[2]; ++j) {
            const Atom atom = out_.same[instance[3 + j]];
            const bool negative = j >= instance[1];
            const Definition& definition = out_.definitions[atom];
            switch (forms_[atom]) {
                case Form::False:
                    if (!negative) return false;
                    break;
                case Form::True:
                    if (negative) return false;
                    break;
                case Form::Same:  // as one other literal
                    body.push_back(definition[0][0] ^ negative);
                    break;
                case Form::Other:
                    if (!negative && definition.size() == 1 &&
                        definition[0].size() <= max_unfolded) {
                        body.insert(body.end(), definition[0].begin(), definition[0].end());
                        break;
                    }
                    if (negative && is_clause(definition)) {
                        for (const Body& one : definition) body.push_back(one[0] ^ 1);
                        break;
                    }
                    [[fallthrough]];
                default:
                    body.push_back(positive(atom) + negative);
            }
        }
        budget_.spend(body.size());
        std::sort(body.begin(), body.end());
        body.erase(std::unique(body.begin(), body.end()), body.end());
        for (size_t i = 0; i + 1 < body.size(); ++i)
            if (atom_of(body[i]) == atom_of(body[i + 1])) return false;
        // What rests on itself adds nothing.
        return !std::binary_search(body.begin(), body.end(), positive(head));
    }

    static bool is_clause(const Definition& definition) {
        return definition.size() <= max_unfolded &&
               std::all_of(definition.begin(), definition.end(),
                           [](const Body& body) { return body.size() == 1; });
    }

    // A body that contains another one adds nothing.
    static void absorb(Definition& bodies) {
        if (bodies.size() > max_absorbing) return;
        std::vector<bool> idle(bodies.size(), false);
        for (size_t i = 0; i < bodies.size(); ++i)
            for (size_t j = 0; j < bodies.size() && !idle[i]; ++j)
                idle[i] = bodies[j].size() < bodies[i].size() &&
                          std::includes(bodies[i].begin(), bodies[i].end(), bodies[j].begin(),
                                        bodies[j].end());
        size_t kept = 0;
        for (size_t i = 0; i < bodies.size(); ++i)
            if (!idle[i]) std::swap(bodies[kept++], bodies[i]);
        bodies.resize(kept);
        std::sort(bodies.begin(), bodies.end());
    }

    void settle(Atom t, Definition& bodies) {
        if (bodies.empty()) {
            forms_[t] = Form::False;
        } else if (std::any_of(bodies.begin(), bodies.end(),
                               [](const Body& body) { return body.empty(); })) {
            forms_[t] = Form::True;
            bodies.assign(1, {});
        } else if (bodies.size() == 1 && bodies[0].size() == 1) {
            forms_[t] = Form::Same;
        } else {
            out_.same[t] = by_definition_.try_emplace(bodies, t).first->second;
        }
    }

    const Program& program_;
    const Grounding& grounding_;
    Budget& budget_;
    NormalForm out_;
    std::vector<Form> forms_;
    std::map<Definition, Atom> by_definition_;
    std::vector<size_t> first_, places_;
    uint64_t literals_ = 0;
};

}  // namespace

NormalForm normalise(const Program& program, const Grounding& grounding, Budget& budget) {
    return Normaliser(program, grounding, budget).run();
}

}  // namespace omnilude
