// Effects on everything but pieces: turns, scores, variables, dice, votes; and passing.
#include <algorithm>
#include <bit>

#include "ludeme/hiding.h"

namespace omnilude::ludeme {

namespace {

// One move with one action.
template <class Make>
MovesPtr simple(Reader& r, Make make) {
    auto then = std::make_shared<Consequence>(r);
    return make_moves([make, then](Context& c, MoveList& out) {
        const uint32_t before = out.last;
        Action a;
        if (!make(c, a)) return;
        add_single(c, out, a);
        then->attach(c, out, before, false);
    });
}

// Moves of one action each that are always the same.
struct Choices final : MovesNode {
    std::vector<Action> actions;
    Consequence then;
    Choices(std::vector<Action> a, Reader& r) : actions(std::move(a)), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        for (const Action& a : actions) add_single(c, out, a);
        then.attach(c, out, before);
    }
    int64_t most_draws(const Program&, int, int) const override {
        return static_cast<int64_t>(actions.size());
    }
    int64_t draws(Context&) const override { return static_cast<int64_t>(actions.size()); }
    int singles() const override { return then.count(); }
    bool draw_single(Context&, int64_t number, Single& single) const override {
        if (static_cast<size_t>(number) >= actions.size()) return false;
        single.action = actions[static_cast<size_t>(number)];
        single.add(then.node.get());
        return true;
    }
    bool draw(Context& c, int64_t number, MoveList& out) const override {
        if (static_cast<size_t>(number) >= actions.size()) return false;
        const uint32_t before = out.last;
        add_single(c, out, actions[static_cast<size_t>(number)]);
        then.attach(c, out, before);
        return true;
    }
};

struct MoveAgain final : MovesNode {
    Consequence then;
    explicit MoveAgain(Reader& r) : then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        Action a;
        a.act = Act::SetNextPlayer;
        a.what = c.scalars().mover;
        add_single(c, out, a);
        then.attach(c, out, before, false);
    }
    bool keeps_board() const override { return !then.node; }
};

struct Roll final : MovesNode {
    std::vector<std::vector<int32_t>> boxes;  // first die, first site, dice, faces
    Consequence then;
    explicit Roll(Reader& r) : boxes(static_cast<size_t>(r.number())), then(read(r, boxes)) {}
    static uint64_t sides(const Context& c, int site) {
        return c.program.board.sides(c.state.what(c.state.place(Cell, site)));
    }
    static Reader& read(Reader& r, std::vector<std::vector<int32_t>>& boxes) {
        for (auto& box : boxes) box = r.numbers();
        return r;
    }
    void eval(Context& c, MoveList& out) const override {
        if (!c.scalars().rolled) {
            c.roll_needed = true;
            if (c.stop_at_roll) return;
        }
        const uint32_t move = c.arena.add_move();
        int first = -1;
        bool equal = true;
        for (const auto& box : boxes)
            for (int d = 0; d < box[2]; ++d) {
                const int face = c.scalars().rolled
                                     ? c.state.rolled(static_cast<uint32_t>(box[0] + d))
                                     : static_cast<int>(c.random->below(sides(c, box[1] + d)));
                if (first < 0) first = face;
                equal &= face == first;
                Action a;
                a.act = Act::UpdateDie;
                a.what = box[0] + d;
                a.from = a.to = static_cast<int16_t>(box[1] + d);
                a.count = face;
                c.arena.append_action(move, a);
            }
        Action a;
        a.act = Act::SetDiceEqual;
        a.count = equal;
        c.arena.append_action(move, a);
        const uint32_t before = out.last;
        c.arena.append(out, move);
        then.attach(c, out, before, false);
    }
};

