// Results: who wins, loses or draws, and the ranking that comes of it.
#include <algorithm>
#include <bit>

#include "ludeme/program.h"

namespace omnilude::ludeme {

bool all_passed(const Context& c) {
    const Scalars& k = c.scalars();
    const auto n = c.program.players();
    const PlyMark* marks = c.state.passes();
    const int32_t made = k.plies;
    const auto kept = static_cast<int32_t>(2 * n + 2);
    if (n == 1) return made > 0 && marks[0].pass;
    // As most often: the last ply was no pass, and another player made the one before.
    if (made > 1 && !marks[0].pass && marks[0].mover != marks[1].mover) return false;
    int last = k.mover, run = 0;
    bool pass = false;
    int32_t at = 0;
    for (uint32_t round = 0; round < n; ++round) {
        for (;;) {
            if (at >= made) {
                if (!k.start_moves || at >= kept) return pass;
                // What was placed at the start was placed by nobody, which ends the last round.
                return pass && round + 1 == n;
            }
            if (run > 1) return false;
            const PlyMark mark = marks[at++];
            if (mark.mover != last) {
                if (!pass) return false;
                last = mark.mover;
                run = 0;
                pass = mark.pass;
                break;
            }
            ++run;
            pass = mark.pass;
        }
    }
    return true;
}

namespace {
int lowest_winner(const Context& c) {
    for (uint32_t p = 1; p <= c.program.players(); ++p)
        if (c.scalars().ranking[p] == 1.0f) return static_cast<int>(p);
    return 0;
}

void end_game(Context& c, int winner) {
    c.scalars().over = 1;
    c.scalars().winner = winner;
}

void apply_team_result(Context& c, int team, Outcome outcome) {
    Scalars& k = c.scalars();
    const auto n = c.program.players();
    if (outcome == Outcome::Tie || outcome == Outcome::Abandon || outcome == Outcome::Crash) {
        k.active = 0;
        end_game(c, outcome == Outcome::Tie ? static_cast<int>(n) + 1 : -1);
        return;
    }
    if (outcome != Outcome::Win) return;
    uint32_t members = 0;
    for (uint32_t p = 1; p <= n; ++p)
        if (c.state.team(p) == team) members |= 1u << p;
    k.active &= ~members;
    k.winners = static_cast<uint8_t>(k.winners + std::popcount(members));
    float rank = 1;
    while (std::find(k.ranking + 1, k.ranking + 1 + n, rank) != k.ranking + 1 + n) ++rank;
    for (uint32_t p = 1; p <= n; ++p)
        if (members >> p & 1) k.ranking[p] = rank;
    int left = 0;
    bool one_team = k.active != 0;
    for (uint32_t p = 1; p <= n; ++p)
        if (k.active >> p & 1) {
            if (left == 0) left = c.state.team(p);
            one_team &= c.state.team(p) == left;
        }
    if (one_team && left != 0) {
        for (uint32_t p = 1; p <= n; ++p)
            if (c.state.team(p) == left)
                k.ranking[p] = rank + static_cast<float>(std::popcount(members));
        end_game(c, lowest_winner(c));
    } else if (!k.active) {
        end_game(c, lowest_winner(c));
    }
}

void lose(Context& c, int who) {
    Scalars& k = c.scalars();
    const auto n = static_cast<int>(c.program.players());
    if (!(k.active >> who & 1)) {  // he is out already
        ++k.losses_decided;
        return;
    }
    k.active &= ~(1u << who);
    if (k.next == who && n != 1) {
        for (int p = who % n + 1; p != who; p = p % n + 1)
            if (k.active >> p & 1) {
                k.next = p;
                break;
            }
    }
    if (n == 1) {
        k.active = 0;
        end_game(c, 0);
    } else {
        const auto base = static_cast<float>(n - k.losers);
        const float before = base + 1 + 0.5f * static_cast<float>(k.losses_decided - 1);
        const float rank = before - 0.5f;
        k.ranking[who] = rank;
        ++k.losers;
        for (int p = 1; p <= n; ++p)
            if (k.ranking[p] == before) k.ranking[p] = rank;
        if (!k.active) {
            const int winner = lowest_winner(c);
            if (winner) end_game(c, winner);
        } else if (std::popcount(k.active) == 1) {
            const int other = std::countr_zero(k.active);
            k.ranking[other] = static_cast<float>(k.winners) + 1;
            int best = 1;
            for (int p = 1; p <= n; ++p)
                if (k.ranking[p] < k.ranking[best]) best = p;
            end_game(c, best);
            ++k.winners;
            k.active = 0;
        }
    }
    ++k.losses_decided;
}

void win(Context& c, int who) {
    Scalars& k = c.scalars();
    k.active &= ~(1u << who);
    k.ranking[who] = static_cast<float>(k.winners) + 1;
    ++k.winners;
    if (std::popcount(k.active) == 1) {
        k.ranking[std::countr_zero(k.active)] = k.ranking[who] + 1;
        end_game(c, lowest_winner(c));
    } else if (!k.active) {
        end_game(c, lowest_winner(c));
    }
    ++k.wins_decided;
}
}  // namespace

void apply_result(Context& c, int role, Outcome outcome) {
    Scalars& k = c.scalars();
    const auto n = c.program.players();
    const int who = c.program.id_of(c, role);
    const bool team =
        role >= static_cast<int>(Role::Team1) && role <= static_cast<int>(Role::TeamMover);
    if (team) {
        apply_team_result(c, who, outcome);
        return;
    }
    const bool everybody = who == static_cast<int>(n) + 1;
    auto fill = [&](float rank, bool winners) {
        for (uint32_t p = 1; p <= n; ++p)
            if (k.ranking[p] == 0) {
                k.ranking[p] = rank;
                k.winners = static_cast<uint8_t>(k.winners + winners);
            }
    };
    switch (outcome) {
        case Outcome::Win:
            if (!everybody) {
                win(c, who);
                return;
            }
            if (n > 1) fill(1, true);
            k.active = 0;
            end_game(c, 0);
            return;
        case Outcome::Loss:
            if (!everybody) {
                lose(c, who);
                return;
            }
            if (n > 1) fill(static_cast<float>(n), false);
            k.active = 0;
            end_game(c, 0);
            return;
        case Outcome::Draw: {
            if (n > 1)
                fill((static_cast<float>(std::popcount(k.active)) + 1) / 2 + k.winners, false);
            else
                k.ranking[1] = 0;
            k.active = 0;
            int winner = 0;
            for (uint32_t p = 1; p <= n; ++p)
                if (k.ranking[p] == 1) winner = static_cast<int>(p);
            end_game(c, winner);
            return;
        }
        case Outcome::Tie:
            k.active = 0;
            end_game(c, static_cast<int>(n) + 1);
            return;
        case Outcome::Abandon:
        case Outcome::Crash:
            k.active = 0;
            end_game(c, -1);
            return;
    }
}

void score_game(Context& c, bool misere) {
    Scalars& k = c.scalars();
    const auto n = c.program.players();
    k.active = 0;
    uint32_t left = ((1u << (n + 1)) - 1) & ~1u;
    int ranked = 0, winner = 0;
    while (left) {
        int best = 0;
        uint32_t sharing = 0;
        for (uint32_t p = 1; p <= n; ++p) {
            if (!(left >> p & 1)) continue;
            const int score = c.state.score(p);
            const bool better = misere ? score < best : score > best;
            if (!sharing || better) best = score, sharing = 0;
            if (score == best) sharing |= 1u << p;
        }
        const int sharers = std::popcount(sharing);
        const float rank = static_cast<float>(ranked) + (static_cast<float>(sharers) + 1) / 2;
        for (uint32_t p = 1; p <= n; ++p)
            if (sharing >> p & 1) {
                k.ranking[p] = rank;
                if (rank == 1.0f) winner = static_cast<int>(p);
            }
        ranked += sharers;
        left &= ~sharing;
    }
    if (winner) ++k.winners;
    end_game(c, winner);
}

}  // namespace omnilude::ludeme
