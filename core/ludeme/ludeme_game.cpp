#include "ludeme/ludeme_game.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>

#include "base/budget.h"

namespace omnilude::ludeme {

namespace {
constexpr uint64_t most_outcomes = 100000;  // of one roll
constexpr const char* wait_name = "-";
}  // namespace

// What one thread needs to play: a state of its own and room for moves.
class LudemeGame::Workspace {
  public:
    explicit Workspace(const Program& program)
        : program_(program), blocks_(program.layout.bytes / sizeof(Block) + 1) {
        arena.set_block(program.layout.bytes);
    }
    uint8_t* block() { return blocks_.front().bytes; }
    const uint8_t* block() const { return blocks_.front().bytes; }
    Scalars& scalars() { return *reinterpret_cast<Scalars*>(block()); }
    const Scalars& scalars() const { return *reinterpret_cast<const Scalars*>(block()); }
    State state() { return State(block(), program_.layout, program_.board); }
    void load(const uint8_t* state) { std::memcpy(block(), state, program_.layout.bytes); }

    // All legal moves; false if dice must be rolled first.
    bool list(RandomStream& random, bool stop_at_roll) {
        arena.release({0, 0, 0, 0});
        moves = MoveList();
        Context c(program_, block(), arena, &random);
        c.stop_at_roll = stop_at_roll;
        program_.legal_moves(c, moves);
        return !c.roll_needed;
    }
    // Random plies to the end, or to the limit; returns how many.
    uint64_t play_out(RandomStream& random, uint64_t limit) {
        arena.release({0, 0, 0, 0});
        Context c(program_, block(), arena, &random);
        return program_.play_out(c, random, limit);
    }
    void apply(RandomStream& random, uint32_t move) {
        Context c(program_, block(), arena, &random);
        program_.apply(c, move);
    }

    mutable Arena arena;
    MoveList moves;

