// What follows from the rules alone, whatever the position: computed once, exactly.
#pragma once

#include "datalog/join.h"

namespace omnilude {

inline void derive_static_facts(const Program& program, const Database& database, Joiner& joiner,
                                const Budget& budget) {
    uint64_t derived = 0;
    for (uint32_t s = 0; s < program.strata.size(); ++s) {
        if (program.strata[s].stage != Stratum::Stage::Static) continue;
        const Joiner::Group group = joiner.prepare({&s, 1}, [](Functor) { return false; });
        joiner.run(group, [&](const Rule&, Term head, std::span<const Term>) {
            joiner.add(head);
            if (++derived % 4096 == 0) budget.check_bytes(program.bank.bytes() + database.bytes());
        });
    }
}

}  // namespace omnilude
