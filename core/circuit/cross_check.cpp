#include "circuit/cross_check.h"

#include <algorithm>

#include "base/random.h"

namespace omnilude {

namespace {

std::vector<std::string> texts(const TermBank& bank, const std::vector<Term>& terms) {
    std::vector<std::string> out;
    for (Term t : terms) out.push_back(bank.text(t));
    std::sort(out.begin(), out.end());
    return out;
}

std::string join(const std::vector<std::string>& list) {
    std::string out;
    for (const auto& item : list) out += (out.empty() ? "" : " ") + item;
    return "{" + out + "}";
}

}  // namespace

CrossCheck cross_check(const CircuitGame& game, Reasoner& reasoner, uint64_t playouts,
                       double seconds, uint64_t seed) {
    CrossCheck out;
    const Budget clock(seconds, UINT64_MAX, UINT64_MAX);
    const TermBank& bank = reasoner.bank();
    std::vector<uint8_t> state(game.state_bytes());
    Description description;
    auto differ = [&](const std::string& what, const std::string& circuit,
                      const std::string& rules) {
        out.difference = what + " in playout " + std::to_string(out.playouts) + " after " +
                         std::to_string(out.positions) + " positions: circuit " + circuit +
                         ", rules " + rules;
        return out;
    };
    for (; out.playouts < playouts; ++out.playouts) {
        RandomStream random(seed, out.playouts);
        game.initial(state.data());
        Reasoner::Position position = reasoner.initial();
        for (int step = 0; step < 500; ++step) {
            if (out.positions > 0 && clock.elapsed() > seconds) return out;
            const Reasoner::View view = reasoner.view(position, true, true);
            ++out.positions;
            game.describe(state.data(), 1, description);
            const auto facts = game.facts(state.data()), expected = texts(bank, position);
            if (facts != expected) return differ("facts", join(facts), join(expected));
            if (view.terminal != (description.terminal[0] != 0))
                return differ("terminal", std::to_string(description.terminal[0]),
                              std::to_string(view.terminal));
            std::vector<Term> joint;
            std::vector<int32_t> slots;
            bool stuck = false;
            for (uint32_t r = 0; r < game.roles(); ++r) {
                std::vector<std::string> legal;
                for (uint32_t i = description.offsets[r]; i < description.offsets[r + 1]; ++i)
                    legal.push_back(game.move_name(r, static_cast<uint32_t>(description.moves[i])));
                std::sort(legal.begin(), legal.end());
                const auto by_rules = texts(bank, view.legal[r]);
                if (legal != by_rules) return differ("legal moves", join(legal), join(by_rules));
                if (view.terminal && view.goals[r].size() == 1) {
                    const float reward = static_cast<float>(view.goals[r][0]) / 100.0f;
                    if (reward != description.rewards[r])
                        return differ("reward", std::to_string(description.rewards[r]),
                                      std::to_string(reward));
                }
                if (legal.empty()) {
                    stuck = true;
                    continue;
                }
                joint.push_back(view.legal[r][random.below(view.legal[r].size())]);
                slots.push_back(game.find_move(r, bank.text(joint.back())));
            }
            if (view.terminal || stuck) break;
            game.advance(state.data(), 1, slots.data());
            const Reasoner::Transition transition = reasoner.play(position, joint);
            for (uint32_t r = 0; r < game.roles(); ++r) {
                const auto seen = game.percepts(state.data(), r);
                const auto by_rules = texts(bank, transition.percepts[r]);
                if (seen != by_rules) return differ("percepts", join(seen), join(by_rules));
            }
            position = transition.next;
        }
    }
    return out;
}

}  // namespace omnilude
