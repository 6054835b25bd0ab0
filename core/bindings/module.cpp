// The games, as Python sees them.
#include "base/large_stack.h"
#include "bindings/bindings.h"
#include "circuit/circuit_game.h"
#include "circuit/cross_check.h"
#include "datalog/interpreted_game.h"

namespace omnilude {
namespace {

Program decode(std::vector<std::string> symbols, const CodeArray& code) {
    return decode_program(std::move(symbols), {code.data(), code.shape(0)});
}

nb::dict size_report(const CircuitGame& game) {
    const CircuitGame::Size& size = game.size();
    nb::dict out;
    out["instances"] = size.instances;
    out["gates"] = size.gates;
    out["fluents"] = size.fluents;
    out["moves"] = size.moves;
    out["recursive_atoms"] = size.recursions;
    out["describe_gates"] = size.describe_gates;
    out["goal_gates"] = size.goal_gates;
    out["advance_gates"] = size.advance_gates;
    out["lanes"] = size.width * lanes_per_word;
    out["machine_code"] = size.machine_code;
    out["odd_goal"] = size.odd_goal;
    return out;
}

nb::dict playouts(const Game& game, uint64_t count, uint64_t seed, uint32_t threads,
                  uint32_t max_length, bool detailed) {
    PlayoutResult result;
    {
        nb::gil_scoped_release release;
        result = game.playouts({count, seed, threads, max_length, detailed});
    }
    nb::list outcomes;
    for (const auto& outcome : result.outcomes)
        outcomes.append(nb::make_tuple(outcome.role, outcome.value, outcome.count));
    nb::dict out;
    out["outcomes"] = outcomes;
    out["finished"] = result.finished;
    out["stuck"] = result.stuck;
    out["cut"] = result.cut;
    out["steps"] = result.steps;
    out["lengths"] = result.lengths;
    out["legal_moves"] = result.legal_moves;
    out["choices"] = result.choices;
    return out;
}

nb::tuple describe(const Game& game, const ConstStates& states) {
    check_states(game, states);
    const size_t count = states.shape(0), roles = game.roles();
    Description out;
    {
        nb::gil_scoped_release release;
        game.describe(states.data(), count, out);
    }
    const size_t moves = out.moves.size();
    return nb::make_tuple(as_array(std::move(out.terminal), {count}),
                          as_array(std::move(out.rewards), {count, roles}),
                          as_array(std::move(out.offsets), {count * roles + 1}),
                          as_array(std::move(out.moves), {moves}), out.odd_goals);
}

}  // namespace

NB_MODULE(_core, m) {
    nb::exception<BudgetExceeded>(m, "BudgetExceeded");
    nb::exception<IllegalMoveError>(m, "IllegalMoveError");
    nb::exception<NegationInRecursion>(m, "NegationInRecursion");

    nb::class_<Game>(m, "Game")
        .def_prop_ro("state_bytes", &Game::state_bytes)
        .def_prop_ro("roles",
                     [](const Game& game) {
                         std::vector<std::string> names;
                         for (uint32_t r = 0; r < game.roles(); ++r)
                             names.push_back(game.role_name(r));
                         return names;
                     })
        .def("slots", [](const Game& g, uint32_t role) { return g.slots(check_role(g, role)); })
        .def("move_name",
             [](const Game& game, uint32_t role, uint32_t slot) {
                 if (slot >= game.slots(check_role(game, role)))
                     throw nb::index_error("no such move");
                 return game.move_name(role, slot);
             })
        .def("find_move",
             [](const Game& game, uint32_t role, const std::string& name) {
                 return game.find_move(check_role(game, role), name);
             })
        .def(
            "initial",
            [](const Game& game, size_t count) {
                if (count > (size_t{1} << 40) / game.state_bytes())
                    throw nb::value_error("too many states");
                std::vector<uint8_t> states(count * game.state_bytes());
                for (size_t i = 0; i < count; ++i) game.initial(&states[i * game.state_bytes()]);
                return as_array(std::move(states), {count, game.state_bytes()});
            },
            "count"_a = 1)
        .def(
            "advance",
            [](const Game& game, States states, Moves moves) {
                check_states(game, states);
                if (moves.shape(0) != states.shape(0) || moves.shape(1) != game.roles())
                    throw nb::value_error("moves must be an array [states, roles]");
                nb::gil_scoped_release release;
                game.advance(states.data(), states.shape(0), moves.data());
            },
            "states"_a.noconvert(), "moves"_a)
        .def("describe", &describe, "states"_a)
        .def("playouts", &playouts, "count"_a, "seed"_a, "threads"_a, "max_length"_a, "detailed"_a)
        .def(
            "rollouts",
            [](const Game& game, ConstStates states, uint32_t each, uint64_t seed,
               uint32_t max_length) {
                check_states(game, states);
                if (each < 1) throw nb::value_error("at least one playout from each state");
                const size_t count = states.shape(0), roles = game.roles();
                std::vector<float> rewards(count * roles);
                {
                    nb::gil_scoped_release release;
                    game.rollouts(states.data(), count, each, seed, max_length, rewards.data());
                }
                return as_array(std::move(rewards), {count, roles});
            },
            "states"_a, "each"_a, "seed"_a, "max_length"_a)
        .def("facts",
             [](const Game& game, ConstStates states) {
                 check_states(game, states);
                 return game.facts(states.data());
             })
        .def("percepts", [](const Game& game, ConstStates states, uint32_t role) {
            check_states(game, states);
            return game.percepts(states.data(), check_role(game, role));
        });

    nb::class_<CircuitGame, Game>(m, "CircuitGame")
        .def_static(
            "make",
            [](std::vector<std::string> symbols, CodeArray code, double seconds, uint64_t bytes,
               uint64_t instances, bool machine_code, uint32_t width, bool views) {
                Program program = decode(std::move(symbols), code);
                nb::gil_scoped_release release;
                Budget budget(seconds, bytes, instances);
                CircuitSettings settings;
                settings.machine_code = machine_code;
                settings.width = width;
                settings.views = views;
                std::unique_ptr<CircuitGame> game;
                run_with_large_stack([&] {
                    game = std::make_unique<CircuitGame>(std::move(program), budget, settings);
                });
                return game;
            },
            "symbols"_a, "code"_a, "seconds"_a, "bytes"_a, "instances"_a, "machine_code"_a,
            "width"_a, "views"_a = false)
        .def_prop_ro("size", &size_report)
        .def_prop_ro("playout_gates", &CircuitGame::playout_gates)
        .def_prop_ro("fluents", &CircuitGame::fluents)
        .def_prop_ro("view_names", &CircuitGame::view_names);

    nb::class_<InterpretedGame, Game>(m, "InterpretedGame")
        .def_static(
            "make",
            [](std::vector<std::string> symbols, CodeArray code, double seconds, uint64_t bytes) {
                Program program = decode(std::move(symbols), code);
                nb::gil_scoped_release release;
                return std::make_unique<InterpretedGame>(
                    std::make_unique<Reasoner>(std::move(program), seconds, bytes));
            },
            "symbols"_a, "code"_a, "seconds"_a, "bytes"_a);

    m.def(
        "cross_check",
        [](const CircuitGame& game, std::vector<std::string> symbols, CodeArray code,
           uint64_t playouts, double seconds, uint64_t bytes, uint64_t seed) {
            Program program = decode(std::move(symbols), code);
            CrossCheck check;
            {
                nb::gil_scoped_release release;
                Reasoner reasoner(std::move(program), seconds, bytes);
                check = cross_check(game, reasoner, playouts, seconds, seed);
            }
            return nb::make_tuple(check.playouts, check.positions, check.difference);
        },
        "game"_a, "symbols"_a, "code"_a, "playouts"_a, "seconds"_a, "bytes"_a, "seed"_a);
    m.def("machine_code_possible", &machine_code_possible);
    bind_encoding(m);
    bind_search(m);
    bind_ludeme(m);
    bind_rule_graph(m);
}

}  // namespace omnilude
