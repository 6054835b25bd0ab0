// From states to the rows of numbers that a network reads. The layout is decided in Python; here
// it is a table that says where each bit of a state, or of its views, goes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/game.h"

namespace omnilude {

class Encoder {
  public:
    // sources[e] is the bit that element e of a row shows, or -1 where it is always 0. With
    // `views` the bits are those of Game::views, else those of the state itself.
    Encoder(const Game& game, const std::vector<int32_t>& sources, bool views);

    size_t size() const { return size_; }
    const Game& game() const { return game_; }
    // `out` is [count, size]: 1 where the bit is set, else 0.
    void encode(const uint8_t* states, size_t count, float* out) const;

  private:
    void encode_bits(const uint8_t* bits, float* out) const;

    const Game& game_;
    size_t size_, bytes_;
    bool views_;
    std::vector<uint32_t> first_, targets_;  // by bit: which elements show it
};

}  // namespace omnilude
