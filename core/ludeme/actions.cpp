// What actions do to the state.
#include <algorithm>
#include <array>

#include "ludeme/laps.h"
#include "ludeme/program.h"

namespace omnilude::ludeme {

namespace {

Kind kind_of(uint8_t number) { return static_cast<Kind>(number); }

// A piece moves in a game without stacks.
void move_flat(State& s, int from, int to, const Action& a) {
    const int piece = s.what(from);
    if (s.layout().bare && piece > 0) {
        const int there = s.what(to);
        s.take_bare(from);
        if (there == piece) {
            if (from == to) s.put_bare(to, piece);
            return;
        }
        if (there && from != to) s.take_bare(to);
        s.put_bare(to, piece);
        return;
    }
    const int count = s.count(from);
    if (piece == 0 && count == 0) return;
    const int state = s.state(from), rotation = s.rotation(from), value = s.value(from);
    if (count <= 1)
        s.clear_site(from);
    else
        s.set_site(from, -1, -1, count - 1, -1, -1, -1);
    const int new_state = a.state >= 0 ? a.state : state;
    const int new_rotation = a.rotation >= 0 ? a.rotation : rotation;
    const int new_value = a.value >= 0 ? a.value : value;
    const int there = s.what(to), many = s.count(to);
    const bool counting = s.layout().wants.count;
    if (there == piece && many > 0)
        s.set_site(to, -1, -1, counting ? many + 1 : 1, new_state, new_rotation, new_value);
    else
        s.set_site(to, s.owner_of(piece), piece, 1, new_state, new_rotation, new_value);
    s.move_hidden(from, to);
}

void move_in_stacks(State& s, int from, int to, const Action& a) {
    if (from == to) return;
    const int h = s.height(from);
    if (h == 0) return;
    if (a.stack) {
        for (int level = 0; level < h; ++level) {
            if (a.level_to >= 0)
                s.insert(to, a.level_to, s.what(from, level), a.state, a.rotation, a.value);
            else
                s.push(to, s.what(from, level), a.state >= 0 ? a.state : s.state(from, level),
                       a.rotation >= 0 ? a.rotation : s.rotation(from, level),
                       a.value >= 0 ? a.value : s.value(from, level), true);
        }
        s.remove_stack(from);
        return;
    }
    const int level = a.level_from >= 0 ? a.level_from : h - 1;
    if (level >= h) return;
    const int piece = s.what(from, level);
    const int state = s.state(from, level), rotation = s.rotation(from, level);
    const int value = s.value(from, level);
    if (a.level_from >= 0)
        s.remove_level(from, level);
    else
        s.pop(from);
    if (a.level_to >= 0)
        s.insert(to, a.level_to, piece, a.state, a.rotation, a.value);
    else if (a.level_from >= 0)
        s.push(to, piece, a.state >= 0 ? a.state : state, a.rotation >= 0 ? a.rotation : rotation,
               a.value >= 0 ? a.value : value, true);
    else
        s.push(to, piece, a.state, a.rotation, a.value,
               a.state >= 0 || a.rotation >= 0 || a.value >= 0);
}

void add_piece(State& s, int to, const Action& a) {
    if (s.stacking()) {
        s.push(to, a.what, a.state, a.rotation, a.value,
               a.state >= 0 || a.rotation >= 0 || a.value >= 0);
        return;
    }
    if (s.layout().bare && a.what > 0 && s.empty(to)) {
        s.put_bare(to, a.what);
        return;
    }
    if (s.what(to) == 0) {
        s.set_site(to, a.what > 0 ? s.owner_of(a.what) : 0, a.what, a.count, a.state, a.rotation,
                   a.value);
        return;
    }
    const bool counting = s.layout().wants.count;
    s.set_site(to, -1, -1, counting ? s.count(to) + a.count : 1, a.state, a.rotation, a.value);
}

void move_count(State& s, int from, int to, int count) {
    const int piece = s.what(from), many = s.count(from);
    if (many <= count)
        s.clear_site(from);
    else
        s.set_site(from, -1, -1, many - count, -1, -1, -1);
    const int there = s.count(to);
    if (there == 0)
        s.set_site(to, s.owner_of(piece), piece, count, -1, -1, -1);
    else if (s.what(to) == piece)
        s.set_site(to, -1, -1, there + count, -1, -1, -1);
}

void copy_piece(State& s, int from, int to, const Action& a) {
    if (s.stacking()) {
        move_in_stacks(s, from, to, a);
        if (from != to && s.height(to)) s.push(from, s.what(to), -1, -1, -1, false);
        return;
    }
    const int count = s.count(from);
    move_flat(s, from, to, a);
    const int piece = s.what(to);
    s.set_site(from, s.owner_of(piece), piece, count, s.state(to), s.rotation(to), s.value(to));
}

void move_part(State& s, int from, int to, int count) {
    const int h = s.height(from);
    if (h < count || h == 0) return;
    std::vector<std::array<int, 4>> part;
    for (int level = h - count; level < h; ++level)
        part.push_back({s.what(from, level), s.state(from, level), s.rotation(from, level),
                        s.value(from, level)});
    for (int n = 0; n < count; ++n) s.pop(from);
    for (const auto& [piece, state, rotation, value] : part)
        s.push(to, piece, state, rotation, value, true);
}

void promote(State& s, int to, int piece) {
    if (s.stacking()) {
        s.pop(to);
        s.push(to, piece, -1, -1, -1, false);
        return;
    }
    s.clear_site(to);
    s.set_site(to, s.owner_of(piece), piece, 1, -1, -1, -1);
}

void set_count(State& s, int to, int piece, int count) {
    if (count > 0)
        s.set_site(to, -1, piece, count, -1, -1, -1);
    else
        s.clear_site(to);
}

void vote(Context& c, int choice) {
    Scalars& k = c.scalars();
    NumberList votes = c.state.votes();
    votes.push(choice);
    const auto players = c.program.players();
    if (votes.size() < players) return;
    int best = -1;
    uint32_t most = 0;
    for (uint32_t n = 0; n < votes.size(); ++n) {
        uint32_t same = 0;
        for (uint32_t m = 0; m < votes.size(); ++m) same += votes[m] == votes[n];
        if (same > most) most = same, best = votes[n];
    }
    if (most > players / 2) k.decided = best;
    votes.clear();
    k.proposed = 0;
}

void update_die(Context& c, const Action& a) {
    if (a.count < 0) return;
    const int place = c.state.place(Cell, a.to);
    const int piece = c.state.what(place);
    c.state.set_state(place, -1, a.count);
    c.state.die(static_cast<uint32_t>(a.what)) = c.program.board.face(piece, a.count, 0);
}

// Before a piece moves: a whole stack is not noted.
void note_piece_moved(Context& c, const Action& a, int from) {
    const State& s = c.state;
    if (a.stack || (s.stacking() && a.from == a.to)) return;
    if (!s.stacking() && s.what(from) == 0 && s.count(from) == 0) return;
    const bool level = s.stacking() && a.level_from >= 0;
    note_move(c, level ? s.what(from, a.level_from) : s.what(from), a.from, a.to, 1);
}

void perform(Context& c, const Action& a) {
    ++c.changes;
    State& s = c.state;
    Scalars& k = c.scalars();
    auto place_from = [&] { return s.place_anywhere(kind_of(a.kind_from), a.from); };
    auto place_to = [&] { return s.place_anywhere(kind_of(a.kind_to), a.to); };
    switch (a.act) {
        case Act::Nested:
        case Act::Pass:
        case Act::Select:
        case Act::Note:
            return;
        case Act::Move: {
            const int from = place_from(), to = place_to();
            if (from < 0 || to < 0) return;
            if (c.program.wants.laps) note_piece_moved(c, a, from);
            if (s.stacking())
                move_in_stacks(s, from, to, a);
            else
                move_flat(s, from, to, a);
            return;
        }
        case Act::MoveCount: {
            const int from = place_from(), to = place_to();
            if (from < 0 || to < 0) return;
            if (c.program.wants.laps) note_move(c, s.what(from), a.from, a.to, a.count);
            move_count(s, from, to, a.count);
            return;
        }
        case Act::MovePart: {
            const int from = place_from(), to = place_to();
            if (from >= 0 && to >= 0) move_part(s, from, to, a.count);
            return;
        }
        case Act::Copy: {
            const int from = place_from(), to = place_to();
            if (from < 0 || to < 0) return;
            if (c.program.wants.laps) note_piece_moved(c, a, from);
            copy_piece(s, from, to, a);
            return;
        }
        case Act::Add:
            if (const int to = place_to(); to >= 0) {
                if (c.program.wants.laps)
                    note_arrival(c, a.what, a.to, s.stacking() ? 2 * a.count : a.count);
                add_piece(s, to, a);
            }
            return;
        case Act::Insert:
            if (const int to = place_to(); to >= 0) {
                if (c.program.wants.laps) note_arrival(c, a.what, a.to, 1);
                s.insert(to, a.level_to, a.what, a.state, a.rotation, a.value);
            }
            return;
        case Act::Remove: {
            const int to = place_to();
            if (to < 0) return;
            if (c.program.wants.laps)
                note_removal(c, a.level_to >= 0 ? s.what(to, a.level_to) : s.what(to), a.to);
            if (s.layout().bare && s.what(to) > 0)
                s.take_bare(to);
            else if (!s.stacking())
                s.clear_site(to);
            else if (a.level_to >= 0)
                s.remove_level(to, a.level_to);
            else
                s.pop(to);
            return;
        }
        case Act::RemoveLater:
            s.to_clear().push(a.to);
            return;
        case Act::Promote:
            if (const int to = place_to(); to >= 0) promote(s, to, a.what);
            return;
        case Act::Swap:
            for (uint32_t agent = 1; agent <= c.program.players(); ++agent) {
                if (s.colour(agent) == a.what)
                    s.colour(agent) = a.count;
                else if (s.colour(agent) == a.count)
                    s.colour(agent) = a.what;
            }
            return;
        case Act::Propose:
            k.proposed |= 1u << a.what;
            return;
        case Act::Vote:
            vote(c, a.what);
            return;
        case Act::Bet:
        case Act::SetAmount:
            s.amount(static_cast<uint32_t>(a.what)) = a.count;
            return;
        case Act::SetPot:
            k.pot = a.count;
            return;
        case Act::SetState:
            if (const int to = place_to(); to >= 0) s.set_state(to, a.level_to, a.count);
            return;
        case Act::SetRotation:
            if (const int to = place_to(); to >= 0) s.set_rotation(to, a.level_to, a.count);
            return;
        case Act::SetValue:
            if (const int to = place_to(); to >= 0) s.set_value(to, a.level_to, a.count);
            return;
        case Act::SetCount:
            if (const int to = place_to(); to >= 0) {
                if (c.program.wants.laps && a.count <= 0) note_removal(c, s.what(to), a.to);
                set_count(s, to, a.what, a.count);
            }
            return;
        case Act::SetNextPlayer:
            k.next = a.what;
            return;
        case Act::SetScore:
            s.score(static_cast<uint32_t>(a.what)) = a.count;
            return;
        case Act::AddScore:
            s.score(static_cast<uint32_t>(a.what)) += a.count;
            return;
        case Act::SetCounter:
            k.counter = a.count;
            return;
        case Act::SetHidden:
            if (const int to = place_to(); to >= 0)
                s.hide(static_cast<uint32_t>(a.what), to, a.count, a.value != 0);
            return;
        case Act::SetVariable:
            s.variable(static_cast<uint32_t>(a.what)) = a.count;
            return;
        case Act::SetTemp:
            k.temp = a.count;
            return;
        case Act::SetPending: {
            NumberList pending = s.pending();
            const int value = a.count == -1 ? 1 : a.count;
            if (!pending.has(value)) pending.push(value);
            return;
        }
        case Act::SetPlayerValue:
            s.player_value(static_cast<uint32_t>(a.what)) = a.count;
            return;
        case Act::SetTeam:
            s.team(static_cast<uint32_t>(a.what)) = a.count;
            return;
        case Act::Remember:
            s.remembered(static_cast<uint32_t>(a.what)).push(a.count);
            return;
        case Act::Forget:
            s.remembered(static_cast<uint32_t>(a.what)).erase_first(a.count);
            return;
        case Act::StoreState:
            s.stored_hash() = s.position_hash();
            return;
        case Act::Trigger:
            k.triggered |= 1u << a.what;
            return;
        case Act::UpdateDie:
            update_die(c, a);
            return;
        case Act::UseDie:
            s.die(static_cast<uint32_t>(a.what)) = 0;
            return;
        case Act::SetDiceEqual:
            k.dice_equal = a.count != 0;
            return;
    }
}

void note(Applied& applied, const Action& a) {
    applied.next_set |= a.act == Act::SetNextPlayer;
    const bool pass = a.act == Act::Pass, swap = a.act == Act::Swap;
    applied.pass |= pass;
    applied.swap |= swap;
    if (a.decision) {
        if (!pass) applied.other_decision = true;
        if (!swap) applied.beside_swap = true;
        if (!applied.decided) {
            applied.decided = true;
            applied.level_from = a.level_from, applied.level_to = a.level_to;
            applied.kind_from = a.kind_from, applied.kind_to = a.kind_to;
        }
    }
    if (a.from != off) applied.from_after = a.from;
    if (a.to != off) applied.to_after = a.to;
}

bool removes(Context& c, uint32_t flat, int site) {
    for (uint32_t n = c.arena.move(flat).first_action; n != none; n = c.arena.action(n).next) {
        const Action& a = c.arena.action(n);
        if (a.act == Act::Remove && a.to == site && a.kind_to == c.program.board.kind &&
            a.level_to < 0)
            return true;
    }
    return false;
}

// Pieces that were taken during the turn leave the board now.
void clear_captured(Context& c, Applied& applied, uint32_t flat) {
    State& s = c.state;
    NumberList waiting = s.to_clear();
    if (waiting.size() == 0) return;
    const Kind kind = c.program.board.kind;
    Action gone;
    gone.act = Act::Remove;
    gone.kind_from = gone.kind_to = kind;
    if (!s.stacking()) {
        for (uint32_t n = 0; n < waiting.size(); ++n) {
            gone.from = gone.to = static_cast<int16_t>(waiting[n]);
            if (removes(c, flat, waiting[n])) continue;
            perform(c, gone);
            note(applied, gone);
            c.arena.prepend_action(flat, gone);
        }
    } else {
        std::vector<int32_t> sites;
        for (uint32_t n = 0; n < waiting.size(); ++n) sites.push_back(waiting[n]);
        std::sort(sites.begin(), sites.end());
        for (size_t n = 0; n < sites.size();) {
            size_t m = n;
            while (m < sites.size() && sites[m] == sites[n]) ++m;
            const int height = s.height(s.place(kind, sites[n]));
            for (int level = std::min(static_cast<int>(m - n), height) - 1; level >= 0; --level) {
                gone.from = gone.to = static_cast<int16_t>(sites[n]);
                gone.level_from = gone.level_to = static_cast<int16_t>(level);
                perform(c, gone);
                note(applied, gone);
                c.arena.prepend_action(flat, gone);
            }
            n = m;
        }
    }
    waiting.clear();
}

void store_last(Context& c, int from, int to, const Applied& applied) {
    Scalars& k = c.scalars();
    k.last_from = from;
    k.last_to = to;
    k.last_level_from = std::max(0, applied.level_from);
    k.last_level_to = std::max(0, applied.level_to);
    k.last_from_after = applied.from_after;
    k.last_to_after = applied.to_after;
    k.last_pass = applied.pass && !applied.other_decision;
    k.last_kind_from = applied.kind_from;
    k.last_kind_to = applied.kind_to;
}

}  // namespace

namespace {
// Everything that a generator has now is done, one move after another.
void follow(Context& c, const MovesNode& node, Applied& applied, uint32_t flat) {
    if (flat == none && node.act(c, applied)) return;
    MoveList list;
    node.eval(c, list);
    for (uint32_t m = list.first; m != none;) {
        const uint32_t next = c.arena.move(m).next;
        apply_move(c, m, false, applied, flat);
        m = next;
    }
}
}  // namespace

namespace {
void finish_single(Context& c, const Single& single, Applied& applied) {
    note(applied, single.action);
    store_last(c, single.from, single.to, applied);
    if (single.following == 0) return;
    for (int n = 0; n < single.following; ++n) follow(c, *single.follows[n], applied, none);
    store_last(c, single.from, single.to, applied);
}
}  // namespace

void apply_single(Context& c, const Single& single, Applied& applied) {
    perform(c, single.action);
    finish_single(c, single, applied);
}

void fill_site(Context& c, Single& single, int site, Applied& applied) {
    single.from = single.to = site;
    single.action.from = single.action.to = static_cast<int16_t>(site);
    ++c.changes;
    c.state.put_bare(site, single.action.what);
    finish_single(c, single, applied);
}

void apply_move(Context& c, uint32_t move, bool stored, Applied& applied, uint32_t flat) {
    const bool sequence = stored && c.program.wants.to_clear;
    if (sequence && flat == none) flat = c.arena.add_move();
    for (uint32_t n = c.arena.move(move).first_action; n != none;) {
        const Action& a = c.arena.action(n);
        n = a.next;
        if (a.act == Act::Nested) {
            apply_move(c, a.nested, false, applied, flat);
            continue;
        }
        perform(c, a);
        note(applied, a);
        if (flat != none) c.arena.append_action(flat, a);
    }
    const Move& m = c.arena.move(move);
    const uint32_t first_then = m.first_then;
    const int from = m.from, to = m.to;
    if (stored) store_last(c, from, to, applied);
    if (first_then == none && !sequence) return;
    for (uint32_t n = first_then; n != none;) {
        const Arena::Follow item = c.arena.follow(n);
        n = item.next;
        follow(c, *item.node, applied, flat);
    }
    if (sequence && !applied.next_set) clear_captured(c, applied, flat);
    if (stored) store_last(c, from, to, applied);
}

}  // namespace omnilude::ludeme
