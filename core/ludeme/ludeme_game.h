// Games described by ludemes, by the interface of all games.
//
// Roles are the players, and chance where dice are rolled. Who does not move has one move, slot 0.
// Other slots name a move by where it starts, where it ends, and its place among the legal moves
// that share both; those of chance name the faces of all dice.
#pragma once

#include <memory>
#include <mutex>

#include "base/game.h"
#include "ludeme/program.h"

namespace omnilude::ludeme {

class LudemeGame : public Game {
  public:
    explicit LudemeGame(std::unique_ptr<Program> program);
    ~LudemeGame() override;

    size_t state_bytes() const override { return bytes_; }
    uint32_t roles() const override { return players_ + (outcomes_ > 0); }
    std::string role_name(uint32_t role) const override;
    uint32_t slots(uint32_t role) const override;
    std::string move_name(uint32_t role, uint32_t slot) const override;
    int32_t find_move(uint32_t role, const std::string& name) const override;

    void initial(uint8_t* state) const override;
    void advance(uint8_t* states, size_t count, const int32_t* moves) const override;
    void describe(const uint8_t* states, size_t count, Description& out) const override;
    PlayoutResult playouts(const PlayoutSettings& settings) const override;
    void rollouts(const uint8_t* states, size_t count, uint32_t each, uint64_t seed,
                  uint32_t max_length, float* rewards) const override;
    std::vector<std::string> facts(const uint8_t* state) const override;
    // All that a role sees, in games in which something is hidden.
    std::vector<std::string> percepts(const uint8_t* state, uint32_t role) const override;

    const Program& program() const { return *program_; }
    // One level of one site.
    struct Piece {
        int kind, site, level, who, what, count, state, rotation, value;
    };
    // All pieces; as a player sees them where a number of one, from 1, is given: 0 stands for a
    // piece or an owner that is hidden. (A piece that is seen tells by its name whose it is.)
    std::vector<Piece> pieces(const uint8_t* state, uint32_t viewer = 0) const;

  private:
    class Workspace;
    class Borrowed;
    static constexpr uint32_t alike = 64;  // moves that may share start and end
    uint32_t slot_of(const Workspace& w, uint32_t move, uint32_t before) const;
    // Sets the slots of the legal moves, in the order in which they were made.
    void list_slots(Workspace& w, std::vector<int32_t>& slots) const;
    void roll(Workspace& w, uint32_t outcome) const;
    std::string site_name(int site) const;
    std::vector<std::string> tell(const uint8_t* state, uint32_t viewer) const;
    void set_rewards(const uint8_t* block, float* rewards) const;
    void play_out(Workspace& w, RandomStream& random, uint32_t max_length, uint64_t& length,
                  PlayoutResult* details) const;

    std::unique_ptr<Program> program_;
    uint32_t players_, sites_, outcomes_ = 0;
    size_t bytes_;
    std::vector<uint32_t> faces_;  // number of faces, by die
    std::vector<uint8_t> first_;   // the initial state
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace omnilude::ludeme
