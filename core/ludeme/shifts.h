// Steps or leaps of all pieces at once. Those that lead equally far, by the numbers of the sites,
// are one shift of a set: on boards of equal rows there are as many shifts as directions.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace omnilude::ludeme {

class Shifts {
  public:
    explicit Shifts(uint32_t words) : words_(words) {}

    // A leap from a site over another one to a third.
    void add(int site, int over, int to) {
        size_t n = 0;
        while (n < shifts_.size() && (shifts_[n].over != over - site || shifts_[n].to != to - site))
            ++n;
        if (n == most) known_ = false;
        if (!known_) return;
        if (n == shifts_.size()) {
            shifts_.push_back({over - site, to - site});
            starts_.resize(starts_.size() + words_);
        }
        starts_[n * words_ + static_cast<size_t>(site >> 6)] |= uint64_t{1} << (site & 63);
    }
    void add_step(int site, int to) { add(site, to, to); }
    // False where there are too many for it to pay.
    bool known() const { return known_; }

    // Adds the starts of all leaps over a site of one set to one of another. In a single word sets
    // are turned round: what comes in at the other end is at no start.
    void find_starts(const uint64_t* over, const uint64_t* to, uint64_t* out) const {
        if (words_ == 1) {
            for (size_t n = 0; n < shifts_.size(); ++n)
                *out |=
                    starts_[n] & std::rotr(*over, shifts_[n].over) & std::rotr(*to, shifts_[n].to);
            return;
        }
        const uint64_t* starts = starts_.data();
        for (const Shift& shift : shifts_)
            for (uint32_t w = 0; w < words_; ++w)
                out[w] |= *starts++ & moved(over, w, shift.over) & moved(to, w, shift.to);
    }

    // Adds the starts of all steps to a site of a set.
    void find_starts(const uint64_t* to, uint64_t* out) const {
        if (words_ == 1) {
            for (size_t n = 0; n < shifts_.size(); ++n)
                *out |= starts_[n] & std::rotr(*to, shifts_[n].to);
            return;
        }
        const uint64_t* starts = starts_.data();
        for (const Shift& shift : shifts_)
            for (uint32_t w = 0; w < words_; ++w) out[w] |= *starts++ & moved(to, w, shift.to);
    }

  private:
    static constexpr size_t most = 8;
    struct Shift {
        int over, to;
    };
    // A word of a set whose site n is site n + distance of another.
    uint64_t moved(const uint64_t* set, uint32_t word, int distance) const {
        const int first = static_cast<int>(word) * 64 + distance;
        const int at = first >> 6, rest = first & 63;
        const auto words = static_cast<int>(words_);
        uint64_t bits = at >= 0 && at < words ? set[at] >> rest : 0;
        if (rest && at + 1 >= 0 && at + 1 < words) bits |= set[at + 1] << (64 - rest);
        return bits;
    }
    uint32_t words_;
    bool known_ = true;
    std::vector<Shift> shifts_;
    std::vector<uint64_t> starts_;  // of each, a set
};

}  // namespace omnilude::ludeme
