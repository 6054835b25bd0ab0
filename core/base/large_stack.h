// Runs a function on a stack that is deep enough for recursion over calls of rules.
#pragma once

#include <functional>

namespace omnilude {

// Exceptions reach the caller. The stack is reserved, not used, until the recursion needs it.
void run_with_large_stack(const std::function<void()>& work);

}  // namespace omnilude
