#include <algorithm>

#include "base/random.h"
#include "circuit/playout_plan.h"

namespace omnilude {
namespace {
#include "circuit/playout_kernel.h"
}

PlayoutResult run_playout_unit_generic(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                       uint64_t unit, uint64_t playouts) {
    return run_unit(plan, settings, unit, playouts);
}
}  // namespace omnilude
