// Generators made of generators: choices, conditions, loops, and what is tried out first.
#include <algorithm>
#include <cstring>

#include "ludeme/building.h"

namespace omnilude::ludeme {

namespace {

constexpr int longest_loop = 10000;

struct Nothing final : MovesNode {
    void eval(Context&, MoveList&) const override {}
    int64_t draws(Context&) const override { return 0; }
};
const Nothing nothing;

struct Or final : MovesNode {
    std::vector<MovesPtr> list;
    Consequence then;
    int follows;
    explicit Or(Reader& r) : list(r.move_list()), then(r), follows(count_follows()) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        for (const auto& item : list) item->eval(c, out);
        if (then.node) then.attach(c, out, before, false);
    }
    // The numbers of one generator after those of another.
    template <class Count>
    int64_t sum(Count&& count) const {
        int64_t sum = 0;
        for (const auto& item : list) {
            const int64_t one = count(*item);
            if (one < 0) return -1;
            sum += one;
        }
        return sum;
    }
    int64_t most_draws(const Program& program, int piece, int site) const override {
        return sum([&](const MovesNode& item) { return item.most_draws(program, piece, site); });
    }
    int64_t draws(Context& c) const override {
        return sum([&](const MovesNode& item) { return item.draws(c); });
    }
    // The generator that a number belongs to, and which of its own it is.
    const MovesNode* find(Context& c, int64_t& number) const {
        for (const auto& item : list) {
            const int64_t here = item->draws(c);
            if (number < here) return item.get();
            number -= here;
        }
        return nullptr;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const MovesNode* item = find(c, number);
        const uint32_t before = out.last;
        if (!item || !item->draw(c, number, out)) return false;
        if (then.node) then.attach(c, out, before, false);
        return true;
    }
    int count_follows() const {
        int most = 0;
        for (const auto& item : list) {
            const int here = item->singles();
            if (here < 0) return -1;
            most = std::max(most, here);
        }
        return most + then.count();
    }
    int singles() const override { return follows; }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        const MovesNode* item = find(c, number);
        if (!item || !item->draw_single(c, number, single)) return false;
        single.add(then.node.get());
        return true;
    }
    bool rules_out(const Context& c, int site) const override {
        return std::all_of(list.begin(), list.end(),
                           [&](const auto& m) { return m->rules_out(c, site); });
    }
    bool is_rare() const override {
        return std::all_of(list.begin(), list.end(), [](const auto& m) { return m->is_rare(); });
    }
    bool can_drop() const override {
        return std::all_of(list.begin(), list.end(), [](const auto& m) { return m->can_drop(); });
    }
    void drop_ruled_out(const Context& c, SiteSet& sites) const override {
        const uint32_t words = c.program.words();
        SiteSet left;
        left.clear(words);
        for (const auto& m : list) {
            SiteSet own;
            own.copy(sites, words);
            m->drop_ruled_out(c, own);
            for (uint32_t w = 0; w < words; ++w) left.bits[w] |= own.bits[w];
        }
        sites.copy(left, words);
    }
    bool any(Context& c) const override {
        return std::any_of(list.begin(), list.end(), [&](const auto& m) { return m->any(c); });
    }
    bool can_move(Context& c) const override {
        if (then.node && c.program.meta.forbids()) return MovesNode::can_move(c);
        return std::any_of(list.begin(), list.end(), [&](const auto& m) { return m->can_move(c); });
    }
    bool can_move_to(Context& c, int site) const override {
        return std::any_of(list.begin(), list.end(),
                           [&](const auto& m) { return m->can_move_to(c, site); });
    }
};

