#include "circuit/code.h"

namespace omnilude {
namespace {
#include "circuit/operations_kernel.h"
}

void run_operations_generic(const OperationList& list, Lanes* const banks[3], uint32_t width) {
    run_list(list, banks, width);
}
}  // namespace omnilude
