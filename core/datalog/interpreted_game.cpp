#include "datalog/interpreted_game.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace omnilude {

InterpretedGame::InterpretedGame(std::unique_ptr<Reasoner> reasoner)
    : reasoner_(std::move(reasoner)) {
    capacity_ = std::max<size_t>(1024, reasoner_->initial().size() * 8) + roles() + 1;
    moves_.resize(roles());
    slots_.resize(roles());
    names_.resize(roles());
}

std::string InterpretedGame::role_name(uint32_t role) const {
    return reasoner_->bank().text(reasoner_->roles()[role]);
}

uint32_t InterpretedGame::slots(uint32_t role) const {
    const std::lock_guard lock(mutex_);
    return static_cast<uint32_t>(moves_[role].size());
}

std::string InterpretedGame::move_name(uint32_t role, uint32_t slot) const {
    const std::lock_guard lock(mutex_);
    return reasoner_->bank().text(moves_[role].at(slot));
}

int32_t InterpretedGame::find_move(uint32_t role, const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto at = names_[role].find(name);
    return at == names_[role].end() ? -1 : at->second;
}

int32_t InterpretedGame::slot_of(uint32_t role, Term move) const {
    const auto [at, fresh] = slots_[role].emplace(move, static_cast<int32_t>(moves_[role].size()));
    if (fresh) {
        moves_[role].push_back(move);
        names_[role].emplace(reasoner_->bank().text(move), at->second);
    }
    return at->second;
}

Reasoner::Position InterpretedGame::read(const uint8_t* state) const {
    uint32_t count;
    std::memcpy(&count, state, sizeof count);
    if (count > capacity_ - 1 - roles()) throw std::invalid_argument("not a state of this game");
    Reasoner::Position position(count);
    std::memcpy(position.data(), state + (1 + roles()) * sizeof(Term), count * sizeof(Term));
    for (Term fluent : position)
        if (fluent >= reasoner_->bank().size())
            throw std::invalid_argument("not a state of this game");
    return position;
}

void InterpretedGame::write(uint8_t* state, const Reasoner::Transition& transition) const {
    std::vector<Term> block{static_cast<Term>(transition.next.size())};
    for (uint32_t r = 0; r < roles(); ++r)
        block.push_back(
            transition.percepts.empty() ? 0 : static_cast<Term>(transition.percepts[r].size()));
    block.insert(block.end(), transition.next.begin(), transition.next.end());
    for (const auto& percepts : transition.percepts)
        block.insert(block.end(), percepts.begin(), percepts.end());
    if (block.size() > capacity_)
        throw BudgetExceeded("a state of more than " + std::to_string(capacity_) + " facts");
    block.resize(capacity_, 0);
    std::memcpy(state, block.data(), state_bytes());
}

void InterpretedGame::initial(uint8_t* state) const { write(state, {reasoner_->initial(), {}}); }

void InterpretedGame::advance(uint8_t* states, size_t count, const int32_t* moves) const {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < count; ++i) {
        std::vector<Term> joint;
        for (uint32_t r = 0; r < roles(); ++r) {
            const int32_t m = moves[i * roles() + r];
            if (m < 0 || static_cast<size_t>(m) >= moves_[r].size())
                throw IllegalMoveError("move slot " + std::to_string(m) + " is not known");
            joint.push_back(moves_[r][static_cast<size_t>(m)]);
        }
        uint8_t* const state = states + i * state_bytes();
        write(state, reasoner_->play(read(state), joint));
    }
}

void InterpretedGame::describe(const uint8_t* states, size_t count, Description& out) const {
    const std::lock_guard lock(mutex_);
    out.terminal.resize(count);
    out.rewards.assign(count * roles(), 0.0f);
    out.offsets.assign(1, 0);
    out.moves.clear();
    out.odd_goals = 0;
    for (size_t i = 0; i < count; ++i) {
        const Reasoner::Position position = read(states + i * state_bytes());
        Reasoner::View view = reasoner_->view(position, true, false);
        out.terminal[i] = view.terminal;
        if (view.terminal) {
            const auto goals = reasoner_->view(position, false, true).goals;
            for (uint32_t r = 0; r < roles(); ++r) {
                if (goals[r].size() != 1) ++out.odd_goals;
                const int value = goals[r].empty() ? 0 : goals[r].back();
                out.rewards[i * roles() + r] = static_cast<float>(value) / 100.0f;
            }
        }
        for (uint32_t r = 0; r < roles(); ++r) {
            const size_t first = out.moves.size();
            for (Term move : view.legal[r]) out.moves.push_back(slot_of(r, move));
            std::sort(out.moves.begin() + static_cast<std::ptrdiff_t>(first), out.moves.end());
            out.offsets.push_back(static_cast<uint32_t>(out.moves.size()));
        }
    }
}

std::vector<std::string> InterpretedGame::facts(const uint8_t* state) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (Term fluent : read(state)) out.push_back(reasoner_->bank().text(fluent));
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::string> InterpretedGame::percepts(const uint8_t* state, uint32_t role) const {
    const std::lock_guard lock(mutex_);
    std::vector<Term> block(capacity_);
    std::memcpy(block.data(), state, state_bytes());
    size_t first = 1 + roles() + block[0];
    for (uint32_t r = 0; r < role; ++r) first += block[1 + r];
    if (first + block[1 + role] > capacity_)
        throw std::invalid_argument("not a state of this game");
    std::vector<std::string> out;
    for (size_t i = 0; i < block[1 + role]; ++i)
        out.push_back(reasoner_->bank().text(block[first + i]));
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace omnilude
