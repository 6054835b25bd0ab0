// The course of a game: legal moves, one ply after another, phases and ends.
#include <algorithm>
#include <cstring>

#include "ludeme/building.h"

namespace omnilude::ludeme {

Context::Context(const Program& p, uint8_t* block, Arena& a, RandomStream* r, uint8_t* records)
    : program(p), state(block, p.layout, p.board, records), arena(a), random(r) {}

bool RegionNode::contains(Context& c, int site) const {
    if (site < 0 || static_cast<uint32_t>(site) >= c.program.words() * 64) return false;
    SiteSet sites;
    eval(c, sites);
    return sites.has(static_cast<uint32_t>(site));
}

uint32_t RegionNode::count(Context& c) const {
    SiteSet sites;
    eval(c, sites);
    return sites.count(c.program.words());
}

int RegionNode::nth(Context& c, uint32_t n) const {
    SiteSet sites;
    eval(c, sites);
    return sites.nth(n, c.program.words());
}

namespace {
// Whether a generator has a move that passes, found by drawing one number after another where that
// can be done: the first move that is found is enough.
template <class Passes>
bool has_move(const MovesNode& node, Context& c, Passes&& passes) {
    const Arena::Mark mark = c.arena.mark();
    const int64_t numbers = node.draws(c);
    const Registers before = c.registers;
    bool found = false;
    for (int64_t n = 0; n < numbers && !found; ++n) {
        MoveList one;
        found = node.draw(c, n, one) && passes(one.first);
        c.registers = before;
        c.arena.release(mark);
    }
    if (numbers < 0) {
        MoveList list;
        node.eval(c, list);
        for (uint32_t m = list.first; m != none && !found; m = c.arena.move(m).next)
            found = passes(m);
        c.arena.release(mark);
    }
    return found;
}
}  // namespace

bool MovesNode::any(Context& c) const {
    return has_move(*this, c, [](uint32_t) { return true; });
}

bool MovesNode::can_move(Context& c) const {
    if (!c.program.meta.forbids()) return any(c);
    return has_move(*this, c, [&](uint32_t move) { return c.program.passes_meta(c, move); });
}

bool MovesNode::can_move_to(Context& c, int site) const {
    const Arena::Mark mark = c.arena.mark();
    MoveList found;
    eval(c, found);
    bool can = false;
    for (uint32_t m = found.first; m != none && !can; m = c.arena.move(m).next)
        can = c.arena.move(m).to == site;
    c.arena.release(mark);
    return can;
}

// --- legal moves ---

namespace {
// Whether a move passes: some action does, and nothing else was chosen.
void look_for_pass(Context& c, uint32_t move, bool& pass, bool& other) {
    for (uint32_t n = c.arena.move(move).first_action; n != none; n = c.arena.action(n).next) {
        const Action& a = c.arena.action(n);
        if (a.act == Act::Nested)
            look_for_pass(c, a.nested, pass, other);
        else if (a.act == Act::Pass)
            pass = true;
        else if (a.decision)
            other = true;
    }
}

bool is_pass(Context& c, uint32_t move) {
    bool pass = false, other = false;
    look_for_pass(c, move, pass, other);
    return pass && !other;
}
}  // namespace

bool Program::passes_meta(Context& c, uint32_t move) const {
    if (!meta.forbids() || is_pass(c, move)) return true;
    const Arena::Mark mark = c.arena.mark();
    bool fine = true;
    if (meta.no_repeat()) {
        Trial trial(c);
        trial.context.threat_test = trial.context.no_moves_test = false;
        Applied applied;
        apply_move(trial.context, move, true, applied);
        const State& s = trial.context.state;
        if (meta.repeat_positional) fine &= !s.recorded(s.position_hash(), false);
        if (meta.repeat_situational) fine &= !s.recorded(s.situation_hash(), false);
        if (meta.repeat_positional_turn) fine &= !s.recorded(s.position_hash(), true);
        if (meta.repeat_situational_turn) fine &= !s.recorded(s.situation_hash(), true);
    }
    if (fine && meta.no_suicide) {
        Trial trial(c, Trial::Plies);
        apply(trial.context, move);
        const Scalars& k = trial.context.scalars();
        const auto mover = static_cast<uint32_t>(c.scalars().mover);
        fine = (k.active >> mover & 1) || k.losers == 0;
    }
    c.arena.release(mark);
    return fine;
}

namespace {
// The mover of the latest ply that was not made by the current mover; 0: what was placed at the
// start; -1: nobody's.
int other_mover(const Context& c) {
    const Scalars& k = c.scalars();
    const PlyMark* marks = c.state.passes();
    const auto kept = std::min<int32_t>(k.plies, static_cast<int32_t>(2 * c.program.players() + 2));
    for (int32_t n = 0; n < kept; ++n)
        if (marks[n].mover != k.mover) return marks[n].mover;
    return k.start_moves ? 0 : -1;
}
}  // namespace

uint32_t Program::make_swap(Context& c) const {
    const Scalars& k = c.scalars();
    if (!meta.swap || k.plies != static_cast<int32_t>(players()) - 1) return none;
    const int other = other_mover(c);
    if (other < 0 || other == k.mover) return none;
    Action swap;
    swap.act = Act::Swap;
    swap.decision = true;
    swap.what = k.mover;
    swap.count = other;
    const uint32_t move = c.arena.make_move(swap);
    Action again;
    again.act = Act::SetNextPlayer;
    again.what = k.mover;
    c.arena.append_action(move, again);
    c.arena.move(move).mover = static_cast<int16_t>(k.mover);
    return move;
}

void Program::legal_moves(Context& c, MoveList& out) const {
    Scalars& k = c.scalars();
    if (k.over) return;
    const Phase& phase = phases[static_cast<size_t>(c.state.phase(static_cast<uint32_t>(k.mover)))];
    MoveList found;
    phase.play->eval(c, found);
    if (const uint32_t swap = make_swap(c); swap != none) c.arena.append(found, swap);
    if (meta.forbids()) {
        for (uint32_t m = found.first; m != none;) {
            const uint32_t next = c.arena.move(m).next;
            if (passes_meta(c, m)) c.arena.append(out, m);
            m = next;
        }
    } else {
        c.arena.concatenate(out, found);
    }
    if (out.empty()) {
        Action pass;
        pass.decision = true;
        const uint32_t move = c.arena.make_move(pass);
        c.arena.move(move).mover = static_cast<int16_t>(k.mover);
        c.arena.move(move).forced = true;
        c.arena.append(out, move);
    }
    if (k.active) k.stalemated &= ~(1u << k.mover);
}

void Program::compute_stalemate(Context& c) const {
    Scalars& k = c.scalars();
    if (!k.active) return;
    const auto mover = static_cast<uint32_t>(k.mover);
    const bool swap = meta.swap && k.plies == static_cast<int32_t>(players()) - 1;
    const Phase& phase = phases[static_cast<size_t>(c.state.phase(mover))];
    const bool can = swap || phase.play->can_move(c);
    k.stalemated = can ? k.stalemated & ~(1u << mover) : k.stalemated | 1u << mover;
}

// --- one ply ---

void Program::begin_ply(Context& c, int from, bool passing) const {
    Scalars& k = c.scalars();
    k.decided = -1;
    if (passing && !(k.stalemated >> k.mover & 1)) compute_stalemate(c);
    if (wants.pending) c.state.pending().clear();
    if (k.turn_plies == 0) k.turn_from = from;
    // The ply counts from now on: consequences and ends see it as made.
    ++k.plies;
    PlyMark* marks = c.state.passes();
    const uint32_t kept = 2 * players() + 2;
    if (kept == 6) {  // without a call, for two players
        PlyMark before[5];
        std::memcpy(before, marks, sizeof before);
        std::memcpy(marks + 1, before, sizeof before);
    } else {
        std::memmove(marks + 1, marks, (kept - 1) * sizeof(PlyMark));
    }
    marks[0] = {static_cast<uint8_t>(k.mover), static_cast<uint8_t>(passing)};
}

void Program::apply(Context& c, uint32_t move, uint32_t flat) const {
    const int mover = c.scalars().mover;
    const int from = c.arena.move(move).from, to = c.arena.move(move).to;
    begin_ply(c, from, is_pass(c, move));
    Applied applied;
    apply_move(c, move, true, applied, flat);
    end_ply(c, mover, applied, from, to);
}

void Program::apply(Context& c, const Single& single) const {
    const int mover = c.scalars().mover;
    begin_ply(c, single.from, single.action.act == Act::Pass);
    Applied applied;
    apply_single(c, single, applied);
    end_ply(c, mover, applied, single.from, single.to);
}

void Program::end_ply(Context& c, int mover, const Applied& applied, int from, int to) const {
    Scalars& k = c.scalars();
    ++c.changes;
    k.rolled = 0;
    const bool pass = applied.pass && !applied.other_decision;
    c.state.passes()[0].pass = pass;
    test_ends(c);
    if (!k.active)
        k.previous = mover;
    else if (phases_change)
        update_phases(c);
    ++k.counter;
    if (records) record_position(c);
    if (k.active) finish_ply(c, mover, pass, applied.swap && !applied.beside_swap, from, to);
}

void Program::finish_ply(Context& c, int mover, bool pass, bool swap, int from, int to) const {
    Scalars& k = c.scalars();
    if (wants.visited) {
        if (k.mover != k.next) {
            c.state.clear_visited();
        } else {
            c.state.visit(from);
            c.state.visit(to);
        }
    }
    k.previous = mover;
    k.mover = k.next;
    if (k.previous == k.mover && !swap) {
        ++k.turn_plies;
    } else {
        k.turn_plies = 0;
        ++k.turn;
    }
    const auto n = static_cast<int>(players());
    int next = k.mover % n + 1;
    for (int tried = 0; tried < n && !(k.active >> next & 1); ++tried) next = next % n + 1;
    k.next = next;
    k.passes = pass ? k.passes + 1 : 0;
}

void Program::record_position(Context& c) const {
    const Scalars& k = c.scalars();
    State& s = c.state;
    const bool first = k.mover != k.previous;
    if (meta.repeat_positional && first)
        s.record(s.position_hash(), false);
    else if (meta.cycle)
        s.record(s.position_hash(), false);
    if (meta.repeat_situational && first) s.record(s.situation_hash(), false);
    if (meta.repeat_positional_turn || meta.repeat_situational_turn) {
        if (first) s.clear_turn_record();
        s.record(meta.repeat_positional_turn ? s.position_hash() : s.situation_hash(), true);
    }
}

void Program::update_phases(Context& c) const {
    const auto n = players();
    const Scalars& k = c.scalars();
    for (uint32_t p = 1; p <= n; ++p) {
        for (const Phase::Next& next : phases[static_cast<size_t>(c.state.phase(p))].next) {
            const int who = next.who->eval(c);
            const bool everybody = who == static_cast<int>(n) + 1;
            if (!everybody && who != static_cast<int>(p)) continue;
            if (next.condition && !next.condition->eval(c)) continue;
            int target = next.target;
            if (target < 0) {
                const auto from = static_cast<uint32_t>(everybody ? k.mover : who);
                target = (c.state.phase(from) + 1) % static_cast<int>(phases.size());
            }
            c.state.phase(p) = target;
            break;
        }
    }
}

// --- ends ---

void Program::test_ends(Context& c) const {
    Scalars& k = c.scalars();
    const auto n = players();
    if (k.active) {
        const int own =
            phases[static_cast<size_t>(c.state.phase(static_cast<uint32_t>(k.mover)))].end;
        if (own >= 0) eval_end(c, ends[static_cast<size_t>(own)]);
    }
    if (!k.over && end >= 0) eval_end(c, ends[static_cast<size_t>(end)]);
    if (k.active && (k.turn >= static_cast<int32_t>(turn_limit * n) ||
                     k.plies >= static_cast<int32_t>(move_limit))) {
        k.winner = 0;
        if (n > 1) {
            const float share = (static_cast<float>(std::popcount(k.active)) + 1) / 2 + k.winners;
            for (uint32_t p = 1; p <= n; ++p) {
                if (k.ranking[p] == 0) k.ranking[p] = share;
                if (k.ranking[p] == 1) k.winner = static_cast<int32_t>(p);
            }
        } else {
            k.ranking[1] = 0;
        }
        k.active = 0;
        k.over = 1;
    }
}

void Program::eval_end(Context& c, const EndBlock& block) const {
    Scalars& k = c.scalars();
    for (const auto& rule : block.rules) {
        const EndRule::Result result = rule->eval(c);
        if (!result.given) continue;
        const int who = id_of(c, result.role);
        const bool active = who > 0 && who <= static_cast<int>(players()) && (k.active >> who & 1);
        if (!active && who != static_cast<int>(players()) + 1) continue;
        apply_result(c, result.role, result.outcome);
    }
    if (!k.over && all_pass_ends && all_passed(c))
        apply_result(c, static_cast<int>(Role::All), Outcome::Draw);
    k.losses_decided = k.wins_decided = 0;
}

// --- the start ---

void Program::start_game(uint8_t* block, Arena& arena, RandomStream& random) const {
    std::memset(block, 0, layout.bytes);
    Context c(*this, block, arena, &random);
    Scalars& k = c.scalars();
    const auto n = players();
    k.mover = 1;
    k.next = n > 1 ? 2 : 1;
    k.active = ((1u << (n + 1)) - 1) & ~1u;
    k.counter = k.temp = k.decided = -1;
    k.turn = 1;
    k.last_from = k.last_to = k.last_from_after = k.last_to_after = k.turn_from = -1;
    k.winner = -1;
    uint64_t* empty = reinterpret_cast<uint64_t*>(block + layout.empty);
    for (uint32_t p = 0; p < layout.places; ++p) empty[p >> 6] |= uint64_t{1} << (p & 63);
    if (!wants.stacking) reinterpret_cast<uint16_t*>(block + layout.what)[layout.places] = 0xFFFF;
    for (uint32_t p = 0; p < n + 2; ++p) {
        c.state.team(p) = wants.teams ? static_cast<int32_t>(p) : 0;
        c.state.colour(p) = static_cast<int32_t>(p);
        c.state.player_value(p) = -1;
    }
    for (uint32_t v = 0; v < wants.variables; ++v) c.state.variable(v) = -1;
    for (uint32_t p = 1; p <= n; ++p) {
        c.state.phase(p) = 0;
        for (size_t f = 0; f < phases.size(); ++f)
            if (phases[f].owner == static_cast<int>(p) ||
                phases[f].owner == static_cast<int>(n) + 1) {
                c.state.phase(p) = static_cast<int32_t>(f);
                break;
            }
    }
    for (const auto& rule : start) rule->eval(c);
    uint32_t die = 0;
    for (const Container& container : board.containers) {
        if (!container.dice) continue;
        for (uint32_t d = 0; d < container.sites; ++d, ++die) {
            const int place = c.state.place(Cell, static_cast<int>(container.first_site + d));
            c.state.die(die) = board.face(c.state.what(place), c.state.state(place), 0);
        }
    }
    if (meta.repeat_positional) c.state.record(c.state.position_hash(), false);
    if (meta.repeat_positional_turn) c.state.record(c.state.position_hash(), true);
}

}  // namespace omnilude::ludeme