  private:
    struct alignas(16) Block {
        uint8_t bytes[16];
    };
    const Program& program_;
    std::vector<Block> blocks_;
};

// A workspace that nobody else uses, for as long as this lives.
class LudemeGame::Borrowed {
  public:
    explicit Borrowed(const LudemeGame& game) : game_(game) {
        {
            const std::lock_guard lock(game.mutex_);
            if (!game.idle_.empty()) {
                space_ = std::move(game.idle_.back());
                game.idle_.pop_back();
            }
        }
        if (!space_) space_ = std::make_unique<Workspace>(*game.program_);
    }
    ~Borrowed() {
        const std::lock_guard lock(game_.mutex_);
        game_.idle_.push_back(std::move(space_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Workspace& operator*() const { return *space_; }

  private:
    const LudemeGame& game_;
    std::unique_ptr<Workspace> space_;
};

LudemeGame::LudemeGame(std::unique_ptr<Program> program)
    : program_(std::move(program)),
      players_(program_->players()),
      bytes_((program_->layout.bytes + 15) / 16 * 16) {
    const Board& board = program_->board;
    sites_ = board.site_numbers();
    for (const SiteTables& t : board.tables) sites_ = std::max(sites_, t.count);
    Borrowed space(*this);
    Workspace& w = *space;
    RandomStream random(0, 0);
    program_->start_game(w.block(), w.arena, random);
    first_.assign(bytes_, 0);
    std::memcpy(first_.data(), w.block(), program_->layout.bytes);
    if (program_->stochastic) {
        uint64_t outcomes = 1;
        for (const Container& box : board.containers) {
            if (!box.dice) continue;
            for (uint32_t n = 0; n < box.sites; ++n) {
                const int place = w.state().place(Cell, static_cast<int>(box.first_site + n));
                faces_.push_back(board.sides(w.state().what(place)));
                outcomes *= faces_.back();
                if (outcomes > most_outcomes) throw GameError("a roll has too many outcomes");
            }
        }
        outcomes_ = static_cast<uint32_t>(outcomes);
    }
}

LudemeGame::~LudemeGame() = default;

std::string LudemeGame::role_name(uint32_t role) const {
    return role < players_ ? "P" + std::to_string(role + 1) : "random";
}

uint32_t LudemeGame::slots(uint32_t role) const {
    if (role >= players_) return 1 + outcomes_;
    return 1 + (sites_ + 1) * (sites_ + 1) * alike;
}

// --- slots ---

// `before`: how many legal moves before it share its start and end.
uint32_t LudemeGame::slot_of(const Workspace& w, uint32_t move, uint32_t before) const {
    const Move& m = w.arena.move(move);
    const auto from = static_cast<uint32_t>(m.from + 1), to = static_cast<uint32_t>(m.to + 1);
    if (before >= alike) throw GameError("too many moves with the same start and end");
    return 1 + (from * (sites_ + 1) + to) * alike + before;
}

void LudemeGame::list_slots(Workspace& w, std::vector<int32_t>& slots) const {
    slots.clear();
    for (uint32_t n = w.moves.first; n != none; n = w.arena.move(n).next)
        slots.push_back(static_cast<int32_t>(slot_of(w, n, 0)));
    // Like moves are numbered in the order in which they were made.
    std::vector<uint32_t> order(slots.size());
    for (uint32_t n = 0; n < order.size(); ++n) order[n] = n;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return slots[a] < slots[b]; });
    int32_t last = -1, shared = 0;
    for (uint32_t n : order) {
        shared = slots[n] == last ? shared + 1 : 0;
        last = slots[n];
        if (static_cast<uint32_t>(shared) >= alike)
            throw GameError("too many moves with the same start and end");
        slots[n] += shared;
    }
}

std::string LudemeGame::site_name(int site) const {
    const auto n = static_cast<size_t>(site);
    return n < program_->labels.size() ? program_->labels[n] : std::to_string(site);
}

std::string LudemeGame::move_name(uint32_t role, uint32_t slot) const {
    if (slot == 0) return wait_name;
    if (role >= players_) {
        std::string name("roll");
        uint32_t rest = slot - 1;
        size_t die = 0;
        for (const Component& one : program_->board.components) {
            if (one.faces.empty() || die == faces_.size()) continue;
            name += " " + std::to_string(one.faces[rest % faces_[die]]);
            rest /= faces_[die++];
        }
        return name;
    }
    const uint32_t shared = (slot - 1) % alike, pair = (slot - 1) / alike;
    const int from = static_cast<int>(pair / (sites_ + 1)) - 1;
    const int to = static_cast<int>(pair % (sites_ + 1)) - 1;
    std::string name = "pass";
    if (from >= 0 || to >= 0) {
        name = from >= 0 ? site_name(from) : "?";
        if (from != to) name += "-" + (to >= 0 ? site_name(to) : "?");
    }
    if (shared) name += "#" + std::to_string(shared + 1);
    return name;
}

int32_t LudemeGame::find_move(uint32_t role, const std::string& name) const {
    if (name == wait_name) return 0;
    if (role >= players_) {
        for (uint32_t slot = 1; slot <= outcomes_; ++slot)
            if (move_name(role, slot) == name) return static_cast<int32_t>(slot);
        return -1;
    }
    std::string_view rest = name;
    uint32_t shared = 0;
    if (const size_t at = rest.rfind('#'); at != std::string_view::npos) {
        const std::string_view digits = rest.substr(at + 1);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), shared);
        if (error != std::errc() || end != digits.data() + digits.size() || shared < 2) return -1;
        --shared;
        rest = rest.substr(0, at);
    }
    if (shared >= alike) return -1;
    auto number = [&](std::string_view label) {
        if (label == "?") return -1;
        for (size_t n = 0; n < program_->labels.size(); ++n)
            if (program_->labels[n] == label) return static_cast<int>(n);
        int value = -2;
        const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
        const bool whole = error == std::errc() && end == label.data() + label.size();
        return whole && value < static_cast<int>(sites_) ? value : -2;
    };
    int from = -1, to = -1;
    if (rest != "pass") {
        const size_t dash = rest.find('-');
        from = number(rest.substr(0, dash));
        to = dash == std::string_view::npos ? from : number(rest.substr(dash + 1));
    }
    if (from < -1 || to < -1) return -1;
    const auto pair =
        static_cast<uint32_t>(from + 1) * (sites_ + 1) + static_cast<uint32_t>(to + 1);
    return static_cast<int32_t>(1 + pair * alike + shared);
}

