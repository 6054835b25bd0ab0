// Who is meant by a role.
#include "ludeme/program.h"

namespace omnilude::ludeme {

int Program::find_id(const Context& c, int role) const {
    const Scalars& k = c.scalars();
    if (role <= 16) return role;
    if (role < static_cast<int>(Role::TeamMover)) return role - static_cast<int>(Role::Team1) + 1;
    switch (static_cast<Role>(role)) {
        case Role::TeamMover:
            return has_teams() ? c.state.team(static_cast<uint32_t>(k.mover)) : -1;
        case Role::Each:
        case Role::Shared:
        case Role::All:
            return static_cast<int>(players()) + 1;
        case Role::Mover:
            return k.mover;
        case Role::Next:
            return k.next;
        case Role::Previous:
            return k.previous;
        case Role::Player:
            return c.registers.player;
        default:
            return -1;
    }
}

uint32_t Program::ids_of(const Context& c, int role) const {
    const auto n = players();
    const auto mover = static_cast<uint32_t>(c.scalars().mover);
    auto team_of = [&](uint32_t player) { return has_teams() ? c.state.team(player) : -1; };
    auto members = [&](int team) {
        uint32_t bits = 0;
        for (uint32_t p = 1; p <= n; ++p)
            if (team_of(p) == team) bits |= 1u << p;
        return bits;
    };
    const uint32_t everybody = ((1u << (n + 1)) - 1) & ~1u;  // players
    if (role > 16 && role < static_cast<int>(Role::TeamMover)) {
        const int team = role - static_cast<int>(Role::Team1) + 1;
        return has_teams() ? members(team) : 1u << team;
    }
    switch (role > 16 ? static_cast<Role>(role) : Role::Neutral) {
        case Role::TeamMover:
            return has_teams() ? members(team_of(mover)) : 1u << mover;
        case Role::All:
            return everybody | 1u | 1u << (n + 1);
        case Role::NonMover:
            return (everybody | 1u) & ~(1u << mover);
        case Role::Enemy:
            return everybody & ~(1u << mover) & ~(has_teams() ? members(team_of(mover)) : 0);
        case Role::Friend:
            return has_teams() ? members(team_of(mover)) : 1u << mover;
        case Role::Ally:
            return has_teams() ? members(team_of(mover)) & ~(1u << mover) : 0;
        default: {
            const int id = id_of(c, role);
            return id >= 0 ? 1u << id : 0;
        }
    }
}

}  // namespace omnilude::ludeme
