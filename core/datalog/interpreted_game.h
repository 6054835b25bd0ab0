// A game played by the reasoner: for rules whose circuit would be too large. Same interface,
// slower.
#pragma once

#include <mutex>
#include <unordered_map>

#include "base/game.h"
#include "datalog/reasoner.h"

namespace omnilude {

class InterpretedGame : public Game {
  public:
    explicit InterpretedGame(std::unique_ptr<Reasoner> reasoner);

    size_t state_bytes() const override { return capacity_ * sizeof(Term); }
    uint32_t roles() const override { return static_cast<uint32_t>(reasoner_->roles().size()); }
    std::string role_name(uint32_t role) const override;
    // Slots are given to moves as they are first seen.
    uint32_t slots(uint32_t role) const override;
    std::string move_name(uint32_t role, uint32_t slot) const override;
    int32_t find_move(uint32_t role, const std::string& name) const override;

    void initial(uint8_t* state) const override;
    void advance(uint8_t* states, size_t count, const int32_t* moves) const override;
    void describe(const uint8_t* states, size_t count, Description& out) const override;
    std::vector<std::string> facts(const uint8_t* state) const override;
    std::vector<std::string> percepts(const uint8_t* state, uint32_t role) const override;

  private:
    // A state: number of fluents, number of percepts of each role, then all of them in that order.
    Reasoner::Position read(const uint8_t* state) const;
    void write(uint8_t* state, const Reasoner::Transition& transition) const;
    int32_t slot_of(uint32_t role, Term move) const;

    std::unique_ptr<Reasoner> reasoner_;
    size_t capacity_;
    mutable std::mutex mutex_;
    mutable std::vector<std::vector<Term>> moves_;
    mutable std::vector<std::unordered_map<Term, int32_t>> slots_;
    mutable std::vector<std::unordered_map<std::string, int32_t>> names_;
};

}  // namespace omnilude
