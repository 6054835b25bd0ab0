#include "circuit/build.h"

#include <algorithm>
#include <unordered_map>

namespace omnilude {

namespace {

constexpr uint32_t unknown = UINT32_MAX;

class Builder {
  public:
    Builder(const Program& program, const Grounding& grounding, Budget& budget)
        : program_(program), grounding_(grounding), budget_(budget) {}

    CircuitNet run(bool views) {
        make_variables();
        group_instances();
        make_atoms();
        collect_outputs();
        if (views) collect_views();
        return std::move(out_);
    }

  private:
    size_t role_number(Term role) const {
        return static_cast<size_t>(std::find(program_.roles.begin(), program_.roles.end(), role) -
                                   program_.roles.begin());
    }

    void make_variables() {
        const TermBank& bank = program_.bank;
        wires_.assign(bank.size(), unknown);
        for (uint32_t f = 0; f < grounding_.fluents.size(); ++f)
            out_.fluents.push_back(out_.net.variable());
        out_.does.resize(program_.roles.size());
        move_number_.resize(program_.roles.size());
        for (size_t r = 0; r < program_.roles.size(); ++r) {
            for (Term move : grounding_.moves[r]) {
                move_number_[r].emplace(move, out_.does[r].size());
                out_.does[r].push_back(out_.net.variable());
            }
            exactly_one_.add(out_.does[r]);
        }
        // The atoms true(f) and does(r, m) exist in the bank already: grounding made them.
        std::vector<uint32_t> fluent_number(bank.size(), unknown);
        for (uint32_t f = 0; f < grounding_.fluents.size(); ++f)
            fluent_number[grounding_.fluents[f]] = f;
        for (Term t = 0; t < bank.size(); ++t) {
            if (bank.functor_of(t) == program_.truth) {
                const uint32_t f = fluent_number[bank.argument(t, 0)];
                wires_[t] = f == unknown ? wire_false : out_.fluents[f];
            } else if (bank.functor_of(t) == program_.does) {
                wires_[t] = wire_false;
                const size_t r = role_number(bank.argument(t, 0));
                if (r == program_.roles.size()) continue;
                const auto at = move_number_[r].find(bank.argument(t, 1));
                if (at != move_number_[r].end()) wires_[t] = out_.does[r][at->second];
            }
        }
    }

    void group_instances() {
        first_.assign(program_.bank.size() + 1, 0);
        const auto& data = grounding_.instances;
        for (size_t i = 0; i < data.size(); i += 3 + data[i + 1] + data[i + 2])
            ++first_[data[i] + 1];
        for (size_t t = 0; t + 1 < first_.size(); ++t) first_[t + 1] += first_[t];
        places_.resize(grounding_.instance_count);
        std::vector<uint32_t> fill(first_.begin(), first_.end() - 1);
        for (size_t i = 0; i < data.size(); i += 3 + data[i + 1] + data[i + 2])
            places_[fill[data[i]]++] = i;
        budget_.check_bytes(data.capacity() * 4 + places_.size() * 8 + program_.bank.bytes() * 2);
    }

    // Atoms in an order in which each rests on earlier ones: strongly connected components of the
    // instances (Tarjan, without recursion).
    void make_atoms() {
        const size_t atoms = program_.bank.size();
        std::vector<uint32_t> index(atoms, unknown), low(atoms, 0);
        std::vector<Term> stack;
        struct Frame {
            Term atom;
            std::vector<Term> below;
            size_t at;
        };
        std::vector<Frame> work;
        uint32_t counter = 0;
        auto open = [&](Term t) {
            index[t] = low[t] = counter++;
            stack.push_back(t);
            work.push_back({t, {}, 0});
            for (uint32_t k = first_[t]; k < first_[t + 1]; ++k) {
                const uint32_t* instance = &grounding_.instances[places_[k]];
                for (uint32_t j = 0; j < instance[1] + instance[2]; ++j)
                    if (wires_[instance[3 + j]] == unknown)
                        work.back().below.push_back(instance[3 + j]);
            }
        };
        on_stack_.assign(atoms, false);
        for (Term root = 0; root < atoms; ++root) {
            if (index[root] != unknown || wires_[root] != unknown ||
                first_[root] == first_[root + 1])
                continue;
            open(root);
            on_stack_[root] = true;
            while (!work.empty()) {
                budget_.spend();
                Frame& frame = work.back();
                const Term t = frame.atom;
                if (frame.at < frame.below.size()) {
                    const Term b = frame.below[frame.at++];
                    if (index[b] == unknown) {
                        open(b);
                        on_stack_[b] = true;
                    } else if (on_stack_[b]) {
                        low[t] = std::min(low[t], index[b]);
                    }
                    continue;
                }
                work.pop_back();
                if (!work.empty()) {
                    const Term parent = work.back().atom;
                    low[parent] = std::min(low[parent], low[t]);
                }
                if (low[t] != index[t]) continue;
                std::vector<Term> component;
                do {
                    component.push_back(stack.back());
                    on_stack_[stack.back()] = false;
                    stack.pop_back();
                } while (component.back() != t);
                make_component(component);
            }
        }
    }

