// From encoded rules to a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ludeme/program.h"

namespace omnilude::ludeme {

std::unique_ptr<Program> load_program(const std::vector<std::string>& symbols,
                                      const std::vector<int32_t>& code);

}  // namespace omnilude::ludeme