struct If final : MovesNode {
    BoolPtr test;
    MovesPtr a, b;
    Consequence then;
    int follows;
    explicit If(Reader& r)
        : test(r.boolean()), a(r.moves()), b(r.moves()), then(r), follows(count_follows()) {}
    const MovesNode& chosen(Context& c) const {
        const MovesNode* one = test->eval(c) ? a.get() : b.get();
        return one ? *one : nothing;
    }
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        chosen(c).eval(c, out);
        if (then.node) then.attach(c, out, before, false);
    }
    int64_t most_draws(const Program& program, int piece, int site) const override {
        const int64_t x = a ? a->most_draws(program, piece, site) : 0;
        const int64_t y = b ? b->most_draws(program, piece, site) : 0;
        return x < 0 || y < 0 ? -1 : std::max(x, y);
    }
    int64_t draws(Context& c) const override { return chosen(c).draws(c); }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        if (!chosen(c).draw(c, number, out)) return false;
        if (then.node) then.attach(c, out, before, false);
        return true;
    }
    int count_follows() const {
        const int x = a ? a->singles() : 0, y = b ? b->singles() : 0;
        return x < 0 || y < 0 ? -1 : std::max(x, y) + then.count();
    }
    int singles() const override { return follows; }
    bool draw_single(Context& c, int64_t number, Single& single) const override {
        if (!chosen(c).draw_single(c, number, single)) return false;
        single.add(then.node.get());
        return true;
    }
    bool keeps_board() const override {
        return (!a || a->keeps_board()) && (!b || b->keeps_board()) && !then.node;
    }
    const MovesNode* narrow(Context& c, const MovesNode*& follows) const override {
        follows = then.node.get();
        return &chosen(c);
    }
    bool any(Context& c) const override { return chosen(c).any(c); }
    bool can_move(Context& c) const override {
        if (then.node && c.program.meta.forbids()) return MovesNode::can_move(c);
        return chosen(c).can_move(c);
    }
    bool can_move_to(Context& c, int site) const override { return chosen(c).can_move_to(c, site); }
};

struct ApplyNode final : MovesNode {
    Apply apply;
    explicit ApplyNode(Reader& r) : apply(r) {}
    void eval(Context& c, MoveList& out) const override { apply.eval(c, out); }
};

struct Priority final : MovesNode {
    std::vector<MovesPtr> list;
    Consequence then;
    explicit Priority(Reader& r) : list(r.move_list()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        for (const auto& item : list) {
            const uint32_t count = out.count;
            item->eval(c, out);
            if (out.count > count) break;
        }
        if (then.node) then.attach(c, out, before, false);
    }
    const MovesNode* narrow(Context& c, const MovesNode*& follows) const override {
        follows = then.node.get();
        for (size_t n = 0; n + 1 < list.size(); ++n)
            if (list[n]->any(c)) return list[n].get();
        return list.empty() ? &nothing : list.back().get();
    }
    // Whichever is found: those that come last are mostly the usual moves.
    bool any(Context& c) const override {
        return std::any_of(list.rbegin(), list.rend(), [&](const auto& m) { return m->any(c); });
    }
    bool can_move(Context& c) const override {
        if (!c.program.meta.forbids()) return any(c);
        if (then.node) return MovesNode::can_move(c);
        // Any list will do, also one after others whose moves are all forbidden.
        return std::any_of(list.begin(), list.end(), [&](const auto& m) { return m->can_move(c); });
    }
};

struct Append final : MovesNode {
    MovesPtr list;
    Consequence then;
    explicit Append(Reader& r) : list(r.moves()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        MoveList found;
        list->eval(c, found);
        if (found.empty()) return;
        const uint32_t both = c.arena.add_move();
        bool first = true;
        for (uint32_t n = found.first; n != none; n = c.arena.move(n).next) {
            set_decision(c, n, first);
            if (first) set_ends(c, both, c.arena.move(n).from, c.arena.move(n).to);
            first = false;
            c.arena.append_action(both, c.arena.as_action(n));
        }
        const uint32_t before = out.last;
        c.arena.append(out, both);
        then.attach(c, out, before);
    }
    static void set_decision(Context& c, uint32_t move, bool on) {
        for (uint32_t n = c.arena.move(move).first_action; n != none; n = c.arena.action(n).next) {
            c.arena.action(n).decision = on;
            if (c.arena.action(n).act == Act::Nested) set_decision(c, c.arena.action(n).nested, on);
        }
    }
};

struct AllCombinations final : MovesNode {
    MovesPtr a, b;
    Consequence then;
    explicit AllCombinations(Reader& r) : a(r.moves()), b(r.moves()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        MoveList first, second;
        a->eval(c, first);
        b->eval(c, second);
        const uint32_t before = out.last;
        for (uint32_t x = first.first; x != none; x = c.arena.move(x).next)
            for (uint32_t y = second.first; y != none; y = c.arena.move(y).next) {
                const uint32_t both = c.arena.add_move();
                c.arena.append_action(both, c.arena.as_action(x));
                c.arena.append_action(both, c.arena.as_action(y));
                set_ends(c, both, c.arena.move(x).from, c.arena.move(x).to);
                c.arena.append(out, both);
            }
        then.attach(c, out, before, false);
    }
};

