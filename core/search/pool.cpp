#include "search/pool.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace omnilude {

namespace {
// Trees that need no evaluation go on for so many rounds before the others get theirs.
constexpr int most_rounds = 16;
// Walks of one tree that need neither the game nor an evaluation, before others get their turn and
// whoever watches the clock gets a look at it.
constexpr int most_settled = 64;
// Walks from one look at whether the moves are settled to the next.
constexpr uint32_t settled_every = 16;

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}
}  // namespace

void Records::append(const Records& other) {
    append_all(states, other.states);
    append_all(full, other.full);
    append_all(solved, other.solved);
    append_all(moves, other.moves);
    append_all(policy_slots, other.policy_slots);
    append_all(q, other.q);
    append_all(surprise, other.surprise);
    append_all(policy_probs, other.policy_probs);
    append_all(policy_counts, other.policy_counts);
}

void Records::clear() {
    states.clear(), full.clear(), solved.clear(), moves.clear(), policy_slots.clear();
    q.clear(), surprise.clear(), policy_probs.clear(), policy_counts.clear();
}

SearchPool::SearchPool(const Game& game, const std::vector<bool>& is_player, const Encoder* encoder,
                       const SearchSettings& settings, uint32_t trees, uint64_t seed,
                       uint64_t first_game, uint64_t stride)
    : shape_(game, is_player),
      encoder_(encoder),
      settings_(settings),
      seed_(seed),
      stride_(stride),
      cache_(shape_, settings.cache) {
    slots_.reserve(trees);
    for (uint32_t t = 0; t < trees; ++t) {
        Slot& slot = slots_.emplace_back(shape_);
        slot.game = first_game + t;
        slot.root.resize(shape_.state_bytes);
        slot.moves.resize(shape_.roles);
        slot.last_q.assign(shape_.players, 0.5f);
    }
    values_.resize(shape_.players);
    playout_seed_ = seed * 0x9E3779B97F4A7C15ull + first_game;
}

void SearchPool::play() {
    for (Slot& slot : slots_) start_game(slot);
    drop_rows();
    busy_ = slots_.size();
}

void SearchPool::set_starts(std::vector<uint8_t> states, double share) {
    starts_ = std::move(states);
    start_share_ = starts_.empty() ? 0 : share;
}

void SearchPool::start_game(Slot& slot) {
    slot.random = RandomStream(seed_, slot.game);
    slot.selfplay = true;
    slot.ply = 0;
    slot.records.clear();
    std::fill(slot.last_q.begin(), slot.last_q.end(), 0.5f);
    slot.tree.clear();
    if (start_share_ > 0 && slot.random.uniform() < start_share_) {
        const size_t pick = slot.random.below(starts_.size() / shape_.state_bytes);
        std::memcpy(slot.root.data(), &starts_[pick * shape_.state_bytes], shape_.state_bytes);
    } else {
        shape_.game.initial(slot.root.data());
    }
    slot.phase = Phase::NewRoot;
    slot.fresh = true;
}

void SearchPool::end_game(Slot& slot, const uint8_t* final_state, const float* rewards, bool cut) {
    const auto length = static_cast<uint32_t>(slot.records.full.size());
    if (length > 0) {
        finished_.positions.append(slot.records);
        finished_.lengths.push_back(length);
        finished_.numbers.push_back(slot.game);
        finished_.cut.push_back(cut);
        finished_.final_states.insert(finished_.final_states.end(), final_state,
                                      final_state + shape_.state_bytes);
        finished_.rewards.insert(finished_.rewards.end(), rewards, rewards + shape_.players);
    }
    ++counters_.games;
    slot.game += stride_;
    start_game(slot);
}

FinishedGames SearchPool::drain() {
    FinishedGames out = std::move(finished_);
    finished_ = FinishedGames();
    return out;
}

