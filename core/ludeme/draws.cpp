// Random moves: drawn by a number where that can be done, else from a list.
#include "ludeme/building.h"

namespace omnilude::ludeme {

DrawSource Program::draw_source(Context& c) const {
    const Scalars& k = c.scalars();
    DrawSource source;
    if (k.over) return source;
    source.swap = meta.swap && k.plies == static_cast<int32_t>(players()) - 1;
    const auto mover = static_cast<uint32_t>(k.mover);
    source.node = phases[static_cast<size_t>(c.state.phase(mover))].play.get();
    find_source(c, source);
    if (source.swap && source.numbers >= 0) ++source.numbers;
    return source;
}

// Goes on to what all moves in this position come from.
void Program::find_source(Context& c, DrawSource& source) const {
    while (source.following < DrawSource::most_follows) {
        const MovesNode* follows = nullptr;
        const MovesNode* inner = source.node->narrow(c, follows);
        if (!inner) break;
        source.node = inner;
        if (follows) source.follows[source.following++] = follows;
    }
    // Dice that were rolled to choose would be rolled again for the move.
    if (c.roll_needed) {
        source = DrawSource();
        return;
    }
    source.numbers = source.node->draws(c);
    const int follows = source.node->singles();
    source.singles = follows >= 0 && follows + source.following <= Single::most_follows &&
                     !meta.forbids() && !wants.to_clear;
}

uint32_t Program::draw_number(Context& c, const DrawSource& source, int64_t number) const {
    if (source.swap && number == source.numbers - 1) {
        const uint32_t swap = make_swap(c);
        return swap != none && passes_meta(c, swap) ? swap : none;
    }
    const Registers before = c.registers;
    MoveList found;
    const bool drawn = source.node->draw(c, number, found);
    c.registers = before;
    if (!drawn) return none;
    for (int n = source.following; n-- > 0;)
        for (int times = c.arena.move(found.first).twin ? 2 : 1; times > 0; --times)
            c.arena.append_then(found.first, source.follows[n]);
    return passes_meta(c, found.first) ? found.first : none;
}

namespace {
uint32_t nth_move(Context& c, const MoveList& list, uint64_t n) {
    uint32_t move = list.first;
    for (; n > 0; --n) move = c.arena.move(move).next;
    return move;
}
}  // namespace

uint32_t Program::draw_listed(Context& c, RandomStream& random) const {
    const Registers before = c.registers;
    MoveList all;
    legal_moves(c, all);
    c.registers = before;
    return nth_move(c, all, all.count > 1 ? random.below(all.count) : 0);
}

namespace {
// Whether to try another number rather than to list the moves: as long as a hit is expected to cost
// less than the list, as far as can be told from what happened since the playout began.
bool worth_trying(const Context::Luck& luck, int64_t tries, int64_t list_cost) {
    const int64_t all = luck.tries + 8, hits = luck.hits + 1;  // some good luck to begin with
    return tries == 0 ? all <= list_cost * hits : tries < 2 * list_cost;
}

// By number, not by address: the same playout must draw the same moves wherever it is played.
Context::Luck& luck_of(Context& c, const MovesNode* node) {
    const uint32_t generator = node ? node->number : 0;
    Context::Luck& luck = c.luck[generator % std::size(c.luck)];
    if (luck.generator != generator) luck = {generator, 0, 0};
    return luck;
}
}  // namespace

// Every number is as likely as any other and so is every move. Where few of them stand for a move,
// moves are listed after all.
uint32_t Program::play_random(Context& c, RandomStream& random) const {
    c.registers = Registers();
    c.roll_needed = false;
    const DrawSource source = draw_source(c);
    c.roll_needed = false;
    Scalars& k = c.scalars();
    const bool single = source.singles && !source.swap;
    Context::Luck& luck = luck_of(c, source.node);
    const int64_t list_cost = source.numbers > 0 ? source.node->list_cost(source.numbers) + 8 : 0;
    for (int64_t tries = 0; list_cost && worth_trying(luck, tries, list_cost); ++tries) {
        const auto number =
            static_cast<int64_t>(random.below(static_cast<uint64_t>(source.numbers)));
        ++luck.tries;
        if (single) {
            Single drawn;
            const bool found = source.node->draw_single(c, number, drawn);
            c.registers = Registers();
            if (!found) continue;
            for (int n = source.following; n-- > 0;) drawn.add(source.follows[n]);
            ++luck.hits;
            if (k.active) k.stalemated &= ~(1u << k.mover);
            apply(c, drawn);
            return 1;
        }
        const Arena::Mark mark = c.arena.mark();
        const uint32_t move = draw_number(c, source, number);
        if (move != none) {
            ++luck.hits;
            if (k.active) k.stalemated &= ~(1u << k.mover);
            c.registers = Registers();
            apply(c, move);
            return 1;
        }
        c.arena.release(mark);
    }
    uint32_t move = none;
    if (source.node && source.numbers < 0 && !source.swap && !source.following && !meta.forbids())
        move = source.node->pick(c, random);
    if (move == none)
        move = draw_listed(c, random);
    else if (k.active)
        k.stalemated &= ~(1u << k.mover);
    const uint32_t plies = c.roll_needed ? 2 : 1;
    c.registers = Registers();
    apply(c, move);
    return plies;
}

uint32_t Program::pick_from(Context& c, const MovesNode& node, RandomStream& random) const {
    DrawSource source;
    source.node = &node;
    const Registers before = c.registers;
    find_source(c, source);
    c.registers = before;
    if (source.numbers > 0) {
        const int64_t list_cost = source.node->list_cost(source.numbers) + 8;
        for (int64_t tries = 0; tries < 2 * list_cost; ++tries) {
            const Arena::Mark mark = c.arena.mark();
            const auto number =
                static_cast<int64_t>(random.below(static_cast<uint64_t>(source.numbers)));
            const uint32_t move = draw_number(c, source, number);
            if (move != none) return move;
            c.arena.release(mark);
        }
    }
    MoveList all;
    node.eval(c, all);
    c.registers = before;
    return nth_move(c, all, all.count > 1 ? random.below(all.count) : 0);
}

uint64_t Program::play_out(Context& c, RandomStream& random, uint64_t limit) const {
    if (fills_board) return fill_board(c, random, limit);
    const Arena::Mark mark = c.arena.mark();
    uint64_t plies = 0;
    while (!c.scalars().over && plies < limit) {
        c.arena.release(mark);
        plies += play_random(c, random);
    }
    return std::min(plies, limit);
}

// Where every move fills an empty site, the sites that are left are kept in a list: one is drawn
// and its place taken by the last.
uint64_t Program::fill_board(Context& c, RandomStream& random, uint64_t limit) const {
    Scalars& k = c.scalars();
    const MovesNode& play = *phases[0].play;
    const Arena::Mark mark = c.arena.mark();
    uint16_t sites[max_sites];
    uint32_t left = 0;
    Filled filled;
    auto find_sites = [&] {
        left = 0;
        filled.clear();
        for (uint32_t site = 0; site < layout.places; ++site)
            if (c.state.empty(static_cast<int>(site)))
                sites[left++] = static_cast<uint16_t>(site);
            else
                filled.sites[filled.count++] = static_cast<uint16_t>(site);
    };
    find_sites();
    struct Leave {
        Context& context;
        ~Leave() { context.filled = nullptr; }
    } leave{c};
    c.filled = &filled;
    Single singles[4];  // moves of a player differ by the site alone
    int made_for[4] = {-1, -1, -1, -1};
    uint64_t plies = 0;
    for (; !k.over && plies < limit; ++plies) {
        c.arena.release(mark);
        if (left == 0 || (meta.swap && k.plies == static_cast<int32_t>(players()) - 1)) {
            c.filled = nullptr;  // pieces may change hands
            play_random(c, random);
            find_sites();
            c.filled = &filled;
            continue;
        }
        c.registers = Registers();
        const auto n = static_cast<uint32_t>(random.below(left));
        const int site = sites[n], mover = k.mover;
        sites[n] = sites[--left];
        filled.sites[filled.count++] = static_cast<uint16_t>(site);
        Single& single = singles[mover % 4];
        if (made_for[mover % 4] != mover) {
            single = Single();
            play.add_at(c, site, single);
            made_for[mover % 4] = mover;
        }
        if (k.active) k.stalemated &= ~(1u << mover);
        begin_ply(c, site, false);
        Applied applied;
        fill_site(c, single, site, applied);
        end_ply(c, mover, applied, site, site);
    }
    return plies;
}

}  // namespace omnilude::ludeme
