// The small things that everything else stands on.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "base/hash_table.h"
#include "base/random.h"
#include "base/transpose.h"
#include "testing.h"

using namespace omnilude;

TEST(hash_table_finds_what_was_put_in) {
    std::vector<uint64_t> keys;
    HashTable table;
    CHECK(table.find(1, [](uint32_t) { return true; }) == HashTable::none);
    RandomStream random(1, 0);
    for (uint32_t i = 0; i < 20000; ++i) {
        // Few distinct hashes, so that chains of equal ones are long.
        const uint64_t key = random.below(1'000'000), hash = mix_hash(3, key % 5000);
        auto equal = [&](uint32_t n) { return keys[n] == key; };
        const uint32_t found = table.find(hash, equal);
        bool known = false;
        if (found != HashTable::none) known = keys[found] == key;
        CHECK(known == (found != HashTable::none));
        if (known) continue;
        keys.push_back(key);
        table.insert(hash, static_cast<uint32_t>(keys.size() - 1));
        CHECK(table.find(hash, equal) == keys.size() - 1);
    }
    CHECK(table.size() == keys.size());
    CHECK(std::set<uint64_t>(keys.begin(), keys.end()).size() == keys.size());
    for (uint32_t n = 0; n < keys.size(); ++n)
        CHECK(table.find(mix_hash(3, keys[n] % 5000),
                         [&](uint32_t m) { return keys[m] == keys[n]; }) == n);
}

TEST(hash_table_survives_equal_hashes) {
    HashTable table;
    for (uint32_t i = 0; i < 500; ++i) table.insert(42, i);
    for (uint32_t i = 0; i < 500; ++i)
        CHECK(table.find(42, [&](uint32_t n) { return n == i; }) == i);
    CHECK(table.find(43, [](uint32_t) { return true; }) == HashTable::none);
}

TEST(transpose_swaps_rows_and_columns) {
    RandomStream random(2, 0);
    std::array<uint64_t, 64> rows, turned;
    for (int round = 0; round < 50; ++round) {
        for (auto& row : rows) row = random.below(UINT64_MAX) ^ (random.below(2) << 63);
        turned = rows;
        transpose64(turned.data());
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) CHECK((rows[i] >> j & 1) == (turned[j] >> i & 1));
        transpose64(turned.data());
        CHECK(turned == rows);
    }
}

TEST(random_numbers_below_a_bound_are_uniform) {
    for (uint64_t bound : {1, 2, 3, 7, 10, 64, 100}) {
        RandomStream random(5, bound);
        std::vector<double> counts(bound, 0);
        const double expected = 2000;
        for (uint64_t i = 0; i < bound * 2000; ++i) {
            const uint64_t value = random.below(bound);
            CHECK(value < bound);
            ++counts[value];
        }
        double chi_square = 0;
        for (double n : counts) chi_square += (n - expected) * (n - expected) / expected;
        const double freedom = static_cast<double>(bound) - 1;
        CHECK(chi_square <= freedom + 5 * std::sqrt(2 * freedom) + 5);
    }
}

// The same numbers as in tests/test_search_reference.py: the reference search draws them too.
TEST(random_streams_are_those_of_the_reference) {
    RandomStream random(1, 2);
    for (uint64_t expected : {828, 882, 421, 217, 963, 971, 563, 610})
        CHECK(random.below(1000) == expected);
    CHECK(random.below(uint64_t{3} << 62) == 10551732876988249698u);
    auto near = [](double found, double expected) { return std::abs(found - expected) < 1e-12; };
    CHECK(near(random.uniform(), 0.9845159310870041));
    CHECK(near(random.gumbel(), -0.509758656569772));
    CHECK(near(random.normal(), 0.4365733300275538));
    CHECK(near(random.gamma(0.5), 0.5846238148893287));
    CHECK(near(random.gamma(3), 2.498006791705003));
    RandomStream last(12345678901234567890u, UINT64_MAX);
    for (uint64_t expected : {1, 3, 6, 1, 4, 2, 0, 4}) CHECK(last.below(7) == expected);
    for (uint64_t expected : {11584902417961987032u, 524088977987450133u, 6098459824425200982u})
        CHECK(last.below(uint64_t{3} << 62) == expected);
}

TEST(random_streams_are_reproducible_and_differ) {
    std::set<uint64_t> seen;
    for (uint64_t seed = 0; seed < 20; ++seed)
        for (uint64_t stream = 0; stream < 20; ++stream) {
            RandomStream a(seed, stream), b(seed, stream);
            const uint64_t first = a.below(UINT64_MAX);
            CHECK(first == b.below(UINT64_MAX));
            CHECK(a.below(1000) == b.below(1000));
            seen.insert(first);
        }
    CHECK(seen.size() == 400);
}

// Flipping one bit of counter or key flips each bit of the result in about half of the cases.
TEST(random_elements_mix_their_inputs) {
    RandomStream random(7, 0);
    constexpr int rounds = 4000;
    const double slack = 6 * std::sqrt(rounds * 0.25);
    for (int input = 0; input < 96; ++input) {
        std::array<int, 32> flips{};
        for (int round = 0; round < rounds; ++round) {
            uint32_t in[3];
            for (auto& x : in) x = static_cast<uint32_t>(random.below(uint64_t{1} << 32));
            const uint32_t before = random_element(in[0], in[1], in[2]);
            in[input / 32] ^= 1u << (input % 32);
            const uint32_t changed = before ^ random_element(in[0], in[1], in[2]);
            for (int bit = 0; bit < 32; ++bit) flips[bit] += changed >> bit & 1;
        }
        // The last part of the key passes one multiplication only, which moves bits upwards.
        const bool late = input >= 64;
        double mean = 0;
        for (int bit = 0; bit < 32; ++bit) {
            mean += flips[bit] / 32.0;
            if (!late) CHECK(std::abs(flips[bit] - rounds / 2) < slack * 6);
        }
        CHECK(mean > rounds * 0.02);
    }
}

// Neighbouring counters give bits that look independent: what lanes draw in successive steps.
TEST(random_elements_of_successive_counters_are_uncorrelated) {
    RandomStream random(8, 0);
    constexpr uint32_t length = 1 << 16;
    const double limit = 6 * std::sqrt(32.0 * length * 0.25);
    for (int trial = 0; trial < 4; ++trial) {
        const auto key1 = static_cast<uint32_t>(random.below(uint64_t{1} << 32));
        const auto key2 = static_cast<uint32_t>(random.below(uint64_t{1} << 32));
        for (uint32_t distance : {1u, 2u, 3u, 4u, 8u, 64u}) {
            int64_t equal = 0, ones = 0;
            for (uint32_t c = 0; c < length; ++c) {
                const uint32_t x = random_element(c, key1, key2);
                equal += std::popcount(~(x ^ random_element(c + distance, key1, key2)));
                ones += std::popcount(x);
            }
            CHECK(std::abs(static_cast<double>(equal) - 16.0 * length) < limit);
            CHECK(std::abs(static_cast<double>(ones) - 16.0 * length) < limit);
        }
    }
}
