#include "circuit/playout_plan.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "circuit/exclusive.h"

namespace omnilude {

namespace {

// Gates in the cone of `roots`, inputs not crossed.
std::vector<bool> cone_of(const Graph& graph, const std::vector<Wire>& roots) {
    std::vector<bool> in(graph.size(), false);
    std::vector<uint32_t> work;
    for (Wire w : roots) work.push_back(node_of(w));
    while (!work.empty()) {
        const uint32_t n = work.back();
        work.pop_back();
        if (in[n]) continue;
        in[n] = true;
        if (graph.is_gate(n)) {
            work.push_back(node_of(graph.node(n).a));
            work.push_back(node_of(graph.node(n).b));
        } else if (const int32_t r = graph.recursion_number(n); r >= 0) {
            for (Wire w : graph.recursions[r].definitions) work.push_back(node_of(w));
        }
    }
    return in;
}

// Replaces the variables of `does` by the gates that select moves.
class Substitution {
  public:
    explicit Substitution(Graph& graph) : graph_(graph) {}
    void set(Wire variable, Wire value) { map_[node_of(variable)] = value ^ (variable & 1); }

    Wire operator()(Wire root) {
        std::vector<uint32_t> work{node_of(root)};
        while (!work.empty()) {
            const uint32_t n = work.back();
            if (map_.count(n)) {
                work.pop_back();
                continue;
            }
            const Graph::Node node = graph_.node(n);
            if (!graph_.is_gate(n)) {
                map_[n] = n << 1;
                continue;
            }
            const auto a = map_.find(node_of(node.a)), b = map_.find(node_of(node.b));
            if (a != map_.end() && b != map_.end()) {
                const Wire x = a->second ^ (node.a & 1), y = b->second ^ (node.b & 1);
                map_[n] = node.kind == Graph::Kind::Xor ? graph_.lxor(x, y) : graph_.land(x, y);
                work.pop_back();
                continue;
            }
            if (a == map_.end()) work.push_back(node_of(node.a));
            if (b == map_.end()) work.push_back(node_of(node.b));
        }
        return map_[node_of(root)] ^ (root & 1);
    }