void SearchPool::set_roots(const uint8_t* states, size_t count, const uint64_t* streams,
                           const uint32_t* plies) {
    for (size_t i = 0; i < count; ++i) {
        Slot& slot = slots_[i];
        slot.random = RandomStream(seed_, streams[i]);
        slot.selfplay = false;
        slot.ply = plies[i];
        std::memcpy(slot.root.data(), states + i * shape_.state_bytes, shape_.state_bytes);
        slot.phase = Phase::NewRoot;
        slot.fresh = true;
    }
    for (size_t i = count; i < slots_.size(); ++i) slots_[i].phase = Phase::Idle;
    busy_ = roots_ = count;
    drop_rows();
}

void SearchPool::stop() {
    drop_rows();
    for (Slot& slot : slots_) {
        if (slot.phase == Phase::Idle) continue;
        if (slot.phase != Phase::NewRoot && slot.tree.node(0).evaluated) {
            if (!slot.planned) begin_search(slot);
            finish_search(slot);
        } else {
            throw std::logic_error("stop: a position was not evaluated even once");
        }
    }
}

// Evaluations that were asked for will never come.
void SearchPool::drop_rows() {
    if (rows_ > 0) cache_.clear();
    rows_ = 0;
}

// Trees under way keep what the old weights said: good enough to go on with.
void SearchPool::forget() {
    if (rows_ > 0) throw std::logic_error("forget: evaluations are under way");
    cache_.clear();
}

void SearchPool::change(const SearchSettings& settings) {
    if (rows_ > 0) throw std::logic_error("change: evaluations are under way");
    if (settings.rule != settings_.rule)
        throw std::invalid_argument("the rule of a search cannot change while it is under way");
    // What is remembered has playouts mixed in.
    if (settings.playouts != settings_.playouts ||
        settings.playout_weight != settings_.playout_weight)
        cache_.clear();
    settings_ = settings;
}

size_t SearchPool::tree_bytes() const {
    size_t total = 0;
    for (const Slot& slot : slots_) total += slot.tree.bytes();
    return total;
}

bool SearchPool::search_over(const Slot& slot) const {
    const Node& root = slot.tree.node(0);
    if (root.solved || root.visits > slot.plan.simulations) return true;
    if (root.visits % settled_every != 0) return false;  // a look now and then is enough
    if (slot.tree.bytes() > settings_.most_bytes) return true;
    // Nothing is settled before half of the walks are made.
    const uint32_t left = slot.plan.simulations + 1 - root.visits;
    return settings_.moves_only && left < root.visits && moves_settled(slot.tree, left);
}

void SearchPool::begin_search(Slot& slot) {
    slot.full = !slot.selfplay || settings_.full_fraction >= 1 ||
                slot.random.uniform() < settings_.full_fraction;
    slot.plan.noisy = slot.full;
    slot.plan.simulations = slot.full ? settings_.simulations : settings_.fast_simulations;
    plan_root(slot.tree, settings_, slot.random, slot.plan);
    slot.planned = true;
}

Tree::Stop SearchPool::descend(Slot& slot) {
    return slot.tree.descend([&](uint32_t node, const Choice& choice) {
        return select_edge(slot.tree, node, choice, slot.plan, settings_, slot.random, scratch_);
    });
}

// Takes a tree as far as it gets without the game; returns whether it wants a position advanced.
bool SearchPool::advance_tree(Slot& slot) {
    for (int settled = 0; settled < most_settled;) {
        switch (slot.phase) {
            case Phase::Idle:
            case Phase::Wait:
                return false;
            case Phase::NewRoot:
                return true;
            case Phase::Search:
                if (slot.tree.node(0).evaluated) {
                    if (!slot.planned) begin_search(slot);
                    if (search_over(slot)) {
                        finish_search(slot);
                        continue;
                    }
                }
                slot.tree.start(exploring_choice(slot.tree, settings_));
                slot.phase = Phase::Walk;
                break;
            case Phase::Walk:
                break;
        }
        switch (descend(slot)) {
            case Tree::Stop::NewChild:
                return true;
            case Tree::Stop::Leaf:
                return false;
            case Tree::Stop::Settled:
                slot.tree.settled_value(slot.tree.current(), values_.data());
                slot.tree.back_up(values_.data(), settings_.solver);
                ++counters_.simulations;
                ++settled;
                slot.phase = Phase::Search;
        }
    }
    return false;
}

