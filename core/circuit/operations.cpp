#include <algorithm>

#include "circuit/code.h"

namespace omnilude {

namespace {

#include "circuit/operations_kernel.h"

constexpr uint32_t unset = UINT32_MAX;

uint32_t encode(Slot slot) { return static_cast<uint32_t>(slot.bank) << 30 | slot.index; }

class OperationMaker {
  public:
    OperationMaker(const Task& task, const Schedule& schedule, uint32_t& frame_used)
        : task_(task), steps_(schedule.steps), frame_used_(frame_used) {}

    OperationList run() {
        prepare();
        fuse();
        order();
        find_last_uses();
        for (uint32_t at = 0; at < order_.size(); ++at) step(order_[at], at);
        return std::move(out_);
    }

  private:
    using Step = Schedule::Step;
    using Kind = Step::Kind;

    void prepare() {
        const size_t nodes = task_.graph->size();
        slot_.assign(nodes, unset);
        made_at_.assign(nodes, unset);
        uses_.assign(nodes, 0);
        fixed_.assign(nodes, false);
        stored_.assign(task_.outputs.size(), false);
        loop_.assign(steps_.size(), 0);
        slot_[0] = encode(Slot::frame(frame_zeros));
        for (uint32_t n = 0; n < task_.inputs.size(); ++n)
            if (task_.inputs[n].valid()) slot_[n] = encode(task_.inputs[n]);
        uint32_t loops = 0, current = 0;
        for (uint32_t i = 0; i < steps_.size(); ++i) {
            const Step& s = steps_[i];
            if (s.kind == Kind::LoopBegin) current = ++loops;
            loop_[i] = current;
            if (s.kind == Kind::LoopEnd) current = 0;
            if (s.kind == Kind::Gate) {
                made_at_[s.node] = i;
                ++uses_[s.a];
                ++uses_[s.b];
            } else if (s.kind == Kind::Output || s.kind == Kind::Feedback) {
                uses_[s.a] += 2;  // never fused away
            }
            // A gate that is an output as it stands is computed straight into the output's place.
            if (s.kind == Kind::Output && !s.flip && slot_[s.a] == unset &&
                made_at_[s.a] != unset && !fixed_[s.a]) {
                stored_[s.node] = fixed_[s.a] = true;
                slot_[s.a] = encode(task_.outputs[s.node].slot);
            }
        }
        for (uint32_t n = 0; n < nodes; ++n) fixed_[n] = fixed_[n] || slot_[n] != unset;
    }

    void fuse() {
        inner_.assign(steps_.size(), unset);
        absorbed_.assign(steps_.size(), false);
        for (uint32_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].kind != Kind::Gate) continue;
            for (uint32_t n : {steps_[i].a, steps_[i].b}) {
                const uint32_t at = made_at_[n];
                if (inner_[i] != unset || at == unset || uses_[n] != 1 || inner_[at] != unset ||
                    loop_[at] != loop_[i])
                    continue;
                inner_[i] = at;
                absorbed_[at] = true;
            }
        }
    }

    template <class Visit>
    void each_operand(uint32_t i, Visit visit) const {
        const Step& s = steps_[i];
        if (s.kind == Kind::Output || s.kind == Kind::Feedback) visit(s.a);
        if (s.kind != Kind::Gate || absorbed_[i]) return;
        if (inner_[i] == unset) {
            visit(s.a);
            visit(s.b);
            return;
        }
        const Step& inner = steps_[inner_[i]];
        visit(inner.a);
        visit(inner.b);
        visit(s.a == inner.node ? s.b : s.a);
    }

    uint8_t kind_of(uint32_t i) const {
        const Step& s = steps_[i];
        if (s.kind == Kind::Output) return s.flip ? Operation::Not : Operation::Copy;
        if (inner_[i] == unset)
            return static_cast<uint8_t>(Operation::Plain + static_cast<uint8_t>(s.op));
        const Step& inner = steps_[inner_[i]];
        uint8_t outer = Operation::And;
        if (s.op == Op::AndNot)
            outer = s.a == inner.node ? Operation::NotInnerAnd : Operation::InnerAndNot;
        if (s.op == Op::Or) outer = Operation::Or;
        if (s.op == Op::Xor) outer = Operation::Xor;
        return static_cast<uint8_t>(Operation::Fused + 5 * static_cast<uint8_t>(inner.op) + outer);
    }

    // The steps in the order in which they are done: loops as they stand; between them, whatever
    // kind has most operations ready goes next, with all that are ready.
    void order() {
        for (uint32_t first = 0; first < steps_.size();) {
            uint32_t last = first;
            if (steps_[first].kind == Kind::LoopBegin) {
                while (steps_[last].kind != Kind::LoopEnd) ++last;
                for (uint32_t i = first; i <= last; ++i)
                    if (!absorbed_[i]) order_.push_back(i);
                first = last + 1;
                continue;
            }
            while (last < steps_.size() && steps_[last].kind != Kind::LoopBegin) ++last;
            order_stretch(first, last);
            first = last;
        }
    }

