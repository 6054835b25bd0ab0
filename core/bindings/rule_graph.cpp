// The graph of a game's rules, as Python sees it.
#include "datalog/rule_graph.h"

#include "base/large_stack.h"
#include "bindings/bindings.h"

namespace omnilude {

void bind_rule_graph(nb::module_& m) {
    nb::class_<RuleGraph>(m, "RuleGraph")
        .def_static(
            "make",
            [](std::vector<std::string> symbols, CodeArray code, double seconds, uint64_t bytes,
               uint64_t instances, bool ends) {
                Program program = decode_program(std::move(symbols), {code.data(), code.shape(0)});
                nb::gil_scoped_release release;
                Budget budget(seconds, bytes, instances);
                auto graph = std::make_unique<RuleGraph>();
                run_with_large_stack([&] { *graph = make_rule_graph(program, budget, ends); });
                return graph;
            },
            "symbols"_a, "code"_a, "seconds"_a, "bytes"_a, "instances"_a, "ends"_a)
        .def_ro("roles", &RuleGraph::roles)
        .def_ro("fluents", &RuleGraph::fluents)
        .def_ro("moves", &RuleGraph::moves)
        .def_ro("instances", &RuleGraph::instances)
        .def("colours",
             [](const RuleGraph& graph) {
                 std::vector<int32_t> copy = graph.colours;
                 const size_t vertices = copy.size();
                 return as_array(std::move(copy), {vertices});
             })
        .def("edges", [](const RuleGraph& graph) {
            std::vector<int32_t> copy = graph.edges;
            const size_t edges = copy.size() / 2;
            return as_array(std::move(copy), {edges, 2});
        });
}

}  // namespace omnilude