// The root of a search was described: row `row` of the batch.
void SearchPool::settle_root(Slot& slot, size_t row) {
    const uint8_t* state = &batch_[row * shape_.state_bytes];
    std::memcpy(slot.root.data(), state, shape_.state_bytes);
    const uint32_t limit = settings_.max_length;
    slot.planned = false;
    // Sequential halving counts visits from none.
    const bool reuse = settings_.reuse && settings_.rule != SearchSettings::Rule::Gumbel;
    if (!reuse || slot.tree.empty() || !slot.tree.keep_below(state, slot.ply, limit)) {
        slot.tree.clear();
        // A position that is asked about is searched however late in a game it is.
        slot.tree.add(state, description_, row, slot.ply, UINT32_MAX);
    }
    const Node& root = slot.tree.node(0);
    slot.phase = Phase::Search;
    if (!slot.selfplay) {
        // Where nobody has a choice there is nothing to search for.
        if (root.ended || root.passing) {
            slot.phase = Phase::Idle;
            --busy_;
        }
        return;
    }
    if (root.solved && root.ended) {  // terminal
        slot.tree.settled_value(0, values_.data());
        end_game(slot, state, values_.data(), !description_.terminal[row]);
    } else if (slot.ply >= limit) {
        end_game(slot, state, slot.last_q.data(), true);
    } else if (root.passing) {
        std::copy_n(slot.tree.forced(0), shape_.roles, slot.moves.begin());
        for (const Choice& choice : slot.tree.choices(0))
            slot.moves[choice.role] = slot.tree.edges(choice)[slot.random.below(choice.count)].slot;
        ++slot.ply;
        slot.phase = Phase::NewRoot;
        slot.fresh = false;
    }
}

void SearchPool::finish_search(Slot& slot) {
    ++counters_.searches;
    std::copy_n(slot.tree.forced(0), shape_.roles, slot.moves.begin());
    const auto choices = slot.tree.choices(0);
    for (size_t c = 0; c < choices.size(); ++c) {
        const uint32_t chosen =
            choose_edge(slot.tree, c, slot.plan, settings_, slot.random, scratch_);
        slot.moves[choices[c].role] = slot.tree.edges(choices[c])[chosen].slot;
    }
    if (!slot.selfplay) {
        slot.phase = Phase::Idle;
        --busy_;
        return;
    }
    record_position(slot);
    ++slot.ply;
    slot.phase = Phase::NewRoot;
    slot.fresh = false;
}

void SearchPool::record_position(Slot& slot) {
    ++counters_.positions;
    Records& records = slot.records;
    append_all(records.states, slot.root);
    append_all(records.moves, slot.moves);
    records.full.push_back(slot.full);
    records.solved.push_back(slot.tree.node(0).solved);
    root_values(slot.tree, settings_, scratch_, slot.last_q.data());
    append_all(records.q, slot.last_q);
    float surprise = 0;
    uint32_t player = 0;
    for (const Choice& choice : slot.tree.choices(0)) {
        if (choice.player < 0) continue;
        for (; player < static_cast<uint32_t>(choice.player); ++player)
            records.policy_counts.push_back(0);
        policy_target(slot.tree, choice, settings_, scratch_);
        const auto edges = slot.tree.edges(choice);
        for (size_t i = 0; i < edges.size(); ++i) {
            records.policy_slots.push_back(edges[i].slot);
            records.policy_probs.push_back(scratch_[i]);
            if (scratch_[i] > 1e-9f)
                surprise += scratch_[i] * (std::log(scratch_[i]) - edges[i].logit);
        }
        records.policy_counts.push_back(static_cast<uint32_t>(edges.size()));
        ++player;
    }
    for (; player < shape_.players; ++player) records.policy_counts.push_back(0);
    records.surprise.push_back(std::max(0.0f, surprise));
}

