// A schedule made ready to run: machine code where the processor allows it, otherwise a list of
// operations for the portable evaluator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/lanes.h"
#include "circuit/schedule.h"

namespace omnilude {

// Executable memory with one compiled schedule; see emit_x86.cpp.
class MachineCode {
  public:
    using Function = void (*)(Lanes* frame, const Lanes* before, Lanes* after);
    ~MachineCode();
    MachineCode(const MachineCode&) = delete;
    MachineCode& operator=(const MachineCode&) = delete;

    // Null where the processor or the system does not allow it.
    static std::unique_ptr<MachineCode> make(const std::vector<uint8_t>& bytes);
    void run(Lanes* frame, const Lanes* before, Lanes* after) const {
        function_(frame, before, after);
    }
    size_t bytes() const { return size_; }

  private:
    MachineCode(void* memory, size_t size) : memory_(memory), size_(size) {
        function_ = reinterpret_cast<Function>(memory);
    }
    void* memory_;
    size_t size_;
    Function function_;
};

bool machine_code_possible();
// `frame_used` is raised to the number of frame slots that the code needs.
std::vector<uint8_t> emit_machine_code(const Task& task, const Schedule& schedule,
                                       uint32_t& frame_used);

// Operations for the portable evaluator. Two gates of which the first serves only the second are
// one operation. Operations of one kind stand together as far as they can, so that each stretch is
// a loop without branches; slots are used again as soon as their value is dead.
struct Operation {
    // Result: inner(a, b), then outer(that, c) for the fused kinds.
    enum Kind : uint8_t {
        Plain = 0,  // + Op
        Fused = 4,  // + 5 * inner Op + Outer
        Copy = 24,
        Not,
        Zero,
        LoopStart,
        Feedback,  // destination <- a, its complement if c
        Again,     // back to stretch number `a` if a feedback changed anything
    };
    enum Outer : uint8_t { And, NotInnerAnd, InnerAndNot, Or, Xor };
    uint8_t kind;
    uint32_t destination, a, b, c;  // slots: bank in the top two bits
};
struct OperationList {
    std::vector<Operation> operations;
    std::vector<uint32_t> ends;  // of each stretch of operations of one kind
};
OperationList make_operations(const Task& task, const Schedule& schedule, uint32_t& frame_used);
void run_operations_generic(const OperationList& list, Lanes* const banks[3], uint32_t width);
void run_operations_avx2(const OperationList& list, Lanes* const banks[3], uint32_t width);

class Code {
  public:
    // Compiles a task; frame slots from `frame_used` on are scratch, and it is raised past them.
    Code(const Task& task, uint32_t& frame_used, bool machine_code);

    // `width` words of lanes for each slot, side by side; machine code is always of width 1.
    void run(Lanes* frame, const Lanes* before, Lanes* after, uint32_t width) const;
    bool is_machine_code() const { return machine_ != nullptr; }
    size_t gates() const { return gates_; }

  private:
    std::unique_ptr<MachineCode> machine_;
    OperationList operations_;
    size_t gates_;
};

}  // namespace omnilude
