#include "circuit/schedule.h"

namespace omnilude {

namespace {

class Scheduler {
  public:
    explicit Scheduler(const Task& task)
        : task_(task), graph_(*task.graph), done_(graph_.size(), false), place_(graph_.size(), 0) {
        out_.inverted = task.inverted;
        out_.inverted.resize(graph_.size(), false);
        done_[0] = true;
        for (uint32_t n = 0; n < task.inputs.size(); ++n)
            if (task.inputs[n].valid()) done_[n] = true;
        region_done_.assign(graph_.recursions.size(), false);
    }

    Schedule run() {
        for (uint32_t i = 0; i < task_.outputs.size(); ++i) {
            const Wire w = task_.outputs[i].wire;
            visit(node_of(w));
            out_.steps.push_back(
                {Schedule::Step::Kind::Output, Op::And, flipped(w), i, node_of(w), 0});
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
        // What is known of a node for this region: twice its number, plus 1 if inside the loop.
        const uint64_t mark_outside = 2 * (uint64_t{number} + 1), mark_inside = mark_outside + 1;
        auto seen = [&](uint32_t n) { return place_[n] / 2 == uint64_t{number} + 1; };
        auto outside = [&](uint32_t n) { return place_[n] == mark_outside; };
        for (Wire atom : region.atoms) place_[node_of(atom)] = mark_inside;
        for (Wire definition : region.definitions) {
            std::vector<uint32_t> work{node_of(definition)};
            while (!work.empty()) {
                const uint32_t n = work.back();
                if (seen(n)) {
                    work.pop_back();
                    continue;
                }
                if (done_[n] || !graph_.is_gate(n)) {
                    place_[n] = mark_outside;
                    work.pop_back();
                    continue;
                }
                const uint32_t a = node_of(graph_.node(n).a), b = node_of(graph_.node(n).b);
                if (seen(a) && seen(b)) {
                    place_[n] = outside(a) && outside(b) ? mark_outside : mark_inside;
                    if (!outside(n)) order.push_back(n);
                    work.pop_back();
                    continue;
                }
                if (!seen(b)) work.push_back(b);
                if (!seen(a)) work.push_back(a);
            }
        }
        // Visiting may schedule other regions and so forget these marks: collect first.
        std::vector<uint32_t> needed;
        for (uint32_t n : order)
            for (Wire w : {graph_.node(n).a, graph_.node(n).b})
                if (outside(node_of(w))) needed.push_back(node_of(w));
        for (Wire definition : region.definitions)
            if (outside(node_of(definition))) needed.push_back(node_of(definition));
        for (uint32_t n : needed) visit(n);
        using Kind = Schedule::Step::Kind;
        out_.steps.push_back({Kind::LoopBegin, Op::And, false, number, 0, 0});
        size_t at = 0;
        for (size_t i = 0; i < region.atoms.size(); ++i) {
            // `order` holds each definition's gates before those of the next one.
            const uint32_t definition = node_of(region.definitions[i]);
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
    std::vector<uint64_t> place_;  // by node, for the region being scheduled
    Schedule out_;
};

}  // namespace

Schedule make_schedule(const Task& task) { return Scheduler(task).run(); }

}  // namespace omnilude
