#include <algorithm>

#include "base/random.h"
#include "circuit/playout_plan.h"

namespace omnilude {
#ifdef __AVX2__
namespace {
#include "circuit/playout_kernel.h"
}
#endif

PlayoutResult run_playout_unit_avx2(const PlayoutPlan& plan, const PlayoutSettings& settings,
                                    uint64_t unit, uint64_t playouts) {
#ifdef __AVX2__
    return run_unit(plan, settings, unit, playouts);
#else
    return run_playout_unit_generic(plan, settings, unit, playouts);
#endif
}
}  // namespace omnilude
