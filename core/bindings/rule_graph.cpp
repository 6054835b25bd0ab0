#include "bindings/bindings.h"

namespace omnilude {

void bind_rule_graph(nb::module_&) {}

}  // namespace omnilude
