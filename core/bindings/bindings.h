// What the files of bindings share: types of arrays, and their checks. Arrays are checked in the
// bindings; the core trusts its callers.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "base/game.h"

namespace omnilude {

namespace nb = nanobind;
using namespace nb::literals;

using States = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstStates = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Moves = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using CodeArray = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to numpy without copying it.
template <class T>
nb::ndarray<nb::numpy, T> as_array(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

template <class Array>
void check_states(const Game& game, const Array& states) {
    if (states.shape(1) != game.state_bytes())
        throw nb::value_error(("states must have " + std::to_string(game.state_bytes()) +
                               " bytes each, not " + std::to_string(states.shape(1)))
                                  .c_str());
}

inline uint32_t check_role(const Game& game, uint32_t role) {
    if (role >= game.roles()) throw nb::index_error("no such role");
    return role;
}

void bind_encoding(nb::module_& m);
void bind_search(nb::module_& m);
void bind_rule_graph(nb::module_& m);
void bind_ludeme(nb::module_& m);

}  // namespace omnilude