struct SetNextPlayer final : MovesNode {
    std::vector<IntPtr> who;
    ArrayPtr players;
    bool decision;
    explicit SetNextPlayer(Reader& r) : who(r.integers()), players(r.array()), decision(r.flag()) {}
    void eval(Context& c, MoveList& out) const override {
        const NumberBuffer ids_room(c);
        std::vector<int32_t>& ids = *ids_room;
        for (const auto& one : who) ids.push_back(one->eval(c));
        if (players) players->eval(c, ids);
        for (int id : ids) {
            if (id < 1 || id > static_cast<int>(c.program.players())) continue;
            Action a;
            a.act = Act::SetNextPlayer;
            a.what = id;
            a.decision = decision;
            add_single(c, out, a);
        }
    }
};

struct Score final : MovesNode {
    bool add;
    int role;  // or -1
    IntPtr player, value;
    Consequence then;
    explicit Score(Reader& r)
        : add(r.flag()), role(r.number()), player(r.integer()), value(r.integer()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        const bool each = role == static_cast<int>(Role::Each);
        const int whose = each ? static_cast<int>(Role::All) : role;
        for (uint32_t left = players_meant(c, whose, player.get()); left; left &= left - 1) {
            Action a;
            a.act = add ? Act::AddScore : Act::SetScore;
            a.what = std::countr_zero(left);
            a.count = value->eval(c);
            add_single(c, out, a);
        }
        then.attach(c, out, before, false);
    }
};

struct SetPending final : MovesNode {
    IntPtr value;
    RegionPtr region;
    explicit SetPending(Reader& r) : value(r.integer()), region(r.region()) {}
    void eval(Context& c, MoveList& out) const override {
        Action a;
        a.act = Act::SetPending;
        if (!region) {
            a.count = value ? value->eval(c) : -1;
            add_single(c, out, a);
            return;
        }
        SiteSet sites;
        region->eval(c, sites);
        const uint32_t move = c.arena.add_move();
        bool any = false;
        sites.each(c.program.words(), [&](int s) {
            a.count = s;
            c.arena.append_action(move, a);
            any = true;
        });
        if (any) c.arena.append(out, move);
    }
};

struct Remember final : MovesNode {
    int list;
    IntPtr value;
    RegionPtr region;
    bool unique;
    Consequence then;
    explicit Remember(Reader& r)
        : list(r.number()), value(r.integer()), region(r.region()), unique(r.flag()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        auto one = [&](int v) {
            if (unique && c.state.remembered(static_cast<uint32_t>(list)).has(v)) return;
            Action a;
            a.act = Act::Remember;
            a.what = list;
            a.count = v;
            add_single(c, out, a);
        };
        if (region) {
            SiteSet sites;
            region->eval(c, sites);
            sites.each(c.program.words(), one);
        } else {
            one(value->eval(c));
        }
        then.attach(c, out, before, false);
    }
};

struct Forget final : MovesNode {
    std::vector<int32_t> lists;
    IntPtr value;  // null: all
    Consequence then;
    explicit Forget(Reader& r) : lists(r.numbers()), value(r.integer()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const uint32_t before = out.last;
        Action a;
        a.act = Act::Forget;
        if (value) {
            a.what = lists[0];
            a.count = value->eval(c);
            add_single(c, out, a);
        } else {
            const uint32_t move = c.arena.add_move();
            bool any = false;
            for (int list : lists) {
                const NumberList values = c.state.remembered(static_cast<uint32_t>(list));
                for (uint32_t n = 0; n < values.size(); ++n) {
                    a.what = list;
                    a.count = values[n];
                    c.arena.append_action(move, a);
                    any = true;
                }
            }
            if (any) c.arena.append(out, move);
        }
        then.attach(c, out, before, false);
    }
};