// --- states ---

void LudemeGame::initial(uint8_t* state) const { std::memcpy(state, first_.data(), bytes_); }

// The place in the ranking as a number from 0 to 1; players may have exchanged their sides.
void LudemeGame::set_rewards(const uint8_t* block, float* rewards) const {
    const State s(const_cast<uint8_t*>(block), program_->layout, program_->board);
    const Scalars& k = s.scalars();
    for (uint32_t p = 0; p < players_; ++p) {
        const auto side = static_cast<uint32_t>(s.colour(p + 1));
        const float rank = k.ranking[side];
        if (players_ == 1)
            rewards[p] = rank == 1 ? 1.0f : 0.0f;
        else
            rewards[p] =
                rank > 0 ? (static_cast<float>(players_) - rank) / static_cast<float>(players_ - 1)
                         : 0.5f;
    }
    if (outcomes_) rewards[players_] = 0;
}

namespace {
// The player on the side that is to move.
uint32_t player_to_move(const State& s, uint32_t players) {
    for (uint32_t p = 1; p <= players; ++p)
        if (s.colour(p) == s.scalars().mover) return p - 1;
    return static_cast<uint32_t>(s.scalars().mover) - 1;
}
}  // namespace

void LudemeGame::describe(const uint8_t* states, size_t count, Description& out) const {
    const uint32_t n = roles();
    out.terminal.assign(count, 0);
    out.rewards.assign(count * n, 0);
    out.offsets.assign(1, 0);
    out.moves.clear();
    out.odd_goals = 0;
    Borrowed space(*this);
    Workspace& w = *space;
    RandomStream random(0, 0);
    std::vector<int32_t> slots;
    for (size_t i = 0; i < count; ++i) {
        w.load(states + i * bytes_);
        const bool over = w.scalars().over;
        if (over) {
            out.terminal[i] = 1;
            set_rewards(w.block(), &out.rewards[i * n]);
            for (uint32_t r = 0; r < n; ++r)
                out.offsets.push_back(static_cast<uint32_t>(out.moves.size()));
            continue;
        }
        uint32_t mover = player_to_move(w.state(), players_);
        if (w.list(random, true)) {
            list_slots(w, slots);
            std::sort(slots.begin(), slots.end());
        } else {
            mover = players_;
            slots.resize(outcomes_);
            for (uint32_t o = 0; o < outcomes_; ++o) slots[o] = static_cast<int32_t>(o + 1);
        }
        for (uint32_t r = 0; r < n; ++r) {
            if (r == mover)
                out.moves.insert(out.moves.end(), slots.begin(), slots.end());
            else
                out.moves.push_back(0);
            out.offsets.push_back(static_cast<uint32_t>(out.moves.size()));
        }
    }
}

// The dice show this outcome for the next moves.
void LudemeGame::roll(Workspace& w, uint32_t outcome) const {
    for (uint32_t d = 0; d < faces_.size(); outcome /= faces_[d++])
        w.state().rolled(d) = static_cast<int32_t>(outcome % faces_[d]);
    w.scalars().rolled = 1;
}

void LudemeGame::advance(uint8_t* states, size_t count, const int32_t* moves) const {
    const uint32_t n = roles();
    Borrowed space(*this);
    Workspace& w = *space;
    std::vector<int32_t> slots;
    for (size_t i = 0; i < count; ++i) {
        uint8_t* state = states + i * bytes_;
        const int32_t* chosen = moves + i * n;
        w.load(state);
        if (w.scalars().over) throw IllegalMoveError("the game is over");
        // Rolls within conditions draw from the state itself: the same move, the same result.
        RandomStream random(w.state().position_hash(), static_cast<uint64_t>(w.scalars().plies));
        if (outcomes_ && chosen[players_] > 0) {
            const auto outcome = static_cast<uint32_t>(chosen[players_] - 1);
            if (outcome >= outcomes_ || w.scalars().rolled) throw IllegalMoveError("not a roll");
            roll(w, outcome);
        } else {
            const uint32_t mover = player_to_move(w.state(), players_);
            if (!w.list(random, true)) throw IllegalMoveError("the dice must be rolled first");
            list_slots(w, slots);
            uint32_t at = 0, move = w.moves.first;
            while (move != none && slots[at] != chosen[mover]) move = w.arena.move(move).next, ++at;
            if (move == none)
                throw IllegalMoveError(
                    move_name(mover, static_cast<uint32_t>(std::max(0, chosen[mover]))) +
                    " is not legal");
            w.apply(random, move);
        }
        std::memcpy(state, w.block(), program_->layout.bytes);
    }
}

