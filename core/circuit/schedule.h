// The order in which a part of a circuit is evaluated, and where its inputs and outputs lie.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/graph.h"

namespace omnilude {

// Where a word of lanes lies: in the scratch frame, or in the position before or after the move.
struct Slot {
    enum class Bank : uint8_t { Frame, Before, After };
    Bank bank = Bank::Frame;
    uint32_t index = UINT32_MAX;
    bool valid() const { return index != UINT32_MAX; }
    static Slot frame(uint32_t i) { return {Bank::Frame, i}; }
    static Slot before(uint32_t i) { return {Bank::Before, i}; }
    static Slot after(uint32_t i) { return {Bank::After, i}; }
};

// The frame begins with these two constants.
constexpr uint32_t frame_zeros = 0, frame_ones = 1, frame_constants = 2;

// What is to be computed.
struct Task {
    const Graph* graph;
    std::vector<Slot> inputs;         // by node; invalid where the node is to be computed
    std::vector<bool> inverted = {};  // by node: the input's slot holds the complement
    struct Output {
        Wire wire;
        Slot slot;
    };
    std::vector<Output> outputs = {};
    // The wire's value is in that slot.
    void input(Wire wire, Slot slot) {
        if (inputs.size() < graph->size()) inputs.resize(graph->size());
        if (inverted.size() < graph->size()) inverted.resize(graph->size(), false);
        inputs[node_of(wire)] = slot;
        inverted[node_of(wire)] = complemented(wire);
    }
};

enum class Op : uint8_t { And, AndNot, Or, Xor };  // AndNot is a'.b, as processors have it

struct Schedule {
    struct Step {
        enum class Kind : uint8_t { Gate, Output, LoopBegin, Feedback, LoopEnd };
        Kind kind;
        Op op;
        bool flip;      // Output, Feedback: store the complement of the operand
        uint32_t node;  // Gate, Feedback: what is defined; Output: number; Loop*: recursion
        uint32_t a, b;  // operands: nodes
    };
    std::vector<Step> steps;
    std::vector<bool> inverted;  // by node: its slot or register holds the complement
    size_t gates = 0;
};

Schedule make_schedule(const Task& task);

}  // namespace omnilude