struct SwapPieces final : MovesNode {
    IntPtr a, b;
    bool decision;
    Consequence then;
    explicit SwapPieces(Reader& r) : a(r.integer()), b(r.integer()), decision(r.flag()), then(r) {}
    void eval(Context& c, MoveList& out) const override {
        const int x = a->eval(c), y = b->eval(c);
        const int place = c.state.place(Cell, y);
        if (c.state.place(Cell, x) < 0 || place < 0) return;
        const uint32_t before = out.last;
        const uint32_t move = c.arena.make_move(move_action(Cell, x, -1, y, -1, false, decision));
        Action add = site_action(Act::Add, Cell, x);
        add.what = c.state.what(place);
        if (add.what > 0) c.arena.append_action(move, add);
        c.arena.append(out, move);
        then.attach(c, out, before);
    }
};

}  // namespace

void add_settings(Makers<MovesPtr>& m) {
    m["pass"] = [](Reader& r) {
        Action a;
        a.decision = r.flag();
        return MovesPtr(std::make_unique<Choices>(std::vector<Action>{a}, r));
    };
    m["moveAgain"] = [](Reader& r) { return MovesPtr(std::make_unique<MoveAgain>(r)); };
    auto ballot = [&m](const char* name, Act act) {
        m[name] = [act](Reader& r) {
            std::vector<Action> actions;
            for (int choice : r.numbers()) {
                Action a;
                a.act = act;
                a.what = choice;
                actions.push_back(a);
            }
            const bool decision = r.flag();
            for (Action& a : actions) a.decision = decision;
            return MovesPtr(std::make_unique<Choices>(std::move(actions), r));
        };
    };
    ballot("propose", Act::Propose);
    ballot("vote", Act::Vote);
    m["swap Pieces"] = [](Reader& r) { return MovesPtr(std::make_unique<SwapPieces>(r)); };
    m["swap Players"] = [](Reader& r) {
        auto x = std::shared_ptr<IntNode>(r.integer()), y = std::shared_ptr<IntNode>(r.integer());
        auto then = std::make_shared<Consequence>(r);
        return make_moves([=](Context& c, MoveList& out) {
            const uint32_t before = out.last;
            const auto players = static_cast<int>(c.program.players());
            auto is_player = [&](int who) { return who >= 1 && who <= players; };
            Action a;
            a.act = Act::Swap;
            a.what = x->eval(c);
            a.count = y->eval(c);
            if (!is_player(a.what) || !is_player(a.count)) return;
            a.decision = true;  // also where it only follows: so it is no pass
            const uint32_t move = c.arena.make_move(a);
            Action again;  // whoever moves now moves next, for the other side
            again.act = Act::SetNextPlayer;
            again.what = c.scalars().mover;
            c.arena.append_action(move, again);
            c.arena.append(out, move);
            then->attach(c, out, before);
        });
    };
    m["roll"] = [](Reader& r) { return MovesPtr(std::make_unique<Roll>(r)); };
    m["set NextPlayer"] = [](Reader& r) { return MovesPtr(std::make_unique<SetNextPlayer>(r)); };
    m["score"] = [](Reader& r) { return MovesPtr(std::make_unique<Score>(r)); };
    m["set Pending"] = [](Reader& r) { return MovesPtr(std::make_unique<SetPending>(r)); };
    m["remember Value"] = [](Reader& r) { return MovesPtr(std::make_unique<Remember>(r)); };
    m["forget Value"] = [](Reader& r) { return MovesPtr(std::make_unique<Forget>(r)); };
    m["remember State"] = [](Reader& r) {
        return simple(r, [](Context&, Action& a) {
            a.act = Act::StoreState;
            return true;
        });
    };
    m["set Counter"] = [](Reader& r) {
        auto value = std::shared_ptr<IntNode>(r.integer());
        return make_moves([value](Context& c, MoveList& out) {
            Action a;
            a.act = Act::SetCounter;
            a.count = value ? value->eval(c) : -1;
            add_single(c, out, a);
        });
    };
    m["set Var"] = [](Reader& r) {
        const int n = r.number();  // or -1: the one without a name
        auto value = std::shared_ptr<IntNode>(r.integer());
        return simple(r, [=](Context& c, Action& a) {
            a.act = n < 0 ? Act::SetTemp : Act::SetVariable;
            a.what = n;
            a.count = value ? value->eval(c) : -1;
            return true;
        });
    };
    auto field = [&m](const char* name, Act act) {
        m[name] = [act](Reader& r) {
            const Kind kind = r.kind();
            auto site = std::shared_ptr<IntNode>(r.integer());
            auto level = std::shared_ptr<IntNode>(r.integer());
            auto value = std::shared_ptr<IntNode>(r.integer());
            return simple(r, [=](Context& c, Action& a) {
                const int v = value->eval(c);
                if (v < 0) return false;
                const int l = level ? level->eval(c) : -1;
                if (l < -1) return false;
                const int s = site->eval(c);
                if (c.state.place_anywhere(kind, s) < 0) return false;
                a = site_action(act, kind, s);
                a.level_to = static_cast<int16_t>(l);
                a.count = v;
                return true;
            });
        };
    };
    field("set State", Act::SetState);
    field("set Value", Act::SetValue);
    m["set Rotation"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = std::shared_ptr<IntNode>(r.integer());
        const std::vector<int32_t> given = r.numbers();
        const bool previous = r.flag(), next = r.flag();
        const int most = r.number();
        const bool decision = r.flag();
        auto then = std::make_shared<Consequence>(r);
        return make_moves([=](Context& c, MoveList& out) {
            const int s = site->eval(c), place = c.state.place_anywhere(kind, s);
            if (place < 0) return;
            const uint32_t before = out.last;
            std::vector<int32_t> rotations = given;
            const int now = c.state.rotation(place);
            if (previous) rotations.push_back(now > 0 ? now - 1 : most);
            if (next) rotations.push_back(now < most ? now + 1 : 0);
            for (int rotation : rotations) {
                Action a = site_action(Act::SetRotation, kind, s, decision);
                a.count = rotation;
                add_single(c, out, a);
            }
            then->attach(c, out, before);
        });
    };
    m["set Hidden"] = [](Reader& r) {
        auto hiding = std::make_shared<Hiding>(r);
        auto then = std::make_shared<Consequence>(r);
        return make_moves([=](Context& c, MoveList& out) {
            const uint32_t before = out.last, move = c.arena.add_move();
            hiding->each(c, [&](const Action& a) { c.arena.append_action(move, a); });
            c.arena.append(out, move);
            then->attach(c, out, before);
        });
    };
    m["set Count"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = std::shared_ptr<IntNode>(r.integer());
        auto value = std::shared_ptr<IntNode>(r.integer());
        return simple(r, [=](Context& c, Action& a) {
            const int s = site->eval(c), place = c.state.place_anywhere(kind, s);
            if (place < 0) return false;
            a = site_action(Act::SetCount, kind, s);
            a.what = c.state.what(place);
            a.count = value->eval(c);
            return true;
        });
    };
    m["set Value Player"] = [](Reader& r) {
        auto who = std::shared_ptr<IntNode>(r.integer());
        auto value = std::shared_ptr<IntNode>(r.integer());
        return simple(r, [=](Context& c, Action& a) {
            const int p = who->eval(c);
            if (p < 0 || p > static_cast<int>(c.program.players())) return false;
            a.act = Act::SetPlayerValue;
            a.what = p;
            a.count = value->eval(c);
            return true;
        });
    };
    m["trigger"] = [](Reader& r) {
        auto who = std::shared_ptr<IntNode>(r.integer());
        return make_moves([who](Context& c, MoveList& out) {
            Action a;
            a.act = Act::Trigger;
            a.what = who->eval(c);
            if (a.what >= 0 && a.what <= static_cast<int>(c.program.players()))
                add_single(c, out, a);
        });
    };
    m["note"] = [](Reader& r) {
        return simple(r, [](Context&, Action& a) {
            a.act = Act::Note;
            return true;
        });
    };
}

}  // namespace omnilude::ludeme
