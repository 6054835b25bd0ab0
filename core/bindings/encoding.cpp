// Encoders, as Python sees them.
#include "bindings/bindings.h"
#include "encoding/encoder.h"

namespace omnilude {

using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_encoding(nb::module_& m) {
    nb::class_<Encoder>(m, "Encoder")
        .def(
            "__init__",
            [](Encoder* self, const Game& game, CodeArray sources, bool views) {
                new (self)
                    Encoder(game, {sources.data(), sources.data() + sources.shape(0)}, views);
            },
            "game"_a, "sources"_a, "views"_a = false, nb::keep_alive<1, 2>())
        .def_prop_ro("size", &Encoder::size)
        .def(
            "encode",
            [](const Encoder& encoder, ConstStates states, Rows out) {
                check_states(encoder.game(), states);
                if (out.shape(0) != states.shape(0) || out.shape(1) != encoder.size())
                    throw nb::value_error("out must be an array [states, size]");
                nb::gil_scoped_release release;
                encoder.encode(states.data(), states.shape(0), out.data());
            },
            "states"_a, "out"_a.noconvert());
}

}  // namespace omnilude