namespace {
// What a player sees of a piece; false: nothing at all.
bool hide(LudemeGame::Piece& p, uint32_t hidden) {
    enum Side { All, What, Who, Count, State, Rotation, Value };
    if (hidden >> All & 1) return false;
    if (hidden >> What & 1) p.what = 0;
    if (hidden >> Who & 1) p.who = 0;
    if (hidden >> Count & 1) p.count = 1;
    if (hidden >> State & 1) p.state = 0;
    if (hidden >> Rotation & 1) p.rotation = 0;
    if (hidden >> Value & 1) p.value = 0;
    return true;
}
}  // namespace

std::vector<LudemeGame::Piece> LudemeGame::pieces(const uint8_t* state, uint32_t viewer) const {
    Borrowed space(*this);
    Workspace& w = *space;
    w.load(state);
    const State s = w.state();
    // Who has exchanged sides sees what that side sees.
    const uint32_t side = viewer ? static_cast<uint32_t>(s.colour(viewer)) : 0;
    std::vector<Piece> found;
    for (int kind = 0; kind < static_cast<int>(kinds); ++kind)
        for (uint32_t site = 0; site < program_->layout.layer_size[kind]; ++site) {
            const int place = s.place(static_cast<Kind>(kind), static_cast<int>(site));
            for (int level = 0; level < s.height(place); ++level) {
                Piece one{kind,
                          static_cast<int>(site),
                          level,
                          s.who(place, level),
                          s.what(place, level),
                          s.stacking() ? 1 : s.count(place),
                          s.state(place, level),
                          s.rotation(place, level),
                          s.value(place, level)};
                if (side && program_->wants.hidden && !hide(one, s.hidden(side, place))) continue;
                found.push_back(one);
            }
        }
    return found;
}

std::vector<std::string> LudemeGame::facts(const uint8_t* state) const { return tell(state, 0); }

std::vector<std::string> LudemeGame::percepts(const uint8_t* state, uint32_t role) const {
    if (!program_->wants.hidden || role >= players_) return {};
    return tell(state, role + 1);
}

std::vector<std::string> LudemeGame::tell(const uint8_t* state, uint32_t viewer) const {
    std::vector<std::string> lines;
    for (const Piece& p : pieces(state, viewer)) {
        const char* kind = p.kind == program_->board.kind ? ""
                           : p.kind == Vertex             ? "vertex "
                           : p.kind == Edge               ? "edge "
                                                          : "cell ";
        const bool named = p.kind == program_->board.kind ||
                           p.site >= static_cast<int>(program_->board.tables[p.kind].count);
        const bool owned = p.who > 0 && p.who <= static_cast<int>(players_);
        std::string text = kind + (named ? site_name(p.site) : std::to_string(p.site)) + ": ";
        if (p.what > 0)
            text += program_->board.components[static_cast<size_t>(p.what)].name;
        else
            text += owned ? "? of " + role_name(static_cast<uint32_t>(p.who) - 1) : "?";
        auto add = [&](const char* what, int value, int usual) {
            if (value != usual) text += std::string(" ") + what + " " + std::to_string(value);
        };
        add("level", p.level, 0);
        add("count", p.count, 1);
        add("state", p.state, 0);
        add("rotation", p.rotation, 0);
        add("value", p.value, 0);
        lines.push_back(text);
    }
    Borrowed space(*this);
    Workspace& w = *space;
    w.load(state);
    const State s = w.state();
    if (!s.scalars().over) lines.push_back("to move: " + role_name(player_to_move(s, players_)));
    if (program_->wants.scores)
        for (uint32_t p = 1; p <= players_; ++p)
            lines.push_back("score " + role_name(p - 1) + ": " + std::to_string(s.score(p)));
    return lines;
}

// --- random play ---

