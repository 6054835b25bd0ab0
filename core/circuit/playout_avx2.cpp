#include <algorithm>

#include "base/random.h"
#include "circuit/playout_plan.h"

namespace omnilude {
#ifdef __AVX2__
namespace {
// clang-format off: in this order
#include "circuit/draw_kernel.h"
#include "circuit/playout_kernel.h"
#include "circuit/rollout_kernel.h"
// clang-format on
}  // namespace
#endif

PlayoutResult run_playout_unit_avx2(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                    uint64_t unit, uint64_t playouts) {
#ifdef __AVX2__
    return run_unit(plan, settings, unit, playouts);
#else
    return run_playout_unit_generic(plan, settings, unit, playouts);
#endif
}

bool roll_out_unit_avx2(const PlayoutPlan& plan, uint64_t seed, uint64_t unit, const Lanes* fluents,
                        uint64_t lanes, uint32_t max_length, uint32_t roles, float* goals) {
#ifdef __AVX2__
    return roll_out_unit(plan, seed, unit, fluents, lanes, max_length, roles, goals);
#else
    return roll_out_unit_generic(plan, seed, unit, fluents, lanes, max_length, roles, goals);
#endif
}
}  // namespace omnilude
