#include "circuit/exclusive.h"

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace omnilude {

namespace {

constexpr size_t max_fluents = 600;
constexpr size_t max_gates = 60'000;

// 64 random games at once, in the simplest way: only to suggest what might be exclusive.
class Simulation {
  public:
    Simulation(const Circuit& circuit, const std::vector<bool>& initial)
        : circuit_(circuit), g_(circuit.graph), values_(g_.size(), 0), random_(7, 7) {
        state_.resize(initial.size());
        start_.resize(initial.size());
        for (size_t f = 0; f < initial.size(); ++f) start_[f] = state_[f] = initial[f] ? ~0ull : 0;
    }
    const std::vector<uint64_t>& state() const { return state_; }

    void step() {
        for (size_t f = 0; f < state_.size(); ++f)
            values_[node_of(circuit_.fluents[f])] = state_[f];
        for (const auto& role : circuit_.does)
            for (Wire w : role) values_[node_of(w)] = 0;
        evaluate();
        uint64_t ended = value(circuit_.terminal);
        for (size_t r = 0; r < circuit_.legal.size(); ++r) {
            std::vector<uint64_t> legal;
            for (Wire w : circuit_.legal[r]) legal.push_back(value(w));
            for (int lane = 0; lane < 64; ++lane) {
                uint32_t count = 0;
                int chosen = -1;
                for (size_t m = 0; m < legal.size(); ++m)
                    if (legal[m] >> lane & 1 && random_.below(++count) == 0)
                        chosen = static_cast<int>(m);
                if (chosen < 0)
                    ended |= 1ull << lane;
                else
                    values_[node_of(circuit_.does[r][static_cast<size_t>(chosen)])] |= 1ull << lane;
            }
        }
        evaluate();
        for (size_t f = 0; f < state_.size(); ++f)
            state_[f] = (value(circuit_.next[f]) & ~ended) | (start_[f] & ended);
    }

  private:
    uint64_t value(Wire w) const { return values_[node_of(w)] ^ (complemented(w) ? ~0ull : 0); }
    void evaluate() {
        for (const Recursion& r : g_.recursions)
            for (Wire w : r.atoms) values_[node_of(w)] = 0;
        // What is only ever added ends; where a recursion rests on the negation of another the
        // result may be wrong, which at worst hides a pair that is exclusive.
        for (bool again = true; again;) {
            again = false;
            for (uint32_t n = 1; n < g_.size(); ++n) {
                const Graph::Node& node = g_.node(n);
                if (node.kind == Graph::Kind::And)
                    values_[n] = value(node.a) & value(node.b);
                else if (node.kind == Graph::Kind::Xor)
                    values_[n] = value(node.a) ^ value(node.b);
            }
            for (const Recursion& r : g_.recursions)
                for (size_t i = 0; i < r.atoms.size(); ++i) {
                    const uint64_t fresh = value(r.definitions[i]) | values_[node_of(r.atoms[i])];
                    again |= fresh != values_[node_of(r.atoms[i])];
                    values_[node_of(r.atoms[i])] = fresh;
                }
        }
    }
    const Circuit& circuit_;
    const Graph& g_;
    std::vector<uint64_t> values_, state_, start_;
    RandomStream random_;
};

}  // namespace

Exclusion::Exclusion(const Circuit& circuit, const std::vector<bool>& initial)
    : circuit_(circuit), fluent_of_(circuit.graph.size(), -1), move_of_(circuit.graph.size()) {
    for (size_t f = 0; f < circuit.fluents.size(); ++f)
        fluent_of_[node_of(circuit.fluents[f])] = static_cast<int32_t>(f);
    for (size_t r = 0; r < circuit.does.size(); ++r)
        for (size_t m = 0; m < circuit.does[r].size(); ++m)
            move_of_[node_of(circuit.does[r][m])] = {static_cast<int32_t>(r),
                                                     static_cast<uint32_t>(m)};
    if (circuit.fluents.size() > max_fluents || circuit.graph.size() > max_gates) return;
    play_at_random(initial);
}

void Exclusion::play_at_random(const std::vector<bool>& initial) {
    const size_t n = circuit_.fluents.size();
    together_.assign(n, std::vector<bool>(n, false));
    Simulation simulation(circuit_, initial);
    const int steps =
        static_cast<int>(std::min<size_t>(200, 2'000'000 / circuit_.graph.size() + 8));
    for (int step = 0; step < steps; ++step) {
        const auto& state = simulation.state();
        std::vector<uint32_t> on;
        for (uint32_t f = 0; f < n; ++f)
            if (state[f]) on.push_back(f);
        for (size_t i = 0; i < on.size(); ++i)
            for (size_t j = i + 1; j < on.size(); ++j)
                if (state[on[i]] & state[on[j]]) together_[on[i]][on[j]] = true;
        simulation.step();
    }
}

bool Exclusion::assume(uint32_t a, uint32_t b) {
    if (together_.empty() || a == b) return false;
    if (a > b) std::swap(a, b);
    if (together_[a][b]) return false;
    assumed_.insert({a, b});
    return true;
}

bool Exclusion::settle() {
    if (assumed_.empty()) return true;
    if (exhausted()) return false;
    std::set<std::pair<uint32_t, uint32_t>> tested;
    bool right = true;
    // Testing one assumption may lead to others.
    while (right && tested.size() < assumed_.size()) {
        const auto open = assumed_;
        for (const auto& pair : open) {
            if (!tested.insert(pair).second) continue;
            if (prove(circuit_.next[pair.first], circuit_.next[pair.second], max_depth)) continue;
            if (exhausted()) return false;
            together_[pair.first][pair.second] = true;
            right = false;
        }
    }
    if (right) return true;
    assumed_.clear();
    known_.clear();
    return false;
}

bool Exclusion::prove(Wire a, Wire b, int depth) {
    if (a == negate(b) || a == wire_false || b == wire_false) return true;
    if (depth == 0 || a == wire_true || b == wire_true || a == b || ++work_ > max_work)
        return false;
    if (a > b) std::swap(a, b);
    // What failed at a small depth might be proved at a larger one, so the depth is in the key.
    const uint64_t key = (uint64_t{a} << 32 | b) * 16 + static_cast<uint64_t>(depth);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    const bool proved = prove_fresh(a, b, depth);
    if (known_.size() < 4'000'000) known_[key] = proved;
    return proved;
}

bool Exclusion::prove_fresh(Wire a, Wire b, int depth) {
    const Graph& g = circuit_.graph;
    const uint32_t na = node_of(a), nb = node_of(b);
    auto fluent = [&](uint32_t n) { return n < fluent_of_.size() ? fluent_of_[n] : -1; };
    auto move = [&](uint32_t n) { return n < move_of_.size() ? move_of_[n] : Move{}; };
    if (!complemented(a) && !complemented(b)) {
        if (fluent(na) >= 0 && fluent(nb) >= 0)
            return assume(static_cast<uint32_t>(fluent(na)), static_cast<uint32_t>(fluent(nb)));
        const Move ma = move(na), mb = move(nb);
        if (ma.role >= 0 && ma.role == mb.role) return true;  // one move a role
    }
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
        const uint32_t n = node_of(x);
        // A disjunction excludes y if each of its parts does.
        if (g.node(n).kind == Graph::Kind::And && complemented(x) &&
            prove(negate(g.node(n).a), y, depth - 1) && prove(negate(g.node(n).b), y, depth - 1))
            return true;
    }
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
        const uint32_t n = node_of(x);
        if (complemented(x)) continue;
        // A conjunction excludes y if one of its parts does; a move made is a legal one.
        if (g.node(n).kind == Graph::Kind::And &&
            (prove(g.node(n).a, y, depth - 1) || prove(g.node(n).b, y, depth - 1)))
            return true;
        const Move m = move(n);
        if (m.role >= 0 &&
            prove(circuit_.legal[static_cast<size_t>(m.role)][m.number], y, depth - 1))
            return true;
    }
    return false;
}

