#include "circuit/rows.h"

#include "base/transpose.h"
#include "circuit/code.h"

namespace omnilude {

namespace {
#include "circuit/rows_kernel.h"
}

RowFunctions row_functions_generic() { return {transpose64, count_rows, list_rows}; }

const RowFunctions& row_functions() {
    static const RowFunctions functions =
        machine_code_possible() ? row_functions_avx2() : row_functions_generic();
    return functions;
}

}  // namespace omnilude