// What a move with its consequences comes to, as a plain list of actions.
uint32_t flatten(Context& trial, uint32_t move, bool stored) {
    const uint32_t flat = trial.arena.add_move();
    Applied applied;
    apply_move(trial, move, stored, applied, flat);
    Move& f = trial.arena.move(flat);
    const Move& m = trial.arena.move(move);
    f.from = m.from, f.to = m.to, f.mover = m.mover, f.state = m.state;
    f.level_min = m.level_min, f.level_max = m.level_max;
    return flat;
}

struct Seq final : MovesNode {
    std::vector<MovesPtr> list;
    explicit Seq(Reader& r) : list(r.move_list()) {}
    void eval(Context& c, MoveList& out) const override {
        Trial trial(c);
        for (const auto& item : list) {
            MoveList found;
            item->eval(trial.context, found);
            for (uint32_t n = found.first; n != none;) {
                const uint32_t next = c.arena.move(n).next;
                c.arena.append(out, flatten(trial.context, n, true));
                n = next;
            }
        }
    }
};

struct While final : MovesNode {
    BoolPtr test;
    MovesPtr body;
    Consequence then;
    explicit While(Reader& r) : test(r.boolean()), body(r.moves()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        Trial trial(c);
        const uint32_t before = out.last;
        for (int n = 0; test->eval(trial.context); ++n) {
            if (n == longest_loop) throw GameError("(while ...) goes on for ever");
            MoveList found;
            body->eval(trial.context, found);
            for (uint32_t m = found.first; m != none;) {
                const uint32_t next = c.arena.move(m).next;
                Applied applied;
                apply_move(trial.context, m, false, applied);
                c.arena.append(out, m);
                m = next;
            }
        }
        then.attach(c, out, before, false);
    }
};

struct Do final : MovesNode {
    MovesPtr first, next;
    BoolPtr test;
    Consequence then;
    explicit Do(Reader& r) : first(r.moves()), next(r.moves()), test(r.boolean()), then(r) {}

    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        MoveList candidates;
        if (next)
            after(c, candidates);
        else if (test)
            first->eval(c, candidates);
        for (uint32_t n = candidates.first; n != none;) {
            const uint32_t following_move = c.arena.move(n).next;
            if (!test || holds(c, n)) c.arena.append(out, n);
            n = following_move;
        }
        if (then.node) then.attach(c, out, before, false);
    }

    bool can_move_to(Context& c, int site) const override {
        if (next) return next->can_move_to(c, site);
        return MovesNode::can_move_to(c, site);
    }
    bool any(Context& c) const override {
        if (next || !test || first->draws(c) >= 0) return MovesNode::any(c);
        const Arena::Mark mark = c.arena.mark();
        MoveList list;
        first->eval(c, list);
        bool found = false;
        for (uint32_t n = list.first; n != none && !found; n = c.arena.move(n).next)
            found = holds(c, n);
        c.arena.release(mark);
        return found;
    }
    int64_t draws(Context& c) const override { return next || !test ? -1 : first->draws(c); }
    int64_t most_draws(const Program& program, int piece, int site) const override {
        return next || !test ? -1 : first->most_draws(program, piece, site);
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        const uint32_t before = out.last;
        MoveList found;
        if (!first->draw(c, number, found) || !holds(c, found.first)) return false;
        c.arena.concatenate(out, found);
        if (then.node) then.attach(c, out, before, false);
        return true;
    }

    bool holds(Context& c, uint32_t move) const {
        Trial trial(c);
        Applied applied;
        const Arena::Mark mark = c.arena.mark();
        // The ply counts as made.
        Scalars& k = trial.context.scalars();
        ++k.plies;
        apply_move(trial.context, move, true, applied);
        if (k.mover == k.next) k.next = k.previous;
        const bool fine = test->eval(trial.context);
        c.arena.release(mark);
        return fine;
    }

    // First this, then that: the first becomes part of every move of the second.
    void after(Context& c, MoveList& out) const {
        Trial trial(c);
        const NumberBuffer done_room(c);
        do_first(c, trial, *done_room);
        MoveList found;
        next->eval(trial.context, found);
        put_in_front(c, *done_room, found);
        c.arena.concatenate(out, found);
    }
    uint32_t pick(Context& c, RandomStream& random) const override {
        if (!next || test) return none;
        Trial trial(c);
        const NumberBuffer done_room(c);
        do_first(c, trial, *done_room);
        const uint32_t move = c.program.pick_from(trial.context, *next, random);
        MoveList found;
        if (move != none) {
            c.arena.move(move).next = none;
            c.arena.append(found, move);
        }
        put_in_front(c, *done_room, found);
        if (then.node) then.attach(c, found, none, false);
        return found.first;
    }
    void do_first(Context& c, Trial& trial, std::vector<int32_t>& done) const {
        MoveList pre;
        first->eval(c, pre);
        for (uint32_t n = pre.first; n != none;) {
            const uint32_t following_move = c.arena.move(n).next;
            done.push_back(static_cast<int32_t>(flatten(trial.context, n, false)));
            n = following_move;
        }
    }
    void put_in_front(Context& c, const std::vector<int32_t>& done, MoveList& found) const {
        const bool nothing = found.empty();
        if (nothing) {
            if (c.program.wants.dice == 0) return;
            Action pass;
            pass.decision = true;
            const uint32_t move = c.arena.make_move(pass);
            c.arena.move(move).forced = true;
            c.arena.move(move).mover = static_cast<int16_t>(c.scalars().mover);
            c.arena.append(found, move);
        }
        if (done.empty()) return;
        // The first goes in front; each other after as many actions as the one before it has, or
        // in front too where nothing else can be done.
        std::vector<Action> actions;
        size_t previous = 0;
        for (int32_t one : done) {
            std::vector<Action> own;
            for (uint32_t a = c.arena.move(static_cast<uint32_t>(one)).first_action; a != none;
                 a = c.arena.action(a).next) {
                own.push_back(c.arena.action(a));
                own.back().decision = false;
            }
            const size_t at = nothing ? 0 : std::min(previous, actions.size());
            actions.insert(actions.begin() + static_cast<long>(at), own.begin(), own.end());
            previous = own.size();
        }
        for (uint32_t n = found.first; n != none; n = c.arena.move(n).next)
            for (size_t a = actions.size(); a-- > 0;) c.arena.prepend_action(n, actions[a]);
    }
};

