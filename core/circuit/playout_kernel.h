// The loop of random playouts. Included once for each instruction set, inside an anonymous
// namespace, after draw_kernel.h; see playout.cpp and playout_avx2.cpp.
template <uint32_t W>
class PlayoutUnit : private RandomLanes<W> {
    using RandomLanes<W>::plan_, RandomLanes<W>::frame_, RandomLanes<W>::before_;
    using RandomLanes<W>::after_, RandomLanes<W>::word, RandomLanes<W>::low_lanes;
    using RandomLanes<W>::draw_ranks;

  public:
    PlayoutUnit(const PlayoutPlan& plan, const PlayoutSettings& settings, uint64_t unit)
        : RandomLanes<W>(plan, settings.seed, unit), settings_(settings) {
        for (uint32_t f = 0; f < plan.fluents; ++f)
            for (uint32_t k = 0; k < W; ++k)
                for (auto& part : before_[f * W + k].part) part = plan.initial[f] ? ~0ull : 0;
        counts_.assign(plan.goal_slots.size(), 0);
        if (settings.detailed) {
            started_.assign(lanes_per_word * W, 0);
            result_.legal_moves.assign(plan.legal.size(), 0);
            result_.choices.assign(plan.legal.size(), 0);
        }
    }

    PlayoutResult run(uint64_t playouts) {
        uint64_t to_start = playouts;
        for (uint32_t k = 0; k < W; ++k) {
            active_[k] = low_lanes(to_start);
            cut_[k] = fresh_[k] = Vector{0, 0, 0, 0};
            to_start -= std::min<uint64_t>(to_start, lanes_per_word);
        }
        to_start_ = to_start;
        active_count_ = playouts - to_start;
        // How many lanes may wait for the goals to be worth computing.
        const uint64_t lanes = lanes_per_word * W;
        const uint64_t enough = plan_.hold ? std::max<uint64_t>(1, lanes / 8) : 1;
        // Only now and then is it looked up when each lane began its playout; between two such
        // times no playout can both begin and become too long.
        period_ = std::clamp<uint32_t>(settings_.max_length, 1, 1024);
        begun_.assign(lanes, 0);
        restarts_.assign(size_t{period_} * W, Lanes{});
        find_due(0);

        auto* before = before_.data();
        auto* after = after_.data();
        for (uint64_t step = 1;; ++step) {
            plan_.before_choice->run(frame_.data(), before, after, W);
            while (!due_.empty() && due_.back().step == step) cut_off(due_.back().lane);
            if (settings_.detailed) count_legal(before, after);
            finish_lanes(before, after, enough, step);
            if (done_) break;
            if (step % period_ == 0) find_due(step);
            draw_ranks();
            plan_.after_choice->run(frame_.data(), before, after, W);
            std::swap(before, after);
        }
        result_.finished -= result_.stuck + result_.cut;
        for (const PlayoutPlan::GoalCount& goal : plan_.goals)
            result_.outcomes.push_back({goal.role, goal.value, counts_[goal.count]});
        return std::move(result_);
    }

  private:
    Vector& restarted(uint64_t step, uint32_t k) {
        return reinterpret_cast<Vector*>(restarts_.data())[step % period_ * W + k];
    }
    // Counts the playouts that ended and gives their lanes the next ones, if any are left.
    void finish_lanes(Lanes* before, Lanes* after, uint64_t enough, uint64_t step) {
        uint64_t ended = 0;
        Vector over[W];
        for (uint32_t k = 0; k < W; ++k) {
            over[k] =
                (word(plan_.terminal_slot, k) | word(plan_.stuck_slot, k) | cut_[k]) & active_[k];
            ended += count_ones(over[k]);
        }
        const uint64_t running = active_count_ - ended;
        result_.steps += running;
        if (ended == 0 || (plan_.hold && ended < enough && running > 0)) {
            for (uint32_t k = 0; k < W; ++k) {
                restarted(step, k) = Vector{0, 0, 0, 0};
                word(plan_.restart_slot, k) = Vector{0, 0, 0, 0};
                word(plan_.hold_slot, k) = over[k];
            }
            return;
        }
        if (plan_.hold) plan_.goal->run(frame_.data(), before, after, W);
        for (uint32_t k = 0; k < W; ++k) {
            const Vector cut = cut_[k] & active_[k] & ~word(plan_.terminal_slot, k);
            const Vector stuck = over[k] & word(plan_.stuck_slot, k) & ~cut;
            const Vector terminal = over[k] & word(plan_.terminal_slot, k);
            for (size_t i = 0; i < counts_.size(); ++i)
                counts_[i] += count_ones(word(plan_.goal_slots[i], k) & terminal);
            if (any_of(cut) || any_of(stuck)) {
                result_.cut += count_ones(cut);
                result_.stuck += count_ones(stuck);
            }
            if (settings_.detailed) record_lengths(over[k], k, step);
            word(plan_.restart_slot, k) = over[k];
            word(plan_.hold_slot, k) = Vector{0, 0, 0, 0};
            restarted(step, k) = over[k];
            fresh_[k] |= over[k];
            cut_[k] = Vector{0, 0, 0, 0};
        }
        if (ended <= to_start_) {
            to_start_ -= ended;
        } else {
            retire(over, ended - to_start_);
            to_start_ = 0;
        }
        result_.finished += ended;
    }