// The current node of the slot's walk needs an evaluation: from the cache, or by a new row.
void SearchPool::request(Slot& slot) {
    const uint8_t* state = slot.tree.state(slot.tree.current());
    if (settings_.rule == SearchSettings::Rule::Uct && slot.tree.node(slot.tree.current()).limit) {
        std::fill(values_.begin(), values_.end(), 0.5f);  // as playouts that are cut
        finish_walk(slot, nullptr, values_.data());
        return;
    }
    using Status = EvaluationCache::Status;
    const uint32_t e = cache_.find(state);
    if (e != EvaluationCache::none) {
        const auto& entry = cache_.entry(e);
        if (entry.status == Status::Ready) {
            ++counters_.cached;
            finish_walk(slot, cache_.logits(e), cache_.values(e));
            return;
        }
        if (entry.status == Status::Pending) {
            ++counters_.cached;
            slot.row = entry.row;
            slot.entry = EvaluationCache::none;
        } else {
            slot.row = static_cast<uint32_t>(rows_);
            slot.entry = e;
            cache_.reserve(e, state, slot.row);
        }
    } else {
        slot.row = static_cast<uint32_t>(rows_);
        slot.entry = EvaluationCache::none;
    }
    if (slot.row == rows_) {
        row_states_.insert(row_states_.end(), state, state + shape_.state_bytes);
        ++rows_;
    }
    slot.phase = Phase::Wait;
}

void SearchPool::finish_walk(Slot& slot, const float* logits, const float* values) {
    const uint32_t leaf = slot.tree.current();
    if (logits)
        slot.tree.evaluate(leaf, logits, values, 1 / settings_.policy_temperature);
    else
        slot.tree.evaluate(leaf, values);
    slot.tree.back_up(values, settings_.solver);
    counters_.simulations += leaf != 0;
    slot.phase = Phase::Search;
}

size_t SearchPool::gather(float* inputs) {
    const size_t bytes = shape_.state_bytes, roles = shape_.roles;
    if (rows_ > 0) throw std::logic_error("gather: the evaluations of the last call are missing");
    row_states_.clear();
    active_.clear();
    going_on_.clear();
    for (uint32_t t = 0; t < slots_.size(); ++t)
        if (slots_[t].phase != Phase::Idle) active_.push_back(t);
    for (int round = 0; round < most_rounds && !active_.empty(); ++round) {
        owners_.clear(), given_.clear(), batch_.clear(), batch_moves_.clear();
        for (uint32_t t : active_) {
            Slot& slot = slots_[t];
            if (!advance_tree(slot)) {
                if (slot.phase == Phase::Walk) request(slot);  // a leaf not yet evaluated
                if (slot.phase == Phase::Search) going_on_.push_back(t);
                continue;
            }
            if (slot.phase == Phase::NewRoot && slot.fresh) {
                given_.push_back(t);
                continue;
            }
            const bool root = slot.phase == Phase::NewRoot;
            const uint8_t* from = root ? slot.root.data() : slot.tree.state(slot.tree.current());
            const int32_t* moves = root ? slot.moves.data() : slot.tree.joint_move();
            owners_.push_back(t);
            batch_.insert(batch_.end(), from, from + bytes);
            batch_moves_.insert(batch_moves_.end(), moves, moves + roles);
        }
        const size_t moved = owners_.size();
        if (moved) shape_.game.advance(batch_.data(), moved, batch_moves_.data());
        for (uint32_t t : given_) {
            owners_.push_back(t);
            append_all(batch_, slots_[t].root);
        }
        if (!owners_.empty()) shape_.game.describe(batch_.data(), owners_.size(), description_);
        for (size_t i = 0; i < owners_.size(); ++i) {
            Slot& slot = slots_[owners_[i]];
            if (slot.phase == Phase::NewRoot) {
                settle_root(slot, i);
            } else {
                slot.tree.attach(&batch_[i * bytes], description_, i, settings_.max_length);
                const Node& node = slot.tree.node(slot.tree.current());
                if (!node.ended && !node.passing) request(slot);
            }
            if (slot.phase != Phase::Wait && slot.phase != Phase::Idle)
                going_on_.push_back(owners_[i]);
        }
        active_.swap(going_on_);
        going_on_.clear();
    }
    // All at once: what a circuit says of one state costs as much as what it says of hundreds.
    if (encoder_) encoder_->encode(row_states_.data(), rows_, inputs);
    counters_.evaluations += rows_;
    return rows_;
}