// --- the longest, the most ---

struct MaxMoves final : MovesNode {
    MovesPtr moves;
    bool with_value;
    explicit MaxMoves(Reader& r) : moves(r.moves()), with_value(r.flag()) {}
    bool any(Context& c) const override { return moves->any(c); }
    bool can_move(Context& c) const override { return moves->can_move(c); }

    static int value_of(Context& before, uint32_t flat) {
        int sum = 0;
        for (uint32_t n = before.arena.move(flat).first_action; n != none;
             n = before.arena.action(n).next) {
            const Action& a = before.arena.action(n);
            if (a.act != Act::Remove && a.act != Act::RemoveLater) continue;
            const int place = before.state.place(static_cast<Kind>(a.kind_to), a.to);
            if (place >= 0) sum += before.state.value(place);
        }
        return sum;
    }

    // Plies that the mover can make in a row from here on, this one included.
    int measure(Context& c, uint32_t move, uint32_t* flat) const {
        Trial trial(c, Trial::Plies);
        const Arena::Mark mark = c.arena.mark();
        int own = 1;
        if (flat) *flat = flatten_ply(c, move);
        if (with_value) own = value_of(c, flatten_ply(c, move));
        c.program.apply(trial.context, move);
        const Scalars& k = trial.context.scalars();
        int best = 0;
        if (!k.over && k.previous == k.mover) {
            MoveList more;
            c.program.legal_moves(trial.context, more);
            for (uint32_t n = more.first; n != none;) {
                const uint32_t next = c.arena.move(n).next;
                best = std::max(best, measure(trial.context, n, nullptr));
                n = next;
            }
        }
        if (!flat) c.arena.release(mark);
        return own + best;
    }

    static uint32_t flatten_ply(Context& c, uint32_t move) {
        Trial trial(c);
        if (c.program.wants.pending) trial.context.state.pending().clear();
        ++trial.context.scalars().plies;
        return flatten(trial.context, move, true);
    }

    void eval(Context& c, MoveList& out) const override {
        MoveList found;
        moves->eval(c, found);
        std::vector<std::pair<int, uint32_t>> scored;
        int most = 0;
        for (uint32_t n = found.first; n != none;) {
            const uint32_t next = c.arena.move(n).next;
            uint32_t flat = none;
            const int score = measure(c, n, &flat);
            scored.emplace_back(score, flat);
            most = std::max(most, score);
            n = next;
        }
        for (const auto& [score, flat] : scored)
            if (score == most) c.arena.append(out, flat);
    }
};

