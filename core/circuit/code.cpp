#include "circuit/code.h"

namespace omnilude {

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