    bool rests_on_itself(Term t) const {
        for (uint32_t k = first_[t]; k < first_[t + 1]; ++k) {
            const uint32_t* instance = &grounding_.instances[places_[k]];
            if (std::find(instance + 3, instance + 3 + instance[1], t) !=
                instance + 3 + instance[1])
                return true;
        }
        return false;
    }

    void make_component(std::vector<Term>& component) {
        if (component.size() == 1 && !rests_on_itself(component[0])) {
            wires_[component[0]] = definition(component[0]);
            return;
        }
        if (component.size() == 1) {
            // a <- a, x adds nothing: leave such instances out.
            wires_[component[0]] = wire_false;
            wires_[component[0]] = definition(component[0]);
            return;
        }
        std::sort(component.begin(), component.end());
        Recursion recursion;
        for (Term t : component) recursion.atoms.push_back(wires_[t] = out_.net.variable());
        for (Term t : component) recursion.definitions.push_back(definition(t));
        out_.recursions.push_back(std::move(recursion));
    }

    Wire wire_of(Term atom) const { return wires_[atom] == unknown ? wire_false : wires_[atom]; }

    Wire definition(Term t) {
        sum_.clear();
        for (uint32_t k = first_[t]; k < first_[t + 1]; ++k) {
            const uint32_t* instance = &grounding_.instances[places_[k]];
            for (uint32_t j = 0; j < instance[1]; ++j) sum_.literal(wire_of(instance[3 + j]));
            for (uint32_t j = 0; j < instance[2]; ++j)
                sum_.literal(negate(wire_of(instance[3 + instance[1] + j])));
            sum_.end();
            budget_.spend();
        }
        return factor(sum_, exactly_one_, out_.net, budget_);
    }

    void collect_outputs() {
        const TermBank& bank = program_.bank;
        std::vector<uint32_t> fluent_number(bank.size(), unknown);
        for (uint32_t f = 0; f < grounding_.fluents.size(); ++f)
            fluent_number[grounding_.fluents[f]] = f;
        out_.next.assign(grounding_.fluents.size(), wire_false);
        out_.goals.resize(program_.roles.size());
        out_.sees.resize(program_.roles.size());
        for (auto& moves : out_.does) out_.legal.emplace_back(moves.size(), wire_false);
        for (Term t = 0; t < bank.size(); ++t) {
            if (first_[t] == first_[t + 1]) continue;
            const Functor f = bank.functor_of(t);
            if (f == program_.next) {
                out_.next[fluent_number[bank.argument(t, 0)]] = wires_[t];
            } else if (f == program_.terminal) {
                out_.terminal = wires_[t];
            } else if (f == program_.legal || f == program_.goal || f == program_.sees) {
                const size_t r = role_number(bank.argument(t, 0));
                if (r == program_.roles.size()) continue;
                const Term value = bank.argument(t, 1);
                if (f == program_.legal) {
                    out_.legal[r][move_number_[r].at(value)] = wires_[t];
                } else if (f == program_.sees) {
                    out_.sees[r].push_back({value, wires_[t]});
                } else {
                    const int number = goal_value(bank.text(value));
                    if (number < 0)
                        out_.odd_goal = true;
                    else
                        out_.goals[r].push_back({number, wires_[t]});
                }
            }
        }
        for (auto& goals : out_.goals)
            std::sort(goals.begin(), goals.end(),
                      [](const auto& a, const auto& b) { return a.value < b.value; });
    }

    void collect_views() {
        const TermBank& bank = program_.bank;
        for (Term t = 0; t < bank.size(); ++t) {
            if (first_[t] == first_[t + 1] || node_of(wires_[t]) == 0) continue;
            const Functor f = bank.functor_of(t);
            const int32_t s = program_.stratum_of_functor(f);
            if (s < 0 || program_.strata[static_cast<size_t>(s)].stage != Stratum::Stage::Position)
                continue;
            // Relations that only our own rewriting made have a space in their names.
            if (f == program_.next || bank.name_of(f).find(' ') != std::string::npos) continue;
            out_.views.push_back({t, wires_[t]});
        }
    }

    const Program& program_;
    const Grounding& grounding_;
    Budget& budget_;
    CircuitNet out_;
    ExactlyOne exactly_one_;
    std::vector<Wire> wires_;                                      // by term, for atoms
    std::vector<std::unordered_map<Term, uint32_t>> move_number_;  // by role
    std::vector<uint32_t> first_;
    std::vector<size_t> places_;
    std::vector<bool> on_stack_;
    SumOfProducts sum_;
};

}  // namespace

CircuitNet build_net(const Program& program, const Grounding& grounding, Budget& budget,
                     bool views) {
    return Builder(program, grounding, budget).run(views);
}

}  // namespace omnilude
