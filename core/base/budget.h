// Limits on what the rules of a game may cost. Every loop whose length the rules decide spends from
// one of these, so that no rulesheet can hang the process or eat its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace omnilude {

struct BudgetExceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Budget {
  public:
    Budget(double seconds, uint64_t bytes, uint64_t instances)
        : bytes(bytes),
          instances(instances),
          seconds_(seconds),
          start_(std::chrono::steady_clock::now()) {}

    uint64_t bytes;
    uint64_t instances;

    double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    void restart() { start_ = std::chrono::steady_clock::now(); }

    // Cheap enough to call once per unit of work; looks at the clock once in a few thousand calls.
    void spend(uint64_t work = 1) {
        if ((work_ += work) < check_at_) return;
        check_at_ = work_ + 4096;
        check_time();
    }
    void check_time() const {
        if (elapsed() > seconds_)
            throw BudgetExceeded("time budget of " + std::to_string(seconds_) + " s");
    }
    void check_bytes(uint64_t used) const {
        if (used > bytes)
            throw BudgetExceeded("memory budget of " + std::to_string(bytes >> 20) + " MiB");
    }
    void check_instances(uint64_t used) const {
        if (used > instances)
            throw BudgetExceeded("budget of " + std::to_string(instances) + " rule instances");
    }

  private:
    double seconds_;
    std::chrono::steady_clock::time_point start_;
    uint64_t work_ = 0, check_at_ = 4096;
};

}  // namespace omnilude
