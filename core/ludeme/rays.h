// Rays of a board: sites in a row that go on from step to step within one direction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ludeme/board.h"

namespace omnilude::ludeme {

struct RayTables {
    Lists rays;                      // the sites of each ray, the first of which is where it starts
    std::vector<int32_t> direction;  // of each ray
    std::vector<int32_t> opposite;   // of each ray, or -1
    Lists at, distinct;              // numbers of rays, at [direction * sites + site]
};

// `ends`: by [direction * sites + site] where steps of a direction lead, clockwise from north.
RayTables trace_rays(const std::vector<std::array<double, 3>>& points, const Lists& ends);

}  // namespace omnilude::ludeme
