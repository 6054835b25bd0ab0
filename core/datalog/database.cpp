#include "datalog/database.h"

#include <algorithm>

namespace omnilude {

bool Database::insert(Term fact) {
    if (present_.size() <= fact) present_.resize(std::max<size_t>(bank_.size(), fact + 1), 0);
    if (present_[fact]) return false;
    present_[fact] = 1;
    const Functor predicate = bank_.functor_of(fact);
    if (by_predicate_.size() <= predicate) by_predicate_.resize(predicate + 1);
    Predicate& entry = by_predicate_[predicate];
    entry.facts.push_back(fact);
    bytes_ += sizeof(Term);
    for (uint32_t i : entry.indexes) insert_into(indexes_[i], fact);
    return true;
}

void Database::clear(Functor predicate) {
    if (predicate >= by_predicate_.size()) return;
    Predicate& entry = by_predicate_[predicate];
    for (Term fact : entry.facts) present_[fact] = 0;
    entry.facts.clear();
    for (uint32_t i : entry.indexes) {
        Index& index = indexes_[i];
        index.entries.clear();
        for (uint32_t slot : index.touched) index.slots[slot] = none;
        index.touched.clear();
    }
}

uint32_t Database::index(const IndexShape& shape) {
    if (by_predicate_.size() <= shape.predicate) by_predicate_.resize(shape.predicate + 1);
    for (uint32_t i : by_predicate_[shape.predicate].indexes)
        if (indexes_[i].shape == shape) return i;
    indexes_.push_back({shape, {}, std::vector<uint32_t>(16, none), {}});
    const auto number = static_cast<uint32_t>(indexes_.size() - 1);
    by_predicate_[shape.predicate].indexes.push_back(number);
    for (Term fact : by_predicate_[shape.predicate].facts) insert_into(indexes_[number], fact);
    return number;
}

uint64_t Database::hash_of(const Index& index, Term fact) const {
    uint64_t hash = 3;
    for (const Path& path : index.shape.keys) hash = mix_hash(hash, follow(bank_, fact, path));
    return hash;
}

bool Database::same_key(const Index& index, Term a, Term b) const {
    for (const Path& path : index.shape.keys)
        if (follow(bank_, a, path) != follow(bank_, b, path)) return false;
    return true;
}

void Database::insert_into(Index& index, Term fact) {
    for (const auto& check : index.shape.checks)
        if (bank_.functor_of(follow(bank_, fact, check.path)) != check.functor) return;
    if ((index.touched.size() + 1) * 2 > index.slots.size()) grow(index);
    const size_t mask = index.slots.size() - 1;
    size_t slot = hash_of(index, fact) & mask;
    while (index.slots[slot] != none &&
           !same_key(index, index.entries[index.slots[slot]].fact, fact))
        slot = (slot + 1) & mask;
    if (index.slots[slot] == none) index.touched.push_back(static_cast<uint32_t>(slot));
    index.entries.push_back({fact, index.slots[slot]});
    index.slots[slot] = static_cast<uint32_t>(index.entries.size() - 1);
    bytes_ += sizeof(Entry);
}

void Database::grow(Index& index) {
    std::vector<uint32_t> old(index.slots.size() * 2, none);
    old.swap(index.slots);
    std::vector<uint32_t> used;
    used.swap(index.touched);
    bytes_ += old.size() * sizeof(uint32_t);
    const size_t mask = index.slots.size() - 1;
    for (uint32_t slot : used) {
        const uint32_t entry = old[slot];
        size_t fresh = hash_of(index, index.entries[entry].fact) & mask;
        while (index.slots[fresh] != none) fresh = (fresh + 1) & mask;
        index.slots[fresh] = entry;
        index.touched.push_back(static_cast<uint32_t>(fresh));
    }
}

uint32_t Database::find(uint32_t number, std::span<const Term> keys) const {
    const Index& index = indexes_[number];
    uint64_t hash = 3;
    for (Term key : keys) hash = mix_hash(hash, key);
    const size_t mask = index.slots.size() - 1;
    for (size_t slot = hash & mask; index.slots[slot] != none; slot = (slot + 1) & mask) {
        const Term first = index.entries[index.slots[slot]].fact;
        bool same = true;
        for (size_t i = 0; i < keys.size() && same; ++i)
            same = follow(bank_, first, index.shape.keys[i]) == keys[i];
        if (same) return index.slots[slot];
    }
    return none;
}

}  // namespace omnilude
