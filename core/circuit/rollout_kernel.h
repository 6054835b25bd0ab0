// Random play from given positions, one in each lane. Included like playout_kernel.h.
template <uint32_t W>
class RolloutUnit : private RandomLanes<W> {
    using RandomLanes<W>::plan_, RandomLanes<W>::frame_, RandomLanes<W>::before_;
    using RandomLanes<W>::after_, RandomLanes<W>::word, RandomLanes<W>::low_lanes;
    using RandomLanes<W>::draw_ranks;

  public:
    RolloutUnit(const PlayoutPlan& plan, uint64_t seed, uint64_t unit)
        : RandomLanes<W>(plan, seed, unit) {}

    // `fluents` holds the positions as words of lanes; `goals`, [lanes, roles], gets the values of
    // their ends. False where some role did not end with exactly one value.
    bool run(const Lanes* fluents, uint64_t lanes, uint32_t max_length, uint32_t roles,
             float* goals) {
        Vector active[W];
        for (uint32_t k = 0; k < W; ++k) {
            active[k] = low_lanes(lanes > k * lanes_per_word ? lanes - k * lanes_per_word : 0);
            word(plan_.restart_slot, k) = word(plan_.hold_slot, k) = Vector{0, 0, 0, 0};
        }
        // Unused lanes are cleared: what they hold would decide how often ranks are drawn again.
        for (uint32_t f = 0; f < plan_.fluents; ++f)
            for (uint32_t k = 0; k < W; ++k)
                for (uint32_t i = 0; i < 4; ++i)
                    before_[f * W + k].part[i] = fluents[f * W + k].part[i] & active[k][i];
        auto* before = before_.data();
        auto* after = after_.data();
        uint64_t found = 0, ended_lanes = 0, paid = 0;
        for (uint32_t r = 0; r < roles; ++r)  // chance has no goals as a rule
            paid += std::any_of(plan_.goals.begin(), plan_.goals.end(),
                                [&](const auto& goal) { return goal.role == r; });
        for (uint32_t length = 0;; ++length) {
            plan_.before_choice->run(frame_.data(), before, after, W);
            bool running = false, any_terminal = false;
            Vector terminal[W];
            for (uint32_t k = 0; k < W; ++k) {
                terminal[k] = word(plan_.terminal_slot, k) & active[k];
                active[k] &= ~(terminal[k] | word(plan_.stuck_slot, k));
                any_terminal |= any_of(terminal[k]);
                running |= any_of(active[k]);
            }
            if (any_terminal) {
                if (plan_.hold) plan_.goal->run(frame_.data(), before, after, W);
                for (uint32_t k = 0; k < W; ++k) {
                    ended_lanes += count_ones(terminal[k]);
                    for (const PlayoutPlan::GoalCount& goal : plan_.goals) {
                        const Vector got = word(plan_.goal_slots[goal.count], k) & terminal[k];
                        found += count_ones(got);
                        add(got, k, static_cast<float>(goal.value), roles, goal.role, goals);
                    }
                }
            }
            if (!running) break;
            if (length >= max_length) {
                for (uint32_t k = 0; k < W; ++k)
                    for (uint32_t r = 0; r < roles; ++r) add(active[k], k, 50, roles, r, goals);
                break;
            }
            draw_ranks();
            plan_.after_choice->run(frame_.data(), before, after, W);
            std::swap(before, after);
        }
        return found == ended_lanes * paid;
    }

  private:
    static void add(const Vector& lanes, uint32_t k, float value, uint32_t roles, uint32_t role,
                    float* goals) {
        for (uint32_t i = 0; i < 4; ++i)
            for (uint64_t left = lanes[i]; left != 0; left &= left - 1) {
                const size_t lane =
                    k * lanes_per_word + i * 64 + static_cast<uint32_t>(__builtin_ctzll(left));
                goals[lane * roles + role] += value;
            }
    }
};

bool roll_out_unit(const PlayoutPlan& plan, uint64_t seed, uint64_t unit, const Lanes* fluents,
                   uint64_t lanes, uint32_t max_length, uint32_t roles, float* goals) {
    switch (plan.width) {
        case 1:
            return RolloutUnit<1>(plan, seed, unit).run(fluents, lanes, max_length, roles, goals);
        case 2:
            return RolloutUnit<2>(plan, seed, unit).run(fluents, lanes, max_length, roles, goals);
        default:
            return RolloutUnit<4>(plan, seed, unit).run(fluents, lanes, max_length, roles, goals);
    }
}
