#include "datalog/terms.h"

#include <algorithm>

namespace omnilude {

Functor TermBank::functor(uint32_t symbol, uint32_t arity) {
    const uint64_t hash = mix_hash(mix_hash(1, symbol), arity);
    const uint32_t found = functor_table_.find(hash, [&](uint32_t f) {
        return functors_[f].symbol == symbol && functors_[f].arity == arity;
    });
    if (found != HashTable::none) return found;
    functors_.push_back({symbol, arity});
    functor_table_.insert(hash, static_cast<uint32_t>(functors_.size() - 1));
    return static_cast<Functor>(functors_.size() - 1);
}

Term TermBank::make(Functor functor, std::span<const Term> arguments) {
    uint64_t hash = mix_hash(2, functor);
    for (Term argument : arguments) hash = mix_hash(hash, argument);
    const uint32_t found = table_.find(hash, [&](uint32_t t) {
        return terms_[t].functor == functor &&
               std::equal(arguments.begin(), arguments.end(), pool_.begin() + terms_[t].first);
    });
    if (found != HashTable::none) return found;
    uint32_t depth = 0;
    uint64_t length = name_of(functor).size() + 2;
    for (Term argument : arguments) {
        depth = std::max(depth, terms_[argument].depth + 1);
        length += terms_[argument].length + 1;
    }
    if (length > max_length) throw BudgetExceeded("terms longer than 65536 characters");
    if (depth > max_depth) throw BudgetExceeded("terms nested deeper than 200");
    terms_.push_back(
        {functor, static_cast<uint32_t>(pool_.size()), depth, static_cast<uint32_t>(length)});
    pool_.insert(pool_.end(), arguments.begin(), arguments.end());
    table_.insert(hash, static_cast<uint32_t>(terms_.size() - 1));
    return static_cast<Term>(terms_.size() - 1);
}

std::string TermBank::text(Term term) const {
    const Functor f = functor_of(term);
    if (arity_of(f) == 0) return name_of(f);
    std::string out = "(" + name_of(f);
    for (Term argument : arguments(term)) out += " " + text(argument);
    return out + ")";
}

}  // namespace omnilude
