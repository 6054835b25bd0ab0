// The pool of trees and UCT, as Python sees them.
#include <optional>

#include "bindings/bindings.h"
#include "search/pool.h"
#include "search/uct.h"

namespace omnilude {
namespace {

using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Streams = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Plies = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Takes what it knows from a dict of settings, and insists on every one.
class Reader {
  public:
    explicit Reader(const nb::dict& values) : values_(values) {}
    template <class T>
    void operator()(const char* name, T& to) const {
        if (!values_.contains(name)) throw nb::key_error(name);
        to = nb::cast<T>(values_[name]);
    }

  private:
    const nb::dict& values_;
};

SearchSettings read_settings(const nb::dict& values) {
    SearchSettings s;
    const Reader read(values);
    std::string root, first_play;
    read("root", root);
    s.rule = root == "puct" ? SearchSettings::Rule::Puct : SearchSettings::Rule::Gumbel;
    read("first_play", first_play);
    s.first_play_parent = first_play == "parent";
    read("simulations", s.simulations);
    read("c_puct", s.c_puct);
    read("first_play_reduction", s.first_play_reduction);
    read("considered", s.considered);
    read("c_visit", s.c_visit);
    read("c_scale", s.c_scale);
    read("policy_temperature", s.policy_temperature);
    read("noise_fraction", s.noise_fraction);
    read("noise_total", s.noise_total);
    read("temperature", s.temperature);
    read("temperature_moves", s.temperature_moves);
    read("final_temperature", s.final_temperature);
    read("reuse", s.reuse);
    read("solver", s.solver);
    read("cache", s.cache);
    read("full_fraction", s.full_fraction);
    read("fast_simulations", s.fast_simulations);
    read("playouts", s.playouts);
    read("playout_weight", s.playout_weight);
    read("max_length", s.max_length);
    read("most_bytes", s.most_bytes);
    return s;
}

UctSettings read_uct_settings(const nb::dict& values) {
    UctSettings s;
    const Reader read(values);
    read("iterations", s.iterations);
    read("seconds", s.seconds);
    read("playouts", s.playouts);
    read("exploration", s.exploration);
    read("max_length", s.max_length);
    read("moves_only", s.moves_only);
    read("most_bytes", s.most_bytes);
    return s;
}

std::vector<uint32_t> running_sums(const std::vector<uint32_t>& counts) {
    std::vector<uint32_t> sums{0};
    for (uint32_t count : counts) sums.push_back(sums.back() + count);
    return sums;
}

template <class T>
auto as_row(std::vector<T>&& values) {
    const size_t size = values.size();
    return as_array(std::move(values), {size});
}

nb::dict drain(SearchPool& pool) {
    FinishedGames games = pool.drain();
    Records& p = games.positions;
    const Shape& shape = pool.shape();
    const size_t n = p.full.size(), g = games.lengths.size();
    nb::dict out;
    out["states"] = as_array(std::move(p.states), {n, shape.state_bytes});
    out["moves"] = as_array(std::move(p.moves), {n, shape.roles});
    out["q"] = as_array(std::move(p.q), {n, shape.players});
    out["full"] = as_row(std::move(p.full)).cast().attr("view")("bool");
    out["solved"] = as_row(std::move(p.solved)).cast().attr("view")("bool");
    out["surprise"] = as_row(std::move(p.surprise));
    out["policy_offsets"] = as_row(running_sums(p.policy_counts));
    out["policy_slots"] = as_row(std::move(p.policy_slots));
    out["policy_probs"] = as_row(std::move(p.policy_probs));
    out["game_offsets"] = as_row(running_sums(games.lengths));
    out["game_numbers"] = as_row(std::move(games.numbers));
    out["final_states"] = as_array(std::move(games.final_states), {g, shape.state_bytes});
    out["rewards"] = as_array(std::move(games.rewards), {g, shape.players});
    out["cut"] = as_row(std::move(games.cut)).cast().attr("view")("bool");
    return out;
}

nb::dict analysis_dict(Analysis&& a, const Shape& shape) {
    const size_t n = a.simulations.size();
    nb::dict out;
    out["moves"] = as_array(std::move(a.moves), {n, shape.roles});
    out["values"] = as_array(std::move(a.values), {n, shape.players});
    out["simulations"] = as_row(std::move(a.simulations));
    out["solved"] = as_row(std::move(a.solved)).cast().attr("view")("bool");
    out["proven"] = as_array(std::move(a.proven), {n, shape.players}).cast().attr("view")("bool");
    out["offsets"] = as_row(std::move(a.offsets));
    out["slots"] = as_row(std::move(a.slots));
    out["visits"] = as_row(std::move(a.visits));
    out["priors"] = as_row(std::move(a.priors));
    out["q"] = as_row(std::move(a.q));
    return out;
}

void check_players(const Game& game, const std::vector<bool>& is_player) {
    if (is_player.size() != game.roles()) throw nb::value_error("players must name every role");
}

void check_not_terminal(const Game& game, const ConstStates& states) {
    Description description;
    game.describe(states.data(), states.shape(0), description);
    for (size_t i = 0; i < states.shape(0); ++i) {
        bool stuck = false;
        for (size_t r = 0; r < game.roles(); ++r)
            stuck |= description.offsets[i * game.roles() + r] ==
                     description.offsets[i * game.roles() + r + 1];
        if (description.terminal[i] || stuck)
            throw nb::value_error("a terminal position cannot be searched");
    }
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<SearchPool>(m, "SearchPool")
        .def(
            "__init__",
            [](SearchPool* self, const Game& game, const Encoder& encoder,
               std::vector<bool> is_player, const nb::dict& settings, uint32_t games, uint64_t seed,
               uint64_t first_game, uint64_t stride) {
                check_players(game, is_player);
                if (encoder.game().state_bytes() != game.state_bytes())
                    throw nb::value_error("the encoder is of another game");
                if (games < 1) throw nb::value_error("a pool needs at least one tree");
                new (self) SearchPool(game, is_player, &encoder, read_settings(settings), games,
                                      seed, first_game, stride);
            },
            "game"_a, "encoder"_a, "players"_a, "settings"_a, "games"_a, "seed"_a, "first_game"_a,
            "stride"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("play", &SearchPool::play)
        .def("set_starts",
             [](SearchPool& pool, ConstStates states, double share) {
                 check_states(pool.shape().game, states);
                 check_not_terminal(pool.shape().game, states);
                 pool.set_starts({states.data(), states.data() + states.size()}, share);
             })
        .def("set_roots",
             [](SearchPool& pool, ConstStates states, Streams streams, Plies plies) {
                 check_states(pool.shape().game, states);
                 const size_t count = states.shape(0);
                 if (count > pool.trees()) throw nb::value_error("more positions than trees");
                 if (streams.shape(0) != count || plies.shape(0) != count)
                     throw nb::value_error("streams and plies must be as many as the states");
                 check_not_terminal(pool.shape().game, states);
                 pool.set_roots(states.data(), count, streams.data(), plies.data());
             })
        .def_prop_ro("busy", &SearchPool::busy)
        .def_prop_ro("tree_bytes", &SearchPool::tree_bytes)
        .def("stop", &SearchPool::stop)
        .def("results",
             [](SearchPool& pool) {
                 if (pool.busy()) throw std::logic_error("results: searches are under way");
                 return analysis_dict(pool.results(), pool.shape());
             })
        .def(
            "gather",
            [](SearchPool& pool, Rows inputs) {
                if (inputs.shape(0) < pool.trees() || inputs.shape(1) != pool.row_size())
                    throw nb::value_error("inputs must be an array [games, size of a row]");
                nb::gil_scoped_release release;
                return pool.gather(inputs.data());
            },
            "inputs"_a.noconvert())
        .def(
            "scatter",
            [](SearchPool& pool, ConstRows logits, ConstRows values) {
                const Shape& shape = pool.shape();
                if (logits.shape(0) != pool.rows() || logits.shape(1) != shape.policy_size ||
                    values.shape(0) != pool.rows() || values.shape(1) != shape.players)
                    throw nb::value_error(("evaluations must be [" + std::to_string(pool.rows()) +
                                           ", " + std::to_string(shape.policy_size) +
                                           "] logits and [rows, " + std::to_string(shape.players) +
                                           "] values")
                                              .c_str());
                nb::gil_scoped_release release;
                pool.scatter(logits.data(), values.data());
            },
            "logits"_a, "values"_a)
        .def("drain", &drain)
        .def("forget", &SearchPool::forget)
        .def("change", [](SearchPool& pool,
                          const nb::dict& settings) { pool.change(read_settings(settings)); })
        .def_prop_ro("counters", [](const SearchPool& pool) {
            const SearchCounters& counters = pool.counters();
            nb::dict out;
            out["simulations"] = counters.simulations;
            out["evaluations"] = counters.evaluations;
            out["cached"] = counters.cached;
            out["searches"] = counters.searches;
            out["positions"] = counters.positions;
            out["games"] = counters.games;
            return out;
        });

    m.def(
        "search_uct",
        [](const Game& game, std::vector<bool> is_player, ConstStates states, Streams streams,
           const nb::dict& settings, uint64_t seed, uint32_t threads) {
            check_players(game, is_player);
            check_states(game, states);
            if (streams.shape(0) != states.shape(0))
                throw nb::value_error("streams must be as many as the states");
            check_not_terminal(game, states);
            const UctSettings uct = read_uct_settings(settings);
            Analysis analysis;
            {
                nb::gil_scoped_release release;
                analysis = search_uct(game, is_player, states.data(), states.shape(0),
                                      streams.data(), uct, seed, threads);
            }
            return analysis_dict(std::move(analysis), Shape(game, is_player));
        },
        "game"_a, "players"_a, "states"_a, "streams"_a, "settings"_a, "seed"_a, "threads"_a);
}

}  // namespace omnilude