std::vector<Wire> Exclusion::implied(Wire w) const {
    std::vector<Wire> out{w};
    const Graph& g = circuit_.graph;
    for (size_t i = 0; i < out.size() && out.size() < 64; ++i) {
        const Graph::Node& node = g.node(node_of(out[i]));
        if (complemented(out[i]) || node.kind != Graph::Kind::And) continue;
        for (Wire part : {node.a, node.b})
            if (std::find(out.begin(), out.end(), part) == out.end()) out.push_back(part);
    }
    return out;
}

namespace {

struct RoleMoves {
    std::vector<uint32_t> free;  // moves that take part in a choice
    std::vector<Wire> common;    // true whenever one of them is legal
};

// Moves that are legal alone need no choice: they are made whenever they are legal.
RoleMoves split_moves(Exclusion& exclusion, const std::vector<Wire>& legal) {
    std::unordered_map<Wire, uint32_t> counts;
    std::vector<std::vector<Wire>> implied;
    for (Wire w : legal) {
        implied.push_back(exclusion.implied(w));
        for (Wire x : implied.back()) ++counts[x];
    }
    std::vector<std::pair<Wire, uint32_t>> frequent;
    for (const auto& [x, n] : counts)
        if (n + 1 >= legal.size()) frequent.push_back({x, n});
    std::vector<bool> alone(legal.size(), false);
    for (size_t m = 0; m < legal.size(); ++m) {
        std::vector<Wire> shared;  // by all others
        for (const auto& [x, n] : frequent) {
            const bool mine =
                std::find(implied[m].begin(), implied[m].end(), x) != implied[m].end();
            if (n - mine == legal.size() - 1) shared.push_back(x);
        }
        std::sort(shared.begin(), shared.end());
        alone[m] = legal.size() == 1 || std::any_of(shared.begin(), shared.end(), [&](Wire x) {
                       return exclusion.never_both(legal[m], x);
                   });
    }
    RoleMoves out;
    for (uint32_t m = 0; m < legal.size(); ++m)
        if (!alone[m]) out.free.push_back(m);
    if (!out.free.empty()) {
        std::unordered_map<Wire, uint32_t> free_counts;
        for (uint32_t m : out.free)
            for (Wire x : implied[m]) ++free_counts[x];
        for (const auto& [x, n] : free_counts)
            if (n == out.free.size()) out.common.push_back(x);
        std::sort(out.common.begin(), out.common.end());
    }
    return out;
}

struct Choice {
    uint32_t role, move;
};
using Slots = std::vector<std::vector<Choice>>;

// Moves of the roles of a team that are never legal together share a slot.
Slots share_slots(Exclusion& exclusion, const Circuit& circuit, const std::vector<RoleMoves>& moves,
                  const std::vector<uint32_t>& team, bool within_roles) {
    Slots slots;
    for (uint32_t r : team) {
        const bool search = within_roles && moves[r].free.size() <= 512;
        size_t next = 0;  // where searching is not worth it, roles still share slots in order
        for (uint32_t m : moves[r].free) {
            auto fits = [&](const std::vector<Choice>& slot) {
                return slot.size() < 8 &&
                       std::all_of(
                           slot.begin(), slot.end(),
                           [&](const Choice& c) {
                               return c.role != r ||
                                      (search && exclusion.never_both(circuit.legal[r][c.move],
                                                                      circuit.legal[r][m]));
                           });
            };
            const auto first = slots.begin() + static_cast<std::ptrdiff_t>(search ? 0 : next);
            auto slot = std::find_if(first, slots.end(), fits);
            if (slot == slots.end()) slot = slots.insert(slot, std::vector<Choice>());
            slot->push_back({r, m});
            next = static_cast<size_t>(slot - slots.begin()) + 1;
        }
    }
    return slots;
}

// Roles that never choose at the same time.
std::vector<std::vector<uint32_t>> make_teams(Exclusion& exclusion,
                                              const std::vector<RoleMoves>& moves) {
    std::vector<std::vector<uint32_t>> teams;
    for (uint32_t r = 0; r < moves.size(); ++r) {
        if (moves[r].free.empty()) continue;
        auto apart = [&](uint32_t other) {
            for (Wire x : moves[r].common)
                for (Wire y : moves[other].common)
                    if (exclusion.never_both(x, y)) return true;
            return false;
        };
        auto team = std::find_if(teams.begin(), teams.end(), [&](const auto& members) {
            return std::all_of(members.begin(), members.end(), apart);
        });
        if (team == teams.end()) team = teams.insert(team, std::vector<uint32_t>());
        team->push_back(r);
    }
    return teams;
}

}  // namespace