    // Lanes among `over` that get no further playout.
    void retire(const Vector* over, uint64_t count) {
        active_count_ -= count;
        for (uint32_t k = 0; k < W; ++k)
            for (int i = 0; i < 4; ++i)
                for (uint64_t left = over[k][i]; left != 0 && count > 0; left &= left - 1, --count)
                    active_[k][i] &= ~(left & -left);
        done_ = active_count_ == 0;
    }

    void record_lengths(const Vector& over, uint32_t k, uint64_t step) {
        for (int i = 0; i < 4; ++i)
            for (uint64_t left = over[i]; left != 0; left &= left - 1) {
                const size_t lane = k * lanes_per_word + static_cast<size_t>(i) * 64 +
                                    static_cast<size_t>(__builtin_ctzll(left));
                // Held lanes ended some steps ago.
                const uint64_t end = plan_.hold && held_since_[lane] ? held_since_[lane] : step;
                const uint64_t length = end - 1 - started_[lane];
                if (result_.lengths.size() <= length) result_.lengths.resize(length + 1, 0);
                ++result_.lengths[length];
                started_[lane] = step;
                if (plan_.hold) held_since_[lane] = 0;
            }
    }

    // Detailed statistics: how many moves each role had, in lanes that go on.
    void count_legal(Lanes* before, Lanes* after) {
        plan_.goal->run(frame_.data(), before, after, W);
        if (plan_.hold && held_since_.empty()) held_since_.assign(lanes_per_word * W, 0);
        ++clock_;
        for (uint32_t k = 0; k < W; ++k) {
            const Vector over = word(plan_.terminal_slot, k) | word(plan_.stuck_slot, k) | cut_[k];
            const Vector running = active_[k] & ~over;
            if (plan_.hold)
                for (int i = 0; i < 4; ++i)
                    for (uint64_t left = over[i] & active_[k][i]; left != 0; left &= left - 1) {
                        auto& since = held_since_[k * lanes_per_word + static_cast<size_t>(i) * 64 +
                                                  static_cast<size_t>(__builtin_ctzll(left))];
                        if (since == 0) since = clock_;
                    }
            for (size_t r = 0; r < plan_.legal.size(); ++r) {
                Vector once{0, 0, 0, 0}, twice{0, 0, 0, 0};
                for (uint32_t slot : plan_.legal[r]) {
                    const Vector legal = word(slot, k) & running;
                    twice |= once & legal;
                    once |= legal;
                    result_.legal_moves[r] += count_ones(legal);
                }
                result_.choices[r] += count_ones(twice);
            }
        }
    }

    // Lists the lanes whose playouts become too long before this is called again.
    void find_due(uint64_t step) {
        due_.clear();
        for (uint32_t k = 0; k < W; ++k) {
            Vector unknown = fresh_[k];
            for (uint64_t back = 0; back < period_ && any_of(unknown); ++back) {
                const Vector here = restarted(step - back, k) & unknown;
                unknown &= ~here;
                for (uint32_t i = 0; i < 4; ++i)
                    for (uint64_t left = here[i]; left != 0; left &= left - 1)
                        begun_[k * lanes_per_word + i * 64 +
                               static_cast<uint32_t>(__builtin_ctzll(left))] = step - back;
            }
            fresh_[k] = Vector{0, 0, 0, 0};
            for (uint32_t lane = 0; lane < lanes_per_word; ++lane) {
                const uint64_t due = begun_[k * lanes_per_word + lane] + 1 + settings_.max_length;
                if (due <= step + period_ && due > step)
                    due_.push_back({due, static_cast<uint32_t>(k * lanes_per_word + lane)});
            }
        }
        std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
            return a.step > b.step;  // the next one last
        });
    }

    void cut_off(uint32_t lane) {
        due_.pop_back();
        const uint32_t k = lane / lanes_per_word, i = lane / 64 % 4;
        const uint64_t bit = 1ull << (lane % 64);
        // Held lanes ended before.
        if (!((fresh_[k][i] | word(plan_.hold_slot, k)[i]) & bit)) cut_[k][i] |= bit;
    }

    const PlayoutSettings& settings_;
    Vector active_[W], cut_[W], fresh_[W];
    uint64_t to_start_ = 0, active_count_ = 0, clock_ = 0;
    bool done_ = false;
    struct Due {
        uint64_t step;
        uint32_t lane;
    };
    std::vector<Due> due_;
    std::vector<uint64_t> begun_;  // by lane: step at which it restarted last, as far as looked up
    // Lanes that restarted at each of the last steps. Not a vector of Vector: what that is depends
    // on the instruction set, and the linker would mix the two.
    std::vector<Lanes> restarts_;
    uint32_t period_ = 1;
    std::vector<uint64_t> counts_, started_, held_since_;
    PlayoutResult result_;
};

PlayoutResult run_unit(const PlayoutPlan& plan, const PlayoutSettings& settings, uint64_t unit,
                       uint64_t playouts) {
    switch (plan.width) {
        case 1:
            return PlayoutUnit<1>(plan, settings, unit).run(playouts);
        case 2:
            return PlayoutUnit<2>(plan, settings, unit).run(playouts);
        default:
            return PlayoutUnit<4>(plan, settings, unit).run(playouts);
    }
}
