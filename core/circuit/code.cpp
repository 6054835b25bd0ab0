#include "circuit/code.h"

#include <algorithm>

namespace omnilude {

namespace {

using Run = OperationList::Run;

uint32_t encode(Slot slot) { return static_cast<uint32_t>(slot.bank) << 30 | slot.index; }

}  // namespace

OperationList make_operations(const Task& task, const Schedule& schedule, uint32_t& frame_used) {
    const size_t nodes = task.graph->size();
    std::vector<uint32_t> slot(nodes, UINT32_MAX), level(nodes, 0);
    slot[0] = encode(Slot::frame(frame_zeros));
    for (uint32_t n = 0; n < task.inputs.size(); ++n)
        if (task.inputs[n].valid()) slot[n] = encode(task.inputs[n]);

    OperationList out;
    struct Sorted {
        uint32_t level;
        Run::Kind kind;
        OperationList::Operation operation;
    };
    std::vector<Sorted> straight;
    // Between loops, operations go by level and kind, so that each stretch of one kind is a loop
    // without branches. Slots are given in that order, which makes the writes sequential.
    auto place = [&](Run::Kind kind, OperationList::Operation operation) {
        if (out.runs.empty() || out.runs.back().kind != kind ||
            out.runs.back().last != out.operations.size())
            out.runs.push_back({kind, static_cast<uint32_t>(out.operations.size()), 0});
        out.operations.push_back(operation);
        out.runs.back().last = static_cast<uint32_t>(out.operations.size());
    };
    auto flush = [&] {
        std::stable_sort(straight.begin(), straight.end(), [](const Sorted& x, const Sorted& y) {
            return x.level != y.level ? x.level < y.level : x.kind < y.kind;
        });
        for (const Sorted& item : straight) place(item.kind, item.operation);
        straight.clear();
    };
    bool in_loop = false;
    uint32_t loop_run = 0;
    for (const Schedule::Step& s : schedule.steps) {
        switch (s.kind) {
            case Schedule::Step::Kind::Gate: {
                if (slot[s.node] == UINT32_MAX) slot[s.node] = encode(Slot::frame(frame_used++));
                level[s.node] = std::max(level[s.a], level[s.b]) + 1;
                const OperationList::Operation operation{slot[s.node], slot[s.a], slot[s.b]};
                const auto kind = static_cast<Run::Kind>(s.op);
                if (in_loop)
                    place(kind, operation);
                else
                    straight.push_back({level[s.node], kind, operation});
                break;
            }
            case Schedule::Step::Kind::Output:
                straight.push_back({level[s.a] + 1,
                                    s.flip ? Run::Kind::Not : Run::Kind::Copy,
                                    {encode(task.outputs[s.node].slot), slot[s.a], 0}});
                break;
            case Schedule::Step::Kind::LoopBegin:
                flush();
                for (Wire atom : task.graph->recursions[s.node].atoms) {
                    if (slot[node_of(atom)] == UINT32_MAX)
                        slot[node_of(atom)] = encode(Slot::frame(frame_used++));
                    place(Run::Kind::Zero, {slot[node_of(atom)], 0, 0});
                }
                loop_run = static_cast<uint32_t>(out.runs.size());
                out.runs.push_back({Run::Kind::Loop, 0, 0});
                in_loop = true;
                break;
            case Schedule::Step::Kind::Feedback:
                place(Run::Kind::Feedback, {slot[s.node], slot[s.a], s.flip});
                break;
            case Schedule::Step::Kind::LoopEnd:
                out.runs.push_back({Run::Kind::Again, loop_run, 0});
                in_loop = false;
                break;
        }
    }
    flush();
    return out;
}

Code::Code(const Task& task, uint32_t& frame_used, bool machine_code) {
    const Schedule schedule = make_schedule(task);
    gates_ = schedule.gates;
    if (machine_code && machine_code_possible())
        machine_ = MachineCode::make(emit_machine_code(task, schedule, frame_used));
    if (!machine_) operations_ = make_operations(task, schedule, frame_used);
}

void Code::run(Lanes* frame, const Lanes* before, Lanes* after, uint32_t width) const {
    if (machine_) {
        machine_->run(frame, before, after);
        return;
    }
    Lanes* const banks[3] = {frame, const_cast<Lanes*>(before), after};
    static const bool avx2 = machine_code_possible();
    (avx2 ? run_operations_avx2 : run_operations_generic)(operations_, banks, width);
}

}  // namespace omnilude
