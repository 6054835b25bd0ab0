// Games described by ludemes, as far as tests look at them move by move.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "ludeme/load.h"
#include "ludeme/ludeme_game.h"
#include "ludeme/rays.h"

namespace omnilude {

namespace {

using namespace ludeme;

constexpr const char* act_names[] = {
    "Nested",        "Move",       "MoveCount",      "MovePart",    "Copy",
    "Add",           "Insert",     "Remove",         "RemoveLater", "Promote",
    "Select",        "Pass",       "Swap",           "Propose",     "Vote",
    "Bet",           "SetState",   "SetRotation",    "SetValue",    "SetCount",
    "SetNextPlayer", "SetScore",   "AddScore",       "SetCounter",  "SetVariable",
    "SetTemp",       "SetPending", "SetPlayerValue", "SetAmount",   "SetPot",
    "SetTeam",       "Remember",   "Forget",         "StoreState",  "Trigger",
    "UpdateDie",     "UseDie",     "SetDiceEqual",   "SetHidden",   "Note"};

// One game that is played, with everything that needs memory.
class Table {
  public:
    Table(std::vector<std::string> symbols, std::vector<int32_t> code, uint64_t seed)
        : program_(load_program(symbols, code)), random_(seed, 0) {
        block_.resize((program_->layout.bytes + 15) / 16 + 1);
        arena_.set_block(program_->layout.bytes);
        restart();
    }

    void restart() {
        moves_ = MoveList();
        listed_ = false;
        arena_.release({0, 0, 0, 0});
        program_->start_game(bytes(), arena_, random_);
    }

    size_t list() {
        if (!listed_) {
            arena_.release({0, 0, 0, 0});
            moves_ = MoveList();
            Context c(*program_, bytes(), arena_, &random_);
            program_->legal_moves(c, moves_);
            numbers_.clear();
            for (uint32_t n = moves_.first; n != none; n = arena_.move(n).next)
                numbers_.push_back(n);
            listed_ = true;
        }
        return numbers_.size();
    }

    // `noted`: what it does is made as a list of actions, as `actions` does.
    void play(size_t n, bool noted) {
        if (n >= list()) throw nb::index_error("no such move");
        Context c(*program_, bytes(), arena_, &random_);
        program_->apply(c, numbers_[n], noted ? arena_.add_move() : none);
        listed_ = false;
    }

    nb::tuple move(size_t n) {
        if (n >= list()) throw nb::index_error("no such move");
        const Move& m = arena_.move(numbers_[n]);
        return nb::make_tuple(static_cast<int>(m.from), static_cast<int>(m.to),
                              static_cast<int>(m.mover), has_pass(numbers_[n]));
    }

    // What a move does, consequences and all, action by action:
    // (name, kind from, from, level, kind to, to, level, what, count, state, rotation, value,
    // decision, stack).
    nb::list actions(size_t n) {
        if (n >= list()) throw nb::index_error("no such move");
        const std::vector<Chunk> before = block_;
        const uint32_t flat = arena_.add_move();
        Context c(*program_, bytes(), arena_, &random_);
        program_->apply(c, numbers_[n], flat);
        block_ = before;
        nb::list out;
        for (uint32_t m = arena_.move(flat).first_action; m != none; m = arena_.action(m).next) {
            const Action& a = arena_.action(m);
            nb::list entry;
            entry.append(act_names[static_cast<size_t>(a.act)]);
            for (const int value :
                 {int{a.kind_from}, int{a.from}, int{a.level_from}, int{a.kind_to}, int{a.to},
                  int{a.level_to}, a.what, a.count, int{a.state}, int{a.rotation}, a.value,
                  int{a.decision}, int{a.stack}})
                entry.append(value);
            out.append(nb::tuple(entry));
        }
        return out;
    }

    // (from, to) of all moves that can be drawn by their numbers; none where they are listed only.
    std::optional<std::vector<std::pair<int, int>>> drawn() {
        arena_.release({0, 0, 0, 0});
        listed_ = false;
        Context c(*program_, bytes(), arena_, &random_);
        const DrawSource source = program_->draw_source(c);
        if (source.numbers < 0) return std::nullopt;
        std::vector<std::pair<int, int>> found;
        for (int64_t n = 0; n < source.numbers; ++n) {
            const uint32_t move = program_->draw_number(c, source, n);
            if (move != none) found.emplace_back(arena_.move(move).from, arena_.move(move).to);
            if (!source.singles || (source.swap && n == source.numbers - 1)) continue;
            Single single;
            const bool drawn = source.node->draw_single(c, n, single);
            c.registers = Registers();
            if (drawn != (move != none) ||
                (drawn && found.back() != std::pair<int, int>(single.from, single.to)))
                throw nb::value_error("a number stands for another move where it is a single one");
        }
        return found;
    }