MoveChoice choose_moves(Circuit& circuit, const std::vector<bool>& initial) {
    MoveChoice out;
    Exclusion exclusion(circuit, initial);
    Graph& g = circuit.graph;
    const size_t roles = circuit.legal.size();
    std::vector<RoleMoves> moves;
    std::vector<std::vector<uint32_t>> teams;
    std::vector<Slots> team_slots;
    // Sharing slots within a role takes most proofs: the first thing to be given up.
    bool within_roles = true;
    do {
        if (exclusion.exhausted()) {
            if (!within_roles) exclusion.assume_nothing();
            within_roles = false;
            exclusion.restart();
        }
        moves.clear();
        team_slots.clear();
        for (const auto& legal : circuit.legal) moves.push_back(split_moves(exclusion, legal));
        teams = make_teams(exclusion, moves);
        for (const auto& team : teams)
            team_slots.push_back(share_slots(exclusion, circuit, moves, team, within_roles));
    } while (!exclusion.settle());
    out.made = circuit.legal;

    // A role's forced moves, those that are legal alone.
    std::vector<Wire> forced(roles, wire_false);
    for (uint32_t r = 0; r < roles; ++r) {
        for (uint32_t m = 0; m < circuit.legal[r].size(); ++m)
            if (!std::binary_search(moves[r].free.begin(), moves[r].free.end(), m))
                forced[r] = g.lor(forced[r], circuit.legal[r][m]);
        if (moves[r].free.empty()) out.stuck = g.lor(out.stuck, negate(forced[r]));
    }

    for (size_t t = 0; t < teams.size(); ++t) {
        const std::vector<uint32_t>& team = teams[t];
        const Slots& slots = team_slots[t];
        std::vector<Wire> candidates;
        for (const auto& slot : slots) {
            Wire any = wire_false;
            for (const Choice& c : slot) any = g.lor(any, circuit.legal[c.role][c.move]);
            candidates.push_back(any);
        }
        out.choosers.push_back(make_chooser(g, candidates));
        const Chooser& chooser = out.choosers.back();
        for (size_t s = 0; s < slots.size(); ++s)
            for (const Choice& c : slots[s])
                out.made[c.role][c.move] =
                    slots[s].size() == 1
                        ? chooser.selected[s]
                        : g.land(chooser.selected[s], circuit.legal[c.role][c.move]);
        // At most one role of the team has a choice, and it has no forced move then: a role without
        // a forced move is stuck if there is no choice, or if another one is without it as well.
        Wire one = wire_false, two = wire_false;
        for (uint32_t r : team) {
            two = g.lor(two, g.land(one, negate(forced[r])));
            one = g.lor(one, negate(forced[r]));
        }
        out.stuck = g.lor(out.stuck, g.lor(two, g.land(one, chooser.none)));
    }
    return out;
}

}  // namespace omnilude
