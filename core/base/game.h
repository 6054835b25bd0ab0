// A compiled game: immutable, shared between threads, batch-first.
//
// A state is a fixed-size block of bytes: copying is memcpy, equality is memcmp. Moves are named by
// their slot: a number from 0 to slots(role) - 1 that means the same in every state.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace omnilude {

// What is to be known of a batch of states. Reused between calls, so that nothing is allocated.
struct Description {
    std::vector<uint8_t> terminal;  // [states]
    std::vector<float> rewards;     // [states, roles]; 0 where the state is not terminal
    std::vector<uint32_t> offsets;  // [states * roles + 1] into moves
    std::vector<int32_t> moves;     // slots, ascending within a state and role
    // Terminal states without exactly one goal value for some role: the greatest counts, or 0.
    uint64_t odd_goals = 0;
};

struct PlayoutSettings {
    uint64_t playouts = 1;
    uint64_t seed = 0;
    uint32_t threads = 1;
    uint32_t max_length = 100000;  // playouts that reach it are cut off
    bool detailed = false;         // lengths and branching factor as well, at some cost
};

struct PlayoutResult {
    struct Outcome {
        uint32_t role;
        int value;  // goal, 0 to 100
        uint64_t count;
    };
    std::vector<Outcome> outcomes;
    uint64_t finished = 0;  // ended in a terminal state
    uint64_t stuck = 0;     // ended because a role had no legal move
    uint64_t cut = 0;       // reached max_length
    uint64_t steps = 0;     // joint moves made
    // Detailed only: playouts of each length; sum over steps and roles of the number of legal
    // moves.
    std::vector<uint64_t> lengths;
    std::vector<uint64_t> legal_moves;  // by role
    std::vector<uint64_t> choices;      // by role: steps at which it had more than one move
    void add(const PlayoutResult& other);
};

struct IllegalMoveError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Game {
  public:
    virtual ~Game() = default;

    virtual size_t state_bytes() const = 0;
    virtual uint32_t roles() const = 0;
    virtual std::string role_name(uint32_t role) const = 0;
    virtual uint32_t slots(uint32_t role) const = 0;
    virtual std::string move_name(uint32_t role, uint32_t slot) const = 0;
    // The slot of a move by its text, or -1.
    virtual int32_t find_move(uint32_t role, const std::string& name) const = 0;

    virtual void initial(uint8_t* state) const = 0;
    // In place. `moves` is [count, roles]: the slot that each role plays; not tested for legality.
    virtual void advance(uint8_t* states, size_t count, const int32_t* moves) const = 0;
    virtual void describe(const uint8_t* states, size_t count, Description& out) const = 0;
    // Random play from the initial state. This one works for any game, through describe and
    // advance; engines with a faster way override it.
    virtual PlayoutResult playouts(const PlayoutSettings& settings) const;

    // Random play from each of the states, `each` times: mean rewards, [count, roles]. A playout
    // that gets longer than max_length is worth a half to everyone, a stuck one nothing.
    virtual void rollouts(const uint8_t* states, size_t count, uint32_t each, uint64_t seed,
                          uint32_t max_length, float* rewards) const;

    // Every proposition of the rules as a bit, for networks that take all of them (P3's GAZ). Only
    // games made for it have any.
    virtual size_t view_bytes() const { return 0; }
    virtual void views(const uint8_t* states, size_t count, uint8_t* bits) const;

    virtual std::vector<std::string> facts(const uint8_t* state) const = 0;
    // What each role saw when this state was reached (GDL-II).
    virtual std::vector<std::string> percepts(const uint8_t* state, uint32_t role) const = 0;
};

}  // namespace omnilude
