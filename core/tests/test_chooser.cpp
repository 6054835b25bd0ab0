// Every rank chooses its own candidate: exhaustively for few candidates, at random for many.
#include <bit>
#include <map>

#include "base/random.h"
#include "circuit/chooser.h"
#include "evaluation.h"
#include "testing.h"

using namespace omnilude;
using namespace omnilude::testing;

namespace {

struct Tried {
    Graph graph;
    std::vector<Wire> candidates;
    Chooser chooser;
    explicit Tried(size_t n) {
        for (size_t i = 0; i < n; ++i) candidates.push_back(graph.variable());
        chooser = make_chooser(graph, candidates);
        CHECK(chooser.selected.size() == n && chooser.rank.size() == chooser.top_rank.size());
        CHECK(chooser.mask.size() == chooser.rank.size());
    }

    static uint64_t number(const Values& values, const std::vector<Wire>& bits) {
        uint64_t out = 0;
        for (size_t i = 0; i < bits.size(); ++i) out |= (value_of(values, bits[i]) & 1) << i;
        return out;
    }

    // One lane: these candidates are true, and this is the rank.
    Values run(const std::vector<bool>& held, uint64_t rank) const {
        Values values(graph.size(), 0);
        for (size_t i = 0; i < held.size(); ++i) values[node_of(candidates[i])] = held[i];
        for (size_t i = 0; i < chooser.rank.size(); ++i)
            values[node_of(chooser.rank[i])] = rank >> i & 1;
        evaluate(graph, {}, values);
        return values;
    }

    void check(const std::vector<bool>& held) const {
        std::vector<size_t> true_ones;
        for (size_t i = 0; i < held.size(); ++i)
            if (held[i]) true_ones.push_back(i);
        const uint64_t count = true_ones.size();
        if (count == 0) {
            const Values values = run(held, 0);
            CHECK(value_of(values, chooser.none) & 1);
            // Any rank is accepted at once, or drawing would never end.
            for (Wire w : chooser.top_rank) CHECK(value_of(values, w) & 1);
            return;
        }
        for (uint64_t rank = 0; rank < count; ++rank) {
            const Values values = run(held, rank);
            CHECK((value_of(values, chooser.none) & 1) == 0);
            if (held.size() > 1) {
                CHECK(number(values, chooser.top_rank) == count - 1);
                CHECK(number(values, chooser.mask) == std::bit_ceil(count) - 1);
            }
            for (size_t i = 0; i < held.size(); ++i)
                CHECK((value_of(values, chooser.selected[i]) & 1) == (i == true_ones[rank]));
        }
    }
};

}  // namespace

TEST(choosers_of_up_to_eight_candidates) {
    for (size_t n = 1; n <= 8; ++n) {
        const Tried tried(n);
        for (uint32_t set = 0; set < 1u << n; ++set) {
            std::vector<bool> held;
            for (size_t i = 0; i < n; ++i) held.push_back(set >> i & 1);
            tried.check(held);
        }
    }
}

TEST(choosers_of_many_candidates) {
    RandomStream random(1, 0);
    for (size_t n : {9, 15, 16, 17, 31, 33, 47, 64, 65, 100, 129}) {
        const Tried tried(n);
        for (uint64_t density = 1; density <= 8; ++density) {
            std::vector<bool> held;
            for (size_t i = 0; i < n; ++i) held.push_back(random.below(8) < density);
            tried.check(held);
        }
    }
}

// Candidates need not be variables: constants, equal and opposite wires.
TEST(choosers_of_constants_and_equal_wires) {
    Graph graph;
    const Wire a = graph.variable();
    const std::vector<Wire> candidates{a, wire_true, negate(a), wire_false, a};
    const Chooser chooser = make_chooser(graph, candidates);
    for (uint64_t held : {0, 1}) {
        std::vector<size_t> true_ones =
            held ? std::vector<size_t>{0, 1, 4} : std::vector<size_t>{1, 2};
        for (uint64_t rank = 0; rank < true_ones.size(); ++rank) {
            Values values(graph.size(), 0);
            values[node_of(a)] = held;
            for (size_t i = 0; i < chooser.rank.size(); ++i)
                values[node_of(chooser.rank[i])] = rank >> i & 1;
            evaluate(graph, {}, values);
            for (size_t i = 0; i < candidates.size(); ++i)
                CHECK((value_of(values, chooser.selected[i]) & 1) == (i == true_ones[rank]));
        }
    }
}
