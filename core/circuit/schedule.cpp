#include "circuit/schedule.h"

namespace omnilude {

namespace {

class Scheduler {
   public:
    explicit Scheduler(const Task& task)
        : task_(task), graph_(*task.graph), done_(graph_.size(), false) {
        out_.inverted.assign(graph_.size(), false);
        done_[0] = true;
        for (uint32_t n = 0; n < task.inputs.size(); ++n)
            if (task.inputs[n].valid()) done_[n] = true;
        region_done_.assign(graph_.recursions.size(), false);
    }

    Schedule run() {
        for (uint32_t i = 0; i < task_.outputs.size(); ++i) {
            const Wire w = task_.outputs[i].wire;
            visit(node_of(w));
            out_.steps.push_back({Schedule::Step::Kind::Output, Op::And, flipped(w), i, node_of(w), 0});
        }
        return std::move(out_);
    }

   private:
    bool flipped(Wire w) const { return complemented(w) != out_.inverted[node_of(w)]; }

    // Every gate costs one operation: complements move into the choice of operation, or stay with
    // the result as its polarity.
    void emit_gate(uint32_t n) {
        const Graph::Node& node = graph_.node(n);
        uint32_t a = node_of(node.a), b = node_of(node.b);
        const bool ca = flipped(node.a), cb = flipped(node.b);
        Op op = Op::And;
        if (node.kind == Graph::Kind::Xor) {
            op = Op::Xor;
            out_.inverted[n] = ca != cb;
        } else if (ca && cb) {
            op = Op::Or;
            out_.inverted[n] = true;
        } else if (ca || cb) {
            op = Op::AndNot;
            if (cb) std::swap(a, b);
        }
        out_.steps.push_back({Schedule::Step::Kind::Gate, op, false, n, a, b});
        ++out_.gates;
        done_[n] = true;
    }

    // Depth first: what an output needs stands just before it, so that little is live at a time.
    void visit(uint32_t root) {
        std::vector<uint32_t> work{root};
        while (!work.empty()) {
            const uint32_t n = work.back();
            if (done_[n]) {
                work.pop_back();
                continue;
            }
            if (!graph_.is_gate(n)) {
                work.pop_back();
                visit_region(static_cast<uint32_t>(graph_.recursion_of[n]));
                continue;
            }
            const uint32_t a = node_of(graph_.node(n).a), b = node_of(graph_.node(n).b);
            if (done_[a] && done_[b]) {
                emit_gate(n);
                work.pop_back();
                continue;
            }
            if (!done_[b]) work.push_back(b);
            if (!done_[a]) work.push_back(a);
        }
    }

    void visit_region(uint32_t number) {
        if (region_done_[number]) return;
        region_done_[number] = true;
        const Recursion& region = graph_.recursions[number];
        for (Wire atom : region.atoms) done_[node_of(atom)] = true;
        // Gates below the definitions, bottom up; those that rest on the region's own atoms are
        // evaluated again and again, the others once, before.
        std::vector<uint32_t> order;
        std::vector<uint8_t> state(graph_.size(), 0);  // 1 open, 2 outside the loop, 3 inside
        for (Wire atom : region.atoms) state[node_of(atom)] = 3;
        auto outside = [&](uint32_t n) { return state[n] == 2; };
        for (Wire definition : region.definitions) {
            std::vector<uint32_t> work{node_of(definition)};
            while (!work.empty()) {
                const uint32_t n = work.back();
                if (state[n] >= 2) {
                    work.pop_back();
                    continue;
                }
                if (done_[n] || !graph_.is_gate(n)) {
                    state[n] = 2;
                    work.pop_back();
                    continue;
                }
                const uint32_t a = node_of(graph_.node(n).a), b = node_of(graph_.node(n).b);
                if (state[a] >= 2 && state[b] >= 2) {
                    state[n] = outside(a) && outside(b) ? 2 : 3;
                    if (state[n] == 3) order.push_back(n);
                    work.pop_back();
                    continue;
                }
                if (state[b] < 2) work.push_back(b);
                if (state[a] < 2) work.push_back(a);
            }
        }
        for (uint32_t n : order) {
            for (Wire w : {graph_.node(n).a, graph_.node(n).b})
                if (outside(node_of(w))) visit(node_of(w));
        }
        for (Wire definition : region.definitions)
            if (outside(node_of(definition))) visit(node_of(definition));
        using Kind = Schedule::Step::Kind;
        out_.steps.push_back({Kind::LoopBegin, Op::And, false, number, 0, 0});
        size_t at = 0;
        for (size_t i = 0; i < region.atoms.size(); ++i) {
            // `order` holds each definition's gates before those of the next one.
            const uint32_t definition = node_of(region.definitions[i]);
            if (state[definition] == 3 && !done_[definition])
                while (!done_[definition]) emit_gate(order[at++]);
            out_.steps.push_back({Kind::Feedback, Op::And, flipped(region.definitions[i]),
                                  node_of(region.atoms[i]), definition, 0});
        }
        out_.steps.push_back({Kind::LoopEnd, Op::And, false, number, 0, 0});
    }

    const Task& task_;
    const Graph& graph_;
    std::vector<bool> done_;
    std::vector<bool> region_done_;
    Schedule out_;
};

}  // namespace

Schedule make_schedule(const Task& task) { return Scheduler(task).run(); }

}  // namespace omnilude
