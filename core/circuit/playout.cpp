#include <algorithm>

#include "base/random.h"
#include "circuit/playout_plan.h"

namespace omnilude {
namespace {
// clang-format off: in this order
#include "circuit/draw_kernel.h"
#include "circuit/playout_kernel.h"
#include "circuit/rollout_kernel.h"
// clang-format on
}  // namespace

PlayoutResult run_playout_unit_generic(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                       uint64_t unit, uint64_t playouts) {
    return run_unit(plan, settings, unit, playouts);
}

bool roll_out_unit_generic(const PlayoutPlan& plan, uint64_t seed, uint64_t unit,
                           const Lanes* fluents, uint64_t lanes, uint32_t max_length,
                           uint32_t roles, float* goals) {
    return roll_out_unit(plan, seed, unit, fluents, lanes, max_length, roles, goals);
}
}  // namespace omnilude