  private:
    Graph& graph_;
    std::unordered_map<uint32_t, Wire> map_;
};

}  // namespace

std::unique_ptr<PlayoutPlan> make_playout_plan(Circuit& circuit, const std::vector<bool>& initial,
                                               const PlayoutOptions& options) {
    Graph& g = circuit.graph;
    auto result = std::make_unique<PlayoutPlan>();
    PlayoutPlan& plan = *result;
    plan.width = options.width;
    plan.fluents = static_cast<uint32_t>(circuit.fluents.size());
    plan.initial = initial;

    const MoveChoice choice = choose_moves(circuit, initial);
    const auto& made = choice.made;
    const auto& choosers = choice.choosers;
    const Wire stuck = g.land(choice.stuck, negate(circuit.terminal));

    Substitution substitute(g);
    for (size_t r = 0; r < made.size(); ++r)
        for (size_t m = 0; m < made[r].size(); ++m) substitute.set(circuit.does[r][m], made[r][m]);
    std::vector<Wire> next;
    for (Wire w : circuit.next) next.push_back(substitute(w));

    // Frame: constants, then what is shared between the pieces of code.
    uint32_t frame = frame_constants;
    plan.terminal_slot = frame++;
    plan.stuck_slot = frame++;
    plan.restart_slot = frame++;
    plan.hold_slot = frame++;
    std::vector<Wire> goal_wires;
    for (uint32_t r = 0; r < circuit.goals.size(); ++r)
        for (const auto& goal : circuit.goals[r]) {
            auto at = std::find(goal_wires.begin(), goal_wires.end(), goal.wire);
            if (at == goal_wires.end()) {
                at = goal_wires.insert(at, goal.wire);
                plan.goal_slots.push_back(frame++);
            }
            plan.goals.push_back({r, goal.value, static_cast<uint32_t>(at - goal_wires.begin())});
        }

    std::vector<Wire> first_roots{circuit.terminal, stuck};
    for (const Chooser& chooser : choosers) {
        first_roots.insert(first_roots.end(), chooser.top_rank.begin(), chooser.top_rank.end());
        first_roots.insert(first_roots.end(), chooser.mask.begin(), chooser.mask.end());
    }
    const std::vector<bool> without_goals = cone_of(g, first_roots);
    const std::vector<bool> goal_cone = cone_of(g, goal_wires);
    size_t goal_only = 0;
    for (uint32_t n = 0; n < g.size(); ++n)
        goal_only += goal_cone[n] && !without_goals[n] && g.is_gate(n);
    // Holding costs three operations a fluent and step.
    plan.hold = goal_only > 4 * circuit.fluents.size() + 8;

    const Wire restart = g.variable(), hold = g.variable();
    std::vector<Wire> after;
    for (size_t f = 0; f < next.size(); ++f) {
        Wire w = next[f];
        if (plan.hold) w = g.choose(hold, circuit.fluents[f], w);
        after.push_back(initial[f] ? g.lor(w, restart) : g.land(w, negate(restart)));
    }

    Task first{&g, {}};
    for (size_t f = 0; f < circuit.fluents.size(); ++f)
        first.input(circuit.fluents[f], Slot::before(static_cast<uint32_t>(f)));
    Task second = first;
    Task goals = first;
    first.outputs = {{circuit.terminal, Slot::frame(plan.terminal_slot)},
                     {stuck, Slot::frame(plan.stuck_slot)}};
    for (const Chooser& chooser : choosers) {
        PlayoutPlan::Draw draw;
        for (size_t i = 0; i < chooser.rank.size(); ++i) {
            draw.top_rank.push_back(frame);
            first.outputs.push_back({chooser.top_rank[i], Slot::frame(frame++)});
            draw.mask.push_back(frame);
            first.outputs.push_back({chooser.mask[i], Slot::frame(frame++)});
            draw.rank.push_back(frame);
            second.input(chooser.rank[i], Slot::frame(frame++));
        }
        if (!draw.rank.empty()) plan.draws.push_back(std::move(draw));
    }
    for (size_t k = 0; k < goal_wires.size(); ++k)
        (plan.hold ? goals : first)
            .outputs.push_back({goal_wires[k], Slot::frame(plan.goal_slots[k])});
    for (const auto& role : circuit.legal) {
        plan.legal.emplace_back();
        for (Wire w : role) {
            plan.legal.back().push_back(frame);
            goals.outputs.push_back({w, Slot::frame(frame++)});
        }
    }
    second.input(restart, Slot::frame(plan.restart_slot));
    second.input(hold, Slot::frame(plan.hold_slot));

    // What the first piece has computed and the second needs is handed over in the frame.
    for (const auto& output : first.outputs) first_roots.push_back(output.wire);
    const std::vector<bool> known = cone_of(g, first_roots);
    std::vector<Wire> roots = after;
    std::vector<uint32_t> exports;
    std::vector<bool> seen(g.size(), false);
    std::vector<uint32_t> work;
    for (Wire w : roots) work.push_back(node_of(w));
    while (!work.empty()) {
        const uint32_t n = work.back();
        work.pop_back();
        if (seen[n]) continue;
        seen[n] = true;
        const bool input = n < second.inputs.size() && second.inputs[n].valid();
        if (input || n == 0) continue;
        if (known[n]) {
            exports.push_back(n);
            continue;
        }
        if (g.is_gate(n)) {
            work.push_back(node_of(g.node(n).a));
            work.push_back(node_of(g.node(n).b));
        } else if (const int32_t r = g.recursion_number(n); r >= 0) {
            for (Wire w : g.recursions[r].definitions) work.push_back(node_of(w));
        }
    }
    // The definitions of a recursion are not rewritten: one that rests on the moves made has no
    // plan.
    for (const auto& role : circuit.does)
        for (Wire w : role)
            if (seen[node_of(w)]) return nullptr;
    // In whichever polarity the first piece has it.
    Task trial = first;
    for (uint32_t n : exports) trial.outputs.push_back({n << 1, Slot::frame(frame)});
    const std::vector<bool> inverted = make_schedule(trial).inverted;
    for (uint32_t n : exports) {
        const Wire w = n << 1 | inverted[n];
        first.outputs.push_back({w, Slot::frame(frame)});
        second.input(w, Slot::frame(frame++));
    }
    for (size_t f = 0; f < after.size(); ++f)
        second.outputs.push_back({after[f], Slot::after(static_cast<uint32_t>(f))});

    uint32_t used_first = frame, used_second = frame, used_goals = frame;
    plan.before_choice = std::make_unique<Code>(first, used_first, options.machine_code);
    plan.after_choice = std::make_unique<Code>(second, used_second, options.machine_code);
    plan.goal = std::make_unique<Code>(goals, used_goals, options.machine_code);
    plan.frame_slots = std::max({used_first, used_second, used_goals});
    return result;
}

PlayoutResult PlayoutPlan::run(const PlayoutSettings& settings) const {
    // Units of fixed size, each with its own stream: the result is the same for any threads.
    const uint64_t block = lanes_per_word * width;
    const uint64_t unit = block * std::clamp<uint64_t>(settings.playouts / (16 * block), 1, 256);
    const uint64_t units = (settings.playouts + unit - 1) / unit;
    std::vector<PlayoutResult> results(units);
    std::atomic<uint64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto work = [&] {
        static const bool avx2 = machine_code_possible();
        try {
            for (uint64_t u = next++; u < units; u = next++)
                results[u] = (avx2 ? run_playout_unit_avx2 : run_playout_unit_generic)(
                    *this, settings, u, std::min(unit, settings.playouts - u * unit));
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    try {
        for (uint32_t t = 1; t < std::min<uint64_t>({settings.threads, units, 1024}); ++t)
            threads.emplace_back(work);
    } catch (const std::system_error&) {
        // as many as there can be
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    PlayoutResult total;
    for (const PlayoutResult& result : results) total.add(result);
    return total;
}

bool PlayoutPlan::roll_out(uint64_t seed, uint64_t unit, const Lanes* fluents, uint64_t lanes,
                           uint32_t max_length, uint32_t roles, float* goals) const {
    static const bool avx2 = machine_code_possible();
    return (avx2 ? roll_out_unit_avx2 : roll_out_unit_generic)(*this, seed, unit, fluents, lanes,
                                                               max_length, roles, goals);
}

}  // namespace omnilude