    void order_stretch(uint32_t first, uint32_t last) {
        std::vector<std::vector<uint32_t>> ready(Operation::LoopStart);
        std::vector<uint32_t> missing(last - first, 0);
        std::vector<std::vector<uint32_t>> users(last - first);
        // The step that makes an operand, if it is one of this stretch.
        auto maker = [&](uint32_t n) {
            const uint32_t at = made_at_[n];
            return at != unset && at >= first && at < last ? at : unset;
        };
        for (uint32_t i = first; i < last; ++i) {
            if (absorbed_[i]) continue;
            each_operand(i, [&](uint32_t n) {
                if (maker(n) == unset) return;
                ++missing[i - first];
                users[maker(n) - first].push_back(i);
            });
            if (missing[i - first] == 0) ready[kind_of(i)].push_back(i);
        }
        for (;;) {
            auto most =
                std::max_element(ready.begin(), ready.end(),
                                 [](const auto& a, const auto& b) { return a.size() < b.size(); });
            if (most->empty()) return;
            while (!most->empty()) {
                const uint32_t i = most->back();
                most->pop_back();
                order_.push_back(i);
                for (uint32_t user : users[i - first])
                    if (--missing[user - first] == 0) ready[kind_of(user)].push_back(user);
            }
        }
    }

    void find_last_uses() {
        last_use_.assign(task_.graph->size(), 0);
        uint32_t loop_end = 0;
        for (uint32_t at = static_cast<uint32_t>(order_.size()); at-- > 0;) {
            const uint32_t i = order_[at];
            if (steps_[i].kind == Kind::LoopEnd) loop_end = at;
            // What a loop reads must outlive it, because it comes round again.
            const uint32_t use = loop_[i] ? loop_end : at;
            each_operand(i, [&](uint32_t n) { last_use_[n] = std::max(last_use_[n], use); });
        }
    }

    void release(uint32_t i, uint32_t at) {
        if (loop_[i]) return;
        each_operand(i, [&](uint32_t n) {
            if (!fixed_[n] && last_use_[n] == at && slot_[n] != unset) {
                free_.push_back(slot_[n]);
                slot_[n] = unset;
            }
        });
    }

    void place(Operation operation) {
        auto& list = out_.operations;
        const bool alone =
            operation.kind == Operation::LoopStart || operation.kind == Operation::Again;
        if (list.empty() || list.back().kind != operation.kind || alone) out_.ends.push_back(0);
        list.push_back(operation);
        out_.ends.back() = static_cast<uint32_t>(list.size());
    }

    uint32_t allocate(uint32_t node) {
        if (slot_[node] != unset) return slot_[node];
        if (!free_.empty()) {
            slot_[node] = free_.back();
            free_.pop_back();
        } else {
            slot_[node] = encode(Slot::frame(frame_used_++));
        }
        return slot_[node];
    }

    void step(uint32_t i, uint32_t at) {
        const Step& s = steps_[i];
        switch (s.kind) {
            case Kind::Gate:
                gate(i, at);
                break;
            case Kind::Output:
                if (!stored_[s.node])
                    place({kind_of(i), encode(task_.outputs[s.node].slot), slot_[s.a], 0, 0});
                release(i, at);
                break;
            case Kind::LoopBegin:
                for (Wire atom : task_.graph->recursions[s.node].atoms) {
                    fixed_[node_of(atom)] = true;
                    place({Operation::Zero, allocate(node_of(atom)), frame_zeros, 0, 0});
                }
                loop_start_ = static_cast<uint32_t>(out_.ends.size());
                place({Operation::LoopStart, 0, 0, 0, 0});
                break;
            case Kind::Feedback:
                place({Operation::Feedback, slot_[s.node], slot_[s.a], 0, s.flip});
                break;
            case Kind::LoopEnd:
                place({Operation::Again, 0, loop_start_, 0, 0});
                break;
        }
    }

    void gate(uint32_t i, uint32_t at) {
        const Step& s = steps_[i];
        Operation operation{kind_of(i), 0, slot_[s.a], slot_[s.b], 0};
        if (inner_[i] != unset) {
            const Step& inner = steps_[inner_[i]];
            operation.a = slot_[inner.a];
            operation.b = slot_[inner.b];
            operation.c = slot_[s.a == inner.node ? s.b : s.a];
        }
        // Reading and writing go word by word, so the result may take an operand's place.
        release(i, at);
        operation.destination = allocate(s.node);
        place(operation);
    }

    const Task& task_;
    const std::vector<Step>& steps_;
    uint32_t& frame_used_;
    OperationList out_;
    std::vector<uint32_t> slot_, made_at_, uses_, loop_, inner_, order_, last_use_, free_;
    std::vector<bool> fixed_, stored_, absorbed_;
    uint32_t loop_start_ = 0;
};

}  // namespace

OperationList make_operations(const Task& task, const Schedule& schedule, uint32_t& frame_used) {
    return OperationMaker(task, schedule, frame_used).run();
}

void run_operations_generic(const OperationList& list, Lanes* const banks[3], uint32_t width) {
    run_list(list, banks, width);
}

}  // namespace omnilude
