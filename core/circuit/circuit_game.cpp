#include "circuit/circuit_game.h"

#include <algorithm>
#include <cstring>

#include "base/large_stack.h"
#include "circuit/rows.h"

namespace omnilude {

// A workspace for the time of a call: threads never share one, and none is made twice.
class CircuitGame::Lease {
  public:
    explicit Lease(const CircuitGame& game) : game_(game) {
        {
            const std::lock_guard lock(game.mutex_);
            if (!game.idle_.empty()) {
                work_ = std::move(game.idle_.back());
                game.idle_.pop_back();
            }
        }
        if (work_) return;
        work_ = std::make_unique<Workspace>();
        const size_t width = game.width_;
        work_->frame.resize(game.frame_slots_ * width);
        work_->before.resize((game.state_words_ * 64 + 1) * width);
        work_->after.resize(work_->before.size());
        for (size_t k = 0; k < width; ++k)
            for (auto& part : work_->frame[frame_ones * width + k].part) part = ~0ull;
    }
    ~Lease() {
        const std::lock_guard lock(game_.mutex_);
        game_.idle_.push_back(std::move(work_));
    }
    Workspace& operator*() const { return *work_; }

  private:
    const CircuitGame& game_;
    std::unique_ptr<Workspace> work_;
};

CircuitGame::CircuitGame(Program program, Budget& budget, const CircuitSettings& settings) {
    Circuit& circuit = circuit_;
    std::vector<bool>& initial = initial_fluents_;
    {
        const Grounding grounding = ground(program, budget);
        const CircuitNet net = build_net(program, grounding, budget, settings.views);
        size_.odd_goal = net.odd_goal;
        size_.instances = grounding.instance_count;
        circuit = share(net, settings.sharing_effort, budget);
        name_things(program, grounding, circuit);
        if (settings.views) {
            for (const std::string& fluent : fluents_)
                view_names_.push_back("(true " + fluent + ")");
            for (const auto& view : circuit.views)
                view_names_.push_back(program.bank.text(view.atom));
        }
        std::vector<bool> held(program.bank.size(), false);
        for (Term f : grounding.initial) held[f] = true;
        for (Term f : grounding.fluents) initial.push_back(held[f]);
    }
    budget.check_time();
    size_.gates = 0;
    for (uint32_t n = 0; n < circuit.graph.size(); ++n) size_.gates += circuit.graph.is_gate(n);
    size_.fluents = fluents_.size();
    size_.moves = move_count_;
    for (const Recursion& recursion : circuit.graph.recursions)
        size_.recursions += recursion.atoms.size();

    state_bits_ = static_cast<uint32_t>(fluents_.size() + percepts_.size());
    state_words_ = std::max<size_t>(1, (state_bits_ + 63) / 64);
    initial_.assign(state_words_, 0);
    for (size_t f = 0; f < initial.size(); ++f)
        if (initial[f]) initial_[f / 64] |= 1ull << (f % 64);

    machine_code_ = settings.machine_code && machine_code_possible();
    width_ = settings.width        ? settings.width
             : size_.gates < 10000 ? 4
             : size_.gates < 60000 ? 2
                                   : 1;
    if (machine_code_) width_ = 1;
    compile(circuit, settings);
    size_.width = width_;
    size_.machine_code = describe_->is_machine_code();
}

void CircuitGame::name_things(const Program& program, const Grounding& grounding,
                              const Circuit& circuit) {
    const TermBank& bank = program.bank;
    for (Term role : program.roles) roles_.push_back(bank.text(role));
    for (Term fluent : grounding.fluents) fluents_.push_back(bank.text(fluent));
    for (const auto& moves : grounding.moves) {
        moves_.emplace_back();
        move_numbers_.emplace_back();
        for (Term move : moves) {
            move_numbers_.back()[bank.text(move)] = static_cast<int32_t>(moves_.back().size());
            moves_.back().push_back(bank.text(move));
        }
        move_count_ += static_cast<uint32_t>(moves.size());
    }
    for (uint32_t r = 0; r < circuit.sees.size(); ++r)
        for (const auto& percept : circuit.sees[r])
            percepts_.push_back({r, bank.text(percept.term)});
}

void CircuitGame::compile(Circuit& circuit, const CircuitSettings& settings) {
    uint32_t frame = frame_constants;
    for (const auto& moves : moves_) {
        does_first_.push_back(frame);
        role_borders_.push_back(frame - frame_constants);
        frame += static_cast<uint32_t>(moves.size());
    }
    role_borders_.push_back(move_count_);
    legal_first_ = frame;
    frame += move_count_;
    terminal_slot_ = frame++;
    goals_first_ = frame;
    goals_ = circuit.goals;

    Task describe{&circuit.graph, {}};
    for (uint32_t f = 0; f < circuit.fluents.size(); ++f)
        describe.input(circuit.fluents[f], Slot::before(f));
    Task goal = describe, advance = describe, view = describe;
    uint32_t slot = legal_first_;
    for (const auto& role : circuit.legal)
        for (Wire w : role) describe.outputs.push_back({w, Slot::frame(slot++)});
    describe.outputs.push_back({circuit.terminal, Slot::frame(terminal_slot_)});
    for (const auto& role : circuit.goals)
        for (const auto& g : role) goal.outputs.push_back({g.wire, Slot::frame(frame++)});
    for (size_t r = 0; r < circuit.does.size(); ++r)
        for (uint32_t m = 0; m < circuit.does[r].size(); ++m)
            advance.input(circuit.does[r][m], Slot::frame(does_first_[r] + m));
    uint32_t bit = 0;
    for (Wire w : circuit.next) advance.outputs.push_back({w, Slot::after(bit++)});
    for (const auto& role : circuit.sees)
        for (const auto& percept : role)
            advance.outputs.push_back({percept.wire, Slot::after(bit++)});

    views_first_ = frame;
    if (settings.views) {
        for (Wire w : circuit.fluents) view.outputs.push_back({w, Slot::frame(frame++)});
        for (const auto& v : circuit.views) view.outputs.push_back({v.wire, Slot::frame(frame++)});
    }

    uint32_t used[4] = {frame, frame, frame, frame};
    describe_ = std::make_unique<Code>(describe, used[0], settings.machine_code);
    goal_ = std::make_unique<Code>(goal, used[1], settings.machine_code);
    advance_ = std::make_unique<Code>(advance, used[2], settings.machine_code);
    if (settings.views) view_ = std::make_unique<Code>(view, used[3], settings.machine_code);
    frame_slots_ = *std::max_element(used, used + 4);
    size_.describe_gates = describe_->gates();
    size_.goal_gates = goal_->gates();
    size_.advance_gates = advance_->gates();
}

int32_t CircuitGame::find_move(uint32_t role, const std::string& name) const {
    const auto at = move_numbers_[role].find(name);
    return at == move_numbers_[role].end() ? -1 : at->second;
}

void CircuitGame::initial(uint8_t* state) const {
    std::memcpy(state, initial_.data(), state_bytes());
}

// States, a row of bits each, become words of lanes.
void CircuitGame::load_states(Workspace& work, const uint8_t* states, size_t count) const {
    const auto transpose = row_functions().transpose;
    uint64_t rows[64];
    for (size_t first = 0; first < count; first += 64) {
        const size_t some = std::min<size_t>(64, count - first);
        const size_t k = first / lanes_per_word, part = first / 64 % 4;
        for (size_t w = 0; w < state_words_; ++w) {
            for (size_t i = 0; i < some; ++i)
                std::memcpy(&rows[i], states + (first + i) * state_bytes() + w * 8, 8);
            std::fill(rows + some, rows + 64, 0);
            transpose(rows);
            for (size_t b = 0; b < 64; ++b)
                work.before[(w * 64 + b) * width_ + k].part[part] = rows[b];
        }
    }
}

void CircuitGame::store_states(Workspace& work, uint8_t* states, size_t count) const {
    const auto transpose = row_functions().transpose;
    uint64_t rows[64];
    for (size_t first = 0; first < count; first += 64) {
        const size_t some = std::min<size_t>(64, count - first);
        const size_t k = first / lanes_per_word, part = first / 64 % 4;
        for (size_t w = 0; w < state_words_; ++w) {
            const size_t bits =
                std::min<size_t>(64, state_bits_ - std::min<size_t>(state_bits_, w * 64));
            for (size_t b = 0; b < bits; ++b)
                rows[b] = work.after[(w * 64 + b) * width_ + k].part[part];
            std::fill(rows + bits, rows + 64, 0);
            transpose(rows);
            for (size_t i = 0; i < some; ++i)
                std::memcpy(states + (first + i) * state_bytes() + w * 8, &rows[i], 8);
        }
    }
}

// Words of lanes, `columns` of them, become a row of bits for each state.
void CircuitGame::make_rows(const Lanes* words, uint32_t columns, size_t count,
                            std::vector<uint64_t>& rows) const {
    const auto transpose = row_functions().transpose;
    const size_t row_words = (columns + 63) / 64;
    rows.resize(row_words * ((count + 63) / 64 * 64));
    uint64_t square[64];
    for (size_t first = 0; first < count; first += 64) {
        const size_t k = first / lanes_per_word, part = first / 64 % 4;
        for (size_t w = 0; w < row_words; ++w) {
            const size_t bits = std::min<size_t>(64, columns - w * 64);
            for (size_t b = 0; b < bits; ++b)
                square[b] = words[(w * 64 + b) * width_ + k].part[part];
            std::fill(square + bits, square + 64, 0);
            transpose(square);
            for (size_t i = 0; i < 64; ++i) rows[(first + i) * row_words + w] = square[i];
        }
    }
}

void CircuitGame::advance(uint8_t* states, size_t count, const int32_t* moves) const {
    const size_t roles = roles_.size();
    for (size_t i = 0; i < count; ++i)
        for (size_t r = 0; r < roles; ++r) {
            const int32_t m = moves[i * roles + r];
            if (m < 0 || static_cast<size_t>(m) >= moves_[r].size())
                throw IllegalMoveError("move slot " + std::to_string(m) + " of role " + roles_[r] +
                                       " is not between 0 and " +
                                       std::to_string(moves_[r].size() - 1));
        }
    const Lease lease(*this);
    Workspace& work = *lease;
    for (size_t first = 0; first < count; first += block()) {
        const size_t some = std::min(block(), count - first);
        uint8_t* const part = states + first * state_bytes();
        load_states(work, part, some);
        std::memset(static_cast<void*>(work.frame.data() + size_t{frame_constants} * width_), 0,
                    size_t{move_count_} * width_ * sizeof(Lanes));
        for (size_t i = 0; i < some; ++i)
            for (size_t r = 0; r < roles; ++r) {
                const size_t slot =
                    does_first_[r] + static_cast<size_t>(moves[(first + i) * roles + r]);
                work.frame[slot * width_ + i / lanes_per_word].part[i / 64 % 4] |= 1ull << (i % 64);
            }
        advance_->run(work.frame.data(), work.before.data(), work.after.data(), width_);
        store_states(work, part, some);
    }
}

void CircuitGame::describe(const uint8_t* states, size_t count, Description& out) const {
    const size_t roles = roles_.size();
    out.terminal.resize(count);
    out.rewards.assign(count * roles, 0.0f);
    out.offsets.resize(count * roles + 1);
    out.moves.clear();
    out.odd_goals = 0;
    out.offsets[0] = 0;
    const Lease lease(*this);
    Workspace& work = *lease;
    const size_t row_words = (move_count_ + 63) / 64;
    const RowFunctions& functions = row_functions();
    for (size_t first = 0; first < count; first += block()) {
        const size_t some = std::min(block(), count - first);
        load_states(work, states + first * state_bytes(), some);
        describe_->run(work.frame.data(), work.before.data(), work.after.data(), width_);
        make_rows(work.frame.data() + size_t{legal_first_} * width_, move_count_, some, work.rows);
        const auto so_far = static_cast<uint32_t>(out.moves.size());
        out.moves.resize(so_far + functions.count(work.rows.data(), row_words * some));
        functions.list(work.rows.data(), row_words, some, role_borders_, out.moves.data(), so_far,
                       &out.offsets[first * roles + 1]);
        bool any_terminal = false;
        for (size_t i = 0; i < some; ++i) {
            const Lanes& word = work.frame[terminal_slot_ * width_ + i / lanes_per_word];
            const bool terminal = word.part[i / 64 % 4] >> (i % 64) & 1;
            out.terminal[first + i] = terminal;
            any_terminal |= terminal;
        }
        if (!any_terminal) continue;
        goal_->run(work.frame.data(), work.before.data(), work.after.data(), width_);
        for (size_t i = 0; i < some; ++i) {
            if (!out.terminal[first + i]) continue;
            size_t slot = goals_first_;
            for (size_t r = 0; r < roles; ++r) {
                int found = 0, value = 0;
                for (const auto& goal : goals_[r]) {
                    const Lanes& word = work.frame[slot++ * width_ + i / lanes_per_word];
                    if (word.part[i / 64 % 4] >> (i % 64) & 1) ++found, value = goal.value;
                }
                out.rewards[(first + i) * roles + r] = static_cast<float>(value) / 100.0f;
                if (found != 1) ++out.odd_goals;
            }
        }
    }
}

void CircuitGame::views(const uint8_t* states, size_t count, uint8_t* bits) const {
    if (!view_) return Game::views(states, count, bits);
    const Lease lease(*this);
    Workspace& work = *lease;
    const auto columns = static_cast<uint32_t>(view_names_.size());
    for (size_t first = 0; first < count; first += block()) {
        const size_t some = std::min(block(), count - first);
        load_states(work, states + first * state_bytes(), some);
        view_->run(work.frame.data(), work.before.data(), work.after.data(), width_);
        make_rows(work.frame.data() + size_t{views_first_} * width_, columns, some, work.rows);
        std::memcpy(bits + first * view_bytes(), work.rows.data(), some * view_bytes());
    }
}

const PlayoutPlan* CircuitGame::playout_plan() const {
    std::call_once(playout_once_, [&] {
        run_with_large_stack([&] {
            playout_ = make_playout_plan(circuit_, initial_fluents_, {width_, machine_code_});
        });
        circuit_ = Circuit();
    });
    return playout_.get();
}

uint64_t CircuitGame::playout_gates() const {
    const PlayoutPlan* plan = playout_plan();
    return plan ? plan->before_choice->gates() + plan->after_choice->gates() : 0;
}

PlayoutResult CircuitGame::playouts(const PlayoutSettings& settings) const {
    const PlayoutPlan* plan = playout_plan();
    if (!plan) return Game::playouts(settings);
    PlayoutResult result = plan->run(settings);
    // Without exactly one goal value for each role, wires cannot simply be counted.
    std::vector<uint64_t> counted(roles_.size(), 0);
    for (const auto& outcome : result.outcomes) counted[outcome.role] += outcome.count;
    for (uint64_t count : counted)
        if (count != result.finished) return Game::playouts(settings);
    return result;
}

void CircuitGame::rollouts(const uint8_t* states, size_t count, uint32_t each, uint64_t seed,
                           uint32_t max_length, float* rewards) const {
    const PlayoutPlan* plan = playout_plan();
    if (!plan) return Game::rollouts(states, count, each, seed, max_length, rewards);
    const size_t bytes = state_bytes(), roles = roles_.size(), total = count * each;
    std::fill_n(rewards, count * roles, 0.0f);
    const Lease lease(*this);
    Workspace& work = *lease;
    for (size_t first = 0; first < total; first += block()) {
        const size_t some = std::min(block(), total - first);
        work.states.resize(some * bytes);
        for (size_t i = 0; i < some; ++i)
            std::memcpy(&work.states[i * bytes], states + (first + i) / each * bytes, bytes);
        load_states(work, work.states.data(), some);
        work.goals.assign(some * roles, 0.0f);
        if (!plan->roll_out(seed, first / block(), work.before.data(), some, max_length,
                            static_cast<uint32_t>(roles), work.goals.data()))
            return Game::rollouts(states, count, each, seed, max_length, rewards);
        for (size_t i = 0; i < some; ++i)
            for (size_t r = 0; r < roles; ++r)
                rewards[(first + i) / each * roles + r] += work.goals[i * roles + r];
    }
    const float scale = 0.01f / static_cast<float>(each);
    for (size_t i = 0; i < count * roles; ++i) rewards[i] *= scale;
}

std::vector<std::string> CircuitGame::facts(const uint8_t* state) const {
    std::vector<std::string> out;
    for (size_t f = 0; f < fluents_.size(); ++f)
        if (state[f / 8] >> (f % 8) & 1) out.push_back(fluents_[f]);
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::string> CircuitGame::percepts(const uint8_t* state, uint32_t role) const {
    std::vector<std::string> out;
    for (size_t p = 0; p < percepts_.size(); ++p) {
        const size_t bit = fluents_.size() + p;
        if (percepts_[p].role == role && state[bit / 8] >> (bit % 8) & 1)
            out.push_back(percepts_[p].text);
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace omnilude