    // (from, to) of all moves, none of them ruled out but by evaluating it.
    std::vector<std::pair<int, int>> plain() {
        arena_.release({0, 0, 0, 0});
        listed_ = false;
        Context c(*program_, bytes(), arena_, &random_);
        c.plain = true;
        MoveList all;
        program_->legal_moves(c, all);
        std::vector<std::pair<int, int>> found;
        for (uint32_t m = all.first; m != none; m = arena_.move(m).next)
            found.emplace_back(arena_.move(m).from, arena_.move(m).to);
        return found;
    }

    // Sites that the mover could move to, and whether there is a move (-1): first as it is found
    // without making moves, then by the list of them.
    std::pair<std::vector<int>, std::vector<int>> reach() {
        arena_.release({0, 0, 0, 0});
        listed_ = false;
        const Context fresh(*program_, bytes(), arena_, &random_);
        const auto mover = static_cast<uint32_t>(fresh.scalars().mover);
        const MovesNode& play =
            *program_->phases[static_cast<size_t>(fresh.state.phase(mover))].play;
        std::pair<std::vector<int>, std::vector<int>> found;
        Context c(*program_, bytes(), arena_, &random_);
        MoveList list;
        play.eval(c, list);
        if (!list.empty()) found.second.push_back(-1);
        c.registers = Registers();
        if (play.any(c)) found.first.push_back(-1);
        for (int s = 0; s < static_cast<int>(program_->board.board_sites()); ++s) {
            c.registers = Registers();
            if (play.can_move_to(c, s)) found.first.push_back(s);
            bool listed = false;
            for (uint32_t m = list.first; m != none && !listed; m = arena_.move(m).next)
                listed = arena_.move(m).to == s;
            if (listed) found.second.push_back(s);
        }
        return found;
    }

    // The faces that the next roll will show, by die.
    void set_roll(const std::vector<int32_t>& faces) {
        const State s(bytes(), program_->layout, program_->board);
        if (faces.size() != program_->layout.wants.dice)
            throw nb::value_error("a face for each die is needed");
        for (uint32_t d = 0; d < faces.size(); ++d) s.rolled(d) = faces[d];
        s.scalars().rolled = 1;
        listed_ = false;
    }

    nb::bytes state() const {
        return nb::bytes(reinterpret_cast<const char*>(const_cast<Table*>(this)->bytes()),
                         program_->layout.bytes);
    }
    void set_state(nb::bytes data) {
        if (data.size() != program_->layout.bytes) throw nb::value_error("a state of another game");
        std::memcpy(bytes(), data.c_str(), data.size());
        listed_ = false;
    }

    // What is on the sites: (kind, site) to (who, what, count, state, rotation, value) by level.
    nb::dict sites() {
        nb::dict out;
        const State s(bytes(), program_->layout, program_->board);
        for (int kind = 0; kind < 3; ++kind)
            for (uint32_t site = 0; site < program_->layout.layer_size[kind]; ++site) {
                const int place = s.place(static_cast<Kind>(kind), static_cast<int>(site));
                nb::list levels;
                for (int level = 0; level < s.height(place); ++level)
                    levels.append(nb::make_tuple(s.who(place, level), s.what(place, level),
                                                 s.stacking() ? 1 : s.count(place),
                                                 s.state(place, level), s.rotation(place, level),
                                                 s.value(place, level)));
                if (nb::len(levels)) out[nb::make_tuple(kind, site)] = levels;
            }
        return out;
    }

    nb::dict scalars() {
        const Scalars& k = *reinterpret_cast<const Scalars*>(bytes());
        nb::dict out;
        out["mover"] = k.mover;
        out["next"] = k.next;
        out["over"] = k.over != 0;
        out["winner"] = k.winner;
        out["plies"] = k.plies;
        out["turn"] = k.turn;
        nb::list ranking;
        for (uint32_t p = 1; p <= program_->players(); ++p) ranking.append(k.ranking[p]);
        out["ranking"] = ranking;
        return out;
    }

    // One ply as random play makes it, without a list of moves where that can be done.
    void play_random() {
        if (reinterpret_cast<const Scalars*>(bytes())->over)
            throw nb::value_error("the game is over");
        Context c(*program_, bytes(), arena_, &random_);
        arena_.release({0, 0, 0, 0});
        program_->play_random(c, random_);
        listed_ = false;
    }