// From the state of the workspace to the end of the game.
void LudemeGame::play_out(Workspace& w, RandomStream& random, uint32_t max_length, uint64_t& length,
                          PlayoutResult* details) const {
    if (!details) {
        length = w.play_out(random, max_length);
        return;
    }
    for (length = 0; !w.scalars().over && length < max_length; ++length) {
        uint32_t mover = player_to_move(w.state(), players_);
        const bool ready = w.list(random, outcomes_ > 0);
        const uint32_t many = ready ? w.moves.count : outcomes_;
        if (!ready) mover = players_;
        details->legal_moves[mover] += many;
        details->choices[mover] += many > 1;
        for (uint32_t r = 0; r < roles(); ++r) details->legal_moves[r] += r != mover;
        if (!ready) {
            roll(w, static_cast<uint32_t>(random.below(many)));
            continue;
        }
        uint32_t move = w.moves.first;
        for (uint64_t skip = many > 1 ? random.below(many) : 0; skip > 0; --skip)
            move = w.arena.move(move).next;
        w.apply(random, move);
    }
}

PlayoutResult LudemeGame::playouts(const PlayoutSettings& settings) const {
    const uint32_t n = roles();
    auto run = [&](uint64_t first, uint64_t step) {
        PlayoutResult result;
        std::vector<std::vector<uint64_t>> counts(n, std::vector<uint64_t>(101, 0));
        result.legal_moves.assign(settings.detailed ? n : 0, 0);
        result.choices.assign(settings.detailed ? n : 0, 0);
        Borrowed space(*this);
        Workspace& w = *space;
        std::vector<float> rewards(n);
        for (uint64_t p = first; p < settings.playouts; p += step) {
            RandomStream random(settings.seed, p);
            w.load(first_.data());
            uint64_t length = 0;
            play_out(w, random, settings.max_length, length, settings.detailed ? &result : nullptr);
            result.steps += length;
            if (w.scalars().over) {
                ++result.finished;
                set_rewards(w.block(), rewards.data());
                for (uint32_t r = 0; r < n; ++r)
                    ++counts[r][static_cast<size_t>(rewards[r] * 100 + 0.5f)];
            } else {
                ++result.cut;
            }
            if (settings.detailed) {
                if (result.lengths.size() <= length) result.lengths.resize(length + 1, 0);
                ++result.lengths[length];
            }
        }
        for (uint32_t r = 0; r < n; ++r)
            for (int value = 0; value <= 100; ++value)
                result.outcomes.push_back({r, value, counts[r][static_cast<size_t>(value)]});
        return result;
    };
    const auto threads =
        static_cast<uint32_t>(std::clamp<uint64_t>(settings.threads, 1, settings.playouts));
    std::vector<PlayoutResult> parts(threads);
    std::vector<std::exception_ptr> errors(threads);
    auto part = [&](uint32_t t) {
        try {
            parts[t] = run(t, threads);
        } catch (...) {
            errors[t] = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < threads; ++t) others.emplace_back(part, t);
    part(0);
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
    PlayoutResult result;
    for (const PlayoutResult& one : parts) result.add(one);
    std::erase_if(result.outcomes, [](const auto& o) { return o.count == 0; });
    return result;
}

void LudemeGame::rollouts(const uint8_t* states, size_t count, uint32_t each, uint64_t seed,
                          uint32_t max_length, float* rewards) const {
    const uint32_t n = roles();
    Borrowed space(*this);
    Workspace& w = *space;
    std::vector<float> one(n);
    for (size_t i = 0; i < count; ++i) {
        float* sums = rewards + i * n;
        std::fill_n(sums, n, 0.0f);
        for (uint32_t e = 0; e < each; ++e) {
            RandomStream random(seed, i * each + e);
            w.load(states + i * bytes_);
            uint64_t length = 0;
            play_out(w, random, max_length, length, nullptr);
            if (w.scalars().over)
                set_rewards(w.block(), one.data());
            else
                std::fill(one.begin(), one.end(), 0.5f);
            for (uint32_t r = 0; r < n; ++r) sums[r] += one[r];
        }
        for (uint32_t r = 0; r < n; ++r) sums[r] /= static_cast<float>(each);
    }
}

}  // namespace omnilude::ludeme
