#include "circuit/code.h"

namespace omnilude {
#ifdef __AVX2__
namespace {
#include "circuit/operations_kernel.h"
}
#endif

void run_operations_avx2(const OperationList& list, Lanes* const banks[3], uint32_t width) {
#ifdef __AVX2__
    run_list(list, banks, width);
#else
    run_operations_generic(list, banks, width);
#endif
}
}  // namespace omnilude