    // Random play to the end as search has it; returns the plies made, at most `limit`.
    uint64_t playout(uint64_t limit) {
        nb::gil_scoped_release release;
        Context c(*program_, bytes(), arena_, &random_);
        arena_.release({0, 0, 0, 0});
        listed_ = false;
        return program_->play_out(c, random_, limit);
    }

  private:
    uint8_t* bytes() { return reinterpret_cast<uint8_t*>(block_.data()); }
    bool has_pass(uint32_t move) {
        for (uint32_t n = arena_.move(move).first_action; n != none; n = arena_.action(n).next)
            if (arena_.action(n).act == Act::Pass) return true;
        return false;
    }

    std::unique_ptr<Program> program_;
    RandomStream random_;
    struct alignas(16) Chunk {
        uint8_t bytes[16];
    };
    std::vector<Chunk> block_;
    Arena arena_;
    MoveList moves_;
    std::vector<uint32_t> numbers_;
    bool listed_ = false;
};

}  // namespace

void bind_ludeme(nb::module_& m) {
    nb::exception<GameError>(m, "GameError");
    m.def(
        "trace_rays",
        [](nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> points,
           CodeArray starts, CodeArray ends) {
            std::vector<std::array<double, 3>> list(points.shape(0));
            for (size_t n = 0; n < list.size(); ++n)
                for (size_t k = 0; k < 3; ++k) list[n][k] = points(n, k);
            if (starts.shape(0) != list.size() * direction::count + 1)
                throw nb::value_error("a list for each direction and site is needed");
            Lists given;
            given.start.assign(starts.data(), starts.data() + starts.shape(0));
            given.items.assign(ends.data(), ends.data() + ends.shape(0));
            RayTables tables = trace_rays(list, given);
            nb::dict out;
            auto add = [&](const char* name, std::vector<int32_t> values) {
                const size_t size = values.size();
                out[name] = as_array(std::move(values), {size});
            };
            auto as_numbers = [](const std::vector<uint32_t>& values) {
                return std::vector<int32_t>(values.begin(), values.end());
            };
            add("start", as_numbers(tables.rays.start));
            add("items", tables.rays.items);
            add("direction", tables.direction);
            add("opposite", tables.opposite);
            add("at_start", as_numbers(tables.at.start));
            add("at_items", tables.at.items);
            add("distinct_start", as_numbers(tables.distinct.start));
            add("distinct_items", tables.distinct.items);
            return out;
        },
        "points"_a, "starts"_a, "ends"_a);
    nb::class_<LudemeGame, Game>(m, "LudemeGame")
        .def_static(
            "make",
            [](std::vector<std::string> symbols, CodeArray code) {
                const std::vector<int32_t> numbers(code.data(), code.data() + code.shape(0));
                nb::gil_scoped_release release;
                return std::make_unique<LudemeGame>(load_program(symbols, numbers));
            },
            "symbols"_a, "code"_a)
        .def(
            "pieces",
            [](const LudemeGame& game, ConstStates states, uint32_t viewer) {
                check_states(game, states);
                if (viewer > game.program().players()) throw nb::value_error("no such player");
                nb::list out;
                for (const LudemeGame::Piece& p : game.pieces(states.data(), viewer))
                    out.append(nb::make_tuple(p.kind, p.site, p.level, p.who, p.what, p.count,
                                              p.state, p.rotation, p.value));
                return out;
            },
            "states"_a, "viewer"_a = 0)
        .def_prop_ro("components", [](const LudemeGame& game) {
            std::vector<std::string> names;
            for (const Component& one : game.program().board.components) names.push_back(one.name);
            return names;
        });
    nb::class_<Table>(m, "LudemeTable")
        .def(nb::init<std::vector<std::string>, std::vector<int32_t>, uint64_t>(), "symbols"_a,
             "code"_a, "seed"_a)
        .def("restart", &Table::restart)
        .def("count_moves", &Table::list)
        .def("move", &Table::move)
        .def("actions", &Table::actions)
        .def("drawn", &Table::drawn)
        .def("plain", &Table::plain)
        .def("reach", &Table::reach)
        .def("set_roll", &Table::set_roll)
        .def("play", &Table::play, "number"_a, "noted"_a = false)
        .def("play_random", &Table::play_random)
        .def("playout", &Table::playout, "limit"_a)
        .def("sites", &Table::sites)
        .def("scalars", &Table::scalars)
        .def_prop_rw("state", &Table::state, &Table::set_state);
}

}  // namespace omnilude