struct MaxCaptures final : MovesNode {
    MovesPtr moves;
    bool with_value;
    explicit MaxCaptures(Reader& r) : moves(r.moves()), with_value(r.flag()) {}
    void eval(Context& c, MoveList& out) const override {
        MoveList found;
        moves->eval(c, found);
        std::vector<std::pair<int, uint32_t>> scored;
        int most = 0;
        for (uint32_t n = found.first; n != none;) {
            const uint32_t next = c.arena.move(n).next;
            const Arena::Mark mark = c.arena.mark();
            const uint32_t flat = MaxMoves::flatten_ply(c, n);
            int score = 0;
            if (with_value) {
                score = MaxMoves::value_of(c, flat);
            } else {
                for (uint32_t a = c.arena.move(flat).first_action; a != none;
                     a = c.arena.action(a).next)
                    score += c.arena.action(a).act == Act::Remove ||
                             c.arena.action(a).act == Act::RemoveLater;
            }
            c.arena.release(mark);
            scored.emplace_back(score, n);
            most = std::max(most, score);
            n = next;
        }
        for (const auto& [score, move] : scored)
            if (score == most) c.arena.append(out, move);
    }
};

struct FirstMoveOnTrack final : MovesNode {
    int track;
    MovesPtr moves;
    explicit FirstMoveOnTrack(Reader& r) : track(r.number()), moves(r.moves()) {}
    void eval(Context& c, MoveList& out) const override {
        if (track < 0) return;
        const Keep keep(c.registers.site);
        for (const TrackElement& element :
             c.program.board.tracks[static_cast<size_t>(track)].elements) {
            if (element.site < 0) continue;
            c.registers.site = element.site;
            const uint32_t count = out.count;
            moves->eval(c, out);
            if (out.count > count) return;
        }
    }
};

struct AvoidStoredState final : MovesNode {
    MovesPtr moves;
    explicit AvoidStoredState(Reader& r) : moves(r.moves()) {}
    void eval(Context& c, MoveList& out) const override {
        MoveList found;
        moves->eval(c, found);
        for (uint32_t n = found.first; n != none;) {
            const uint32_t next = c.arena.move(n).next;
            bool fine = false;
            {
                Trial trial(c);
                const Arena::Mark mark = c.arena.mark();
                Applied applied;
                apply_move(trial.context, n, true, applied);
                fine = trial.context.state.position_hash() != c.state.stored_hash();
                c.arena.release(mark);
            }
            if (fine) c.arena.append(out, n);
            n = next;
        }
    }
};

}  // namespace

void add_operators(Makers<MovesPtr>& m) {
    m["or"] = [](Reader& r) { return MovesPtr(std::make_unique<Or>(r)); };
    m["if"] = [](Reader& r) { return MovesPtr(std::make_unique<If>(r)); };
    m["apply"] = [](Reader& r) { return MovesPtr(std::make_unique<ApplyNode>(r)); };
    m["priority"] = [](Reader& r) { return MovesPtr(std::make_unique<Priority>(r)); };
    m["append"] = [](Reader& r) { return MovesPtr(std::make_unique<Append>(r)); };
    m["allCombinations"] = [](Reader& r) { return MovesPtr(std::make_unique<AllCombinations>(r)); };
    m["seq"] = [](Reader& r) { return MovesPtr(std::make_unique<Seq>(r)); };
    m["while"] = [](Reader& r) { return MovesPtr(std::make_unique<While>(r)); };
    m["do"] = [](Reader& r) { return MovesPtr(std::make_unique<Do>(r)); };
    m["max Moves"] = [](Reader& r) { return MovesPtr(std::make_unique<MaxMoves>(r)); };
    m["max Captures"] = [](Reader& r) { return MovesPtr(std::make_unique<MaxCaptures>(r)); };
    m["firstMoveOnTrack"] = [](Reader& r) {
        return MovesPtr(std::make_unique<FirstMoveOnTrack>(r));
    };
    m["avoidStoredState"] = [](Reader& r) {
        return MovesPtr(std::make_unique<AvoidStoredState>(r));
    };
}

}  // namespace omnilude::ludeme
