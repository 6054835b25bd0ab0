// Machine code, operation lists and plain evaluation say the same of random graphs.
#include <algorithm>
#include <cstring>

#include "circuit/code.h"
#include "evaluation.h"
#include "random_graph.h"
#include "testing.h"

using namespace omnilude;
using namespace omnilude::testing;

namespace {

constexpr uint32_t max_width = 4;

struct Case {
    Graph graph;
    Task task;
    std::vector<uint32_t> given;  // nodes whose values are inputs
    uint32_t before = 0, after = 0, frame = frame_constants;
};

void choose_slots(RandomStream& random, Case& c, const std::vector<Wire>& variables,
                  const std::vector<Wire>& pool, size_t outputs) {
    c.task.graph = &c.graph;
    auto give = [&](Wire w) {
        const uint32_t n = node_of(w);
        if (n == 0 || std::find(c.given.begin(), c.given.end(), n) != c.given.end()) return;
        c.given.push_back(n);
        // A slot may hold the complement of the node.
        const Wire wire = flip_at_random(random, n << 1);
        c.task.input(wire, random.below(2) ? Slot::before(c.before++) : Slot::frame(c.frame++));
    };
    for (Wire w : variables) give(w);
    // What another piece of code has computed is handed over: gates, and recursions as a whole.
    for (uint64_t n = random.below(4); n > 0; --n) {
        const Wire w = pool[random.below(pool.size())];
        const int32_t recursion = c.graph.recursion_number(node_of(w));
        if (recursion < 0) {
            give(w);
        } else {
            for (Wire atom : c.graph.recursions[static_cast<size_t>(recursion)].atoms) give(atom);
        }
    }
    for (size_t i = 0; i < outputs; ++i) {
        const Wire w =
            flip_at_random(random, random.below(20) ? pool[random.below(pool.size())] : wire_false);
        c.task.outputs.push_back(
            {w, random.below(2) ? Slot::after(c.after++) : Slot::frame(c.frame++)});
    }
}

struct Memory {
    std::vector<Lanes> frame, before, after;
    Lanes* bank(Slot::Bank b) {
        return b == Slot::Bank::Frame    ? frame.data()
               : b == Slot::Bank::Before ? before.data()
                                         : after.data();
    }
    uint64_t& part(Slot slot, uint32_t width, uint32_t k, uint32_t i) {
        return bank(slot.bank)[size_t{slot.index} * width + k].part[i];
    }
};

// Runs the code with random inputs, twice in the same memory, and compares every lane.
template <class Run>
void check_code(RandomStream& random, const Case& c, uint32_t frame_used, uint32_t width, Run run) {
    Memory memory;
    memory.frame.resize(size_t{frame_used} * width);
    memory.before.resize(size_t{c.before + 1} * width);
    memory.after.resize(size_t{c.after + 1} * width);
    for (uint32_t k = 0; k < width; ++k)
        for (auto& part : memory.frame[frame_ones * width + k].part) part = ~uint64_t{0};
    for (int round = 0; round < 2; ++round) {
        std::vector<Values> expected;
        for (uint32_t k = 0; k < width; ++k)
            for (uint32_t i = 0; i < 4; ++i) {
                Values values(c.graph.size(), 0);
                for (uint32_t n = 1; n < c.graph.size(); ++n)
                    if (c.graph.node(n).kind == Graph::Kind::Variable)
                        values[n] = random.below(UINT64_MAX) & random.below(UINT64_MAX);
                evaluate(c.graph, c.graph.recursions, values);
                for (uint32_t n : c.given)
                    memory.part(c.task.inputs[n], width, k, i) =
                        values[n] ^ (c.task.inverted[n] ? ~uint64_t{0} : 0);
                expected.push_back(std::move(values));
            }
        const auto before = memory.before;
        run(memory.frame.data(), memory.before.data(), memory.after.data());
        CHECK(std::memcmp(before.data(), memory.before.data(), before.size() * sizeof(Lanes)) == 0);
        for (uint32_t k = 0; k < width; ++k)
            for (uint32_t i = 0; i < 4; ++i) {
                CHECK(memory.part(Slot::frame(frame_zeros), width, k, i) == 0);
                CHECK(memory.part(Slot::frame(frame_ones), width, k, i) == ~uint64_t{0});
                for (const auto& output : c.task.outputs)
                    CHECK(memory.part(output.slot, width, k, i) ==
                          value_of(expected[k * 4 + i], output.wire));
            }
    }
}

void check_case(RandomStream& random, const Case& c) {
    for (bool machine_code : {true, false})
        for (uint32_t width : {1u, 2u, max_width}) {
            if (machine_code && width > 1) continue;
            uint32_t used = c.frame;
            const Code code(c.task, used, machine_code);
            CHECK(code.is_machine_code() == (machine_code && machine_code_possible()));
            check_code(random, c, used, width, [&](Lanes* frame, Lanes* before, Lanes* after) {
                code.run(frame, before, after, width);
            });
        }
    uint32_t used = c.frame;
    const OperationList list = make_operations(c.task, make_schedule(c.task), used);
    for (uint32_t width : {1u, 2u, max_width})
        check_code(random, c, used, width, [&](Lanes* frame, Lanes* before, Lanes* after) {
            Lanes* const banks[3] = {frame, before, after};
            run_operations_generic(list, banks, width);
        });
}

void check_random(RandomStream& random, size_t gates, size_t reach, size_t recursions) {
    Case c;
    std::vector<Wire> variables, pool;
    for (uint64_t n = 1 + random.below(gates / 4 + 2); n > 0; --n)
        variables.push_back(c.graph.variable());
    pool = variables;
    add_gates(random, c.graph, pool, gates, reach);
    for (size_t i = 0; i < recursions; ++i) {
        const size_t atoms = 1 + random.below(i % 2 ? 30 : 5);
        add_recursion(random, c.graph, pool, atoms, random.below(atoms * 4 + 1));
        add_gates(random, c.graph, pool, random.below(gates / 4 + 1), reach);
    }
    choose_slots(random, c, variables, pool, 1 + random.below(gates / 3 + 4));
    check_case(random, c);
}

}  // namespace

TEST(code_of_small_graphs) {
    RandomStream random(1, 0);
    for (int round = 0; round < 300; ++round) check_random(random, random.below(40), 8, 0);
}

TEST(code_of_graphs_with_more_live_values_than_registers) {
    RandomStream random(2, 0);
    for (int round = 0; round < 12; ++round) check_random(random, 1500, 400, 0);
}

TEST(code_of_graphs_with_recursions) {
    RandomStream random(3, 0);
    for (int round = 0; round < 300; ++round)
        check_random(random, random.below(40), 8, 1 + random.below(3));
}

TEST(code_of_large_graphs_with_recursions) {
    RandomStream random(4, 0);
    for (int round = 0; round < 12; ++round) check_random(random, 600, 200, 2 + random.below(4));
}

TEST(code_of_nothing_and_of_constants) {
    Case c;
    c.task.graph = &c.graph;
    RandomStream random(5, 0);
    check_case(random, c);
    c.task.outputs = {{wire_true, Slot::after(0)}, {wire_false, Slot::frame(2)}};
    c.after = 1;
    c.frame = 3;
    check_case(random, c);
}
