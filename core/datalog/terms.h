// Ground terms, interned: equal terms have equal numbers, so that a fact, a fluent and a move are
// each one 32-bit integer everywhere else in the core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/hash_table.h"

namespace omnilude {

using Term = uint32_t;
using Functor = uint32_t;  // a symbol together with its number of arguments

class TermBank {
  public:
    // Terms nested deeper than this are refused: rules that wrap a fluent in itself at every step
    // would otherwise grow without end.
    static constexpr uint32_t max_depth = 200;
    // So are terms of longer text than this: shared parts make it double at every step.
    static constexpr uint32_t max_length = 1 << 16;

    explicit TermBank(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {}

    Functor functor(uint32_t symbol, uint32_t arity);
    Term make(Functor functor, std::span<const Term> arguments);

    Functor functor_of(Term term) const { return terms_[term].functor; }
    uint32_t arity_of(Functor functor) const { return functors_[functor].arity; }
    const std::string& name_of(Functor functor) const {
        return symbols_[functors_[functor].symbol];
    }
    std::span<const Term> arguments(Term term) const {
        const auto& entry = terms_[term];
        return {pool_.data() + entry.first, functors_[entry.functor].arity};
    }
    Term argument(Term term, uint32_t index) const { return pool_[terms_[term].first + index]; }

    size_t size() const { return terms_.size(); }
    size_t bytes() const {
        return terms_.size() * sizeof(Entry) + pool_.size() * 4 + table_.bytes();
    }

    // Compact KIF: "(f a (g b))", a constant alone without parentheses.
    std::string text(Term term) const;

  private:
    struct FunctorEntry {
        uint32_t symbol, arity;
    };
    struct Entry {
        Functor functor;
        uint32_t first;  // into pool_
        uint32_t depth;
        uint32_t length;  // of its text
    };
    std::vector<std::string> symbols_;
    std::vector<FunctorEntry> functors_;
    HashTable functor_table_;
    std::vector<Entry> terms_;
    std::vector<Term> pool_;
    HashTable table_;
};

}  // namespace omnilude
