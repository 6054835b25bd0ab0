#include "bindings/bindings.h"

namespace omnilude {

void bind_search(nb::module_&) {}

}  // namespace omnilude
