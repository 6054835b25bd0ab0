// Facts and the indexes that joins look them up by.
//
// An index belongs to one shape of literal: a predicate, the functors that must stand at certain
// places below it, and the places whose terms are the key. Functions, whole fluents as variables
// and nested terms need no special case: a place is a path of argument numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datalog/rules.h"

namespace omnilude {

using Path = std::vector<uint16_t>;

inline Term follow(const TermBank& bank, Term term, const Path& path) {
    for (uint16_t step : path) term = bank.argument(term, step);
    return term;
}

struct IndexShape {
    struct Check {
        Path path;
        Functor functor;
        bool operator==(const Check&) const = default;
    };
    Functor predicate;
    std::vector<Check> checks;  // outer places before inner ones
    std::vector<Path> keys;
    bool operator==(const IndexShape&) const = default;
};

class Database {
  public:
    static constexpr uint32_t none = UINT32_MAX;
    explicit Database(const TermBank& bank) : bank_(bank) {}

    bool holds(Term fact) const { return fact < present_.size() && present_[fact]; }
    // False if it was there already. Visible to every index at once.
    bool insert(Term fact);
    void clear(Functor predicate);

    // The index of that shape, made and filled if it is new.
    uint32_t index(const IndexShape& shape);

    // First entry whose key terms equal `keys`, newest fact first; then `after` it.
    uint32_t find(uint32_t index, std::span<const Term> keys) const;
    Term fact(uint32_t index, uint32_t entry) const { return indexes_[index].entries[entry].fact; }
    uint32_t after(uint32_t index, uint32_t entry) const {
        return indexes_[index].entries[entry].next;
    }

    std::span<const Term> facts(Functor predicate) const {
        if (predicate >= by_predicate_.size()) return {};
        return by_predicate_[predicate].facts;
    }
    size_t bytes() const { return bytes_; }

  private:
    struct Entry {
        Term fact;
        uint32_t next;
    };
    struct Index {
        IndexShape shape;
        std::vector<Entry> entries;
        std::vector<uint32_t> slots;    // newest entry of each key, or none
        std::vector<uint32_t> touched;  // slots in use, so that clearing is cheap
    };
    struct Predicate {
        std::vector<Term> facts;
        std::vector<uint32_t> indexes;
    };
    void insert_into(Index& index, Term fact);
    void grow(Index& index);
    uint64_t hash_of(const Index& index, Term fact) const;
    bool same_key(const Index& index, Term a, Term b) const;

    const TermBank& bank_;
    std::vector<uint8_t> present_;
    std::vector<Predicate> by_predicate_;
    std::vector<Index> indexes_;
    size_t bytes_ = 0;
};

}  // namespace omnilude