static void check_numbers(const float* numbers, size_t count) {
    bool fine = true;
    for (size_t i = 0; i < count; ++i) fine &= numbers[i] > -1e6f && numbers[i] < 1e6f;
    if (!fine) throw std::runtime_error("an evaluation is not a number");
}

// What random play makes of the rows' positions, mixed with what the network says.
const float* SearchPool::mix_playouts(const float* values) {
    const uint32_t players = shape_.players;
    rewards_.resize(rows_ * shape_.roles);
    mixed_.resize(rows_ * players);
    shape_.game.rollouts(row_states_.data(), rows_, settings_.playouts, split_mix(playout_seed_),
                         settings_.max_length, rewards_.data());
    const float weight = settings_.playout_weight;
    for (size_t i = 0; i < rows_; ++i)
        for (uint32_t p = 0; p < players; ++p)
            mixed_[i * players + p] = (1 - weight) * values[i * players + p] +
                                      weight * rewards_[i * shape_.roles + shape_.role_of[p]];
    return mixed_.data();
}

void SearchPool::scatter(const float* logits, const float* values) {
    check_numbers(values, rows_ * shape_.players);
    if (logits) check_numbers(logits, rows_ * shape_.policy_size);
    if (logits && settings_.playouts && settings_.playout_weight > 0 && rows_)
        values = mix_playouts(values);
    for (Slot& slot : slots_) {
        if (slot.phase != Phase::Wait) continue;
        const float* row = logits ? logits + size_t{slot.row} * shape_.policy_size : nullptr;
        const float* value = values + size_t{slot.row} * shape_.players;
        if (slot.entry != EvaluationCache::none) cache_.fill(slot.entry, row, value);
        slot.entry = EvaluationCache::none;
        finish_walk(slot, row, value);
    }
    rows_ = 0;
}

Analysis SearchPool::results() {
    Analysis out;
    out.offsets.push_back(0);
    for (size_t i = 0; i < roots_; ++i) {
        Slot& slot = slots_[i];
        const Tree& tree = slot.tree;
        const Node& root = tree.node(0);
        if (root.passing || root.ended) {
            std::copy_n(tree.forced(0), shape_.roles, slot.moves.begin());
            for (const Choice& choice : tree.choices(0))
                slot.moves[choice.role] = tree.edges(choice)[slot.random.below(choice.count)].slot;
        }
        append_all(out.moves, slot.moves);
        // Where nobody has a choice nothing was searched.
        std::fill(values_.begin(), values_.end(), std::numeric_limits<float>::quiet_NaN());
        if (root.visits) root_values(tree, settings_, scratch_, values_.data());
        append_all(out.values, values_);
        out.simulations.push_back(root.visits ? root.visits - 1 : 0);
        out.solved.push_back(root.solved);
        for (uint32_t p = 0; p < shape_.players; ++p)
            out.proven.push_back((root.proven & player_bit(p)) != 0);
        uint32_t player = 0;
        auto skip_to = [&](uint32_t next) {
            for (; player < next; ++player)
                out.offsets.push_back(static_cast<uint32_t>(out.slots.size()));
        };
        for (const Choice& choice : tree.choices(0)) {
            if (choice.player < 0) continue;
            skip_to(static_cast<uint32_t>(choice.player));
            for (const Edge& edge : tree.edges(choice)) {
                out.slots.push_back(edge.slot);
                out.visits.push_back(static_cast<float>(edge.visits));
                out.priors.push_back(edge.prior);
                out.q.push_back(
                    edge.visits
                        ? tree.value(0, choice, edge)
                        : out.values[i * shape_.players + static_cast<size_t>(choice.player)]);
            }
            skip_to(static_cast<uint32_t>(choice.player) + 1);
        }
        skip_to(shape_.players);
    }
    return out;
}

}  // namespace omnilude
