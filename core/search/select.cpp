#include "search/select.h"

#include <algorithm>
#include <cmath>

namespace omnilude {

namespace {

constexpr float never = -INFINITY;

template <class Score>
uint32_t best_edge(size_t count, Score&& score) {
    uint32_t best = 0;
    float best_score = never;
    for (uint32_t i = 0; i < count; ++i) {
        const float s = score(i);
        if (s > best_score) best_score = s, best = i;
    }
    return best;
}

float temperature_at(const Tree& tree, const SearchSettings& settings) {
    return tree.node(0).ply < settings.temperature_moves ? settings.temperature
                                                         : settings.final_temperature;
}

// What values weigh beside logits.
float value_weight(std::span<const Edge> edges, const SearchSettings& settings) {
    uint32_t most = 0;
    for (const Edge& edge : edges) most = std::max(most, edge.visits);
    return (settings.c_visit + static_cast<float>(most)) * settings.c_scale;
}

// logit + weight * q for every edge, where q of an unvisited edge is the mixed value of the node:
// its own evaluation and those of its visited edges (Danihelka et al. 2022, appendix D).
void improved_logits(const Tree& tree, uint32_t n, const Choice& choice,
                     const SearchSettings& settings, std::vector<float>& out) {
    const auto edges = tree.edges(choice);
    float prior = 0, mean = 0, visits = 0;
    for (const Edge& edge : edges) {
        if (edge.visits == 0) continue;
        visits += static_cast<float>(edge.visits);
        prior += edge.prior;
        mean += edge.prior * tree.value(n, choice, edge);
    }
    const float raw = tree.raw(n, static_cast<uint32_t>(choice.player));
    const float mixed = prior > 0 ? (raw + visits * mean / prior) / (1 + visits) : raw;
    const float weight = value_weight(edges, settings);
    out.resize(edges.size());
    for (size_t i = 0; i < edges.size(); ++i)
        out[i] =
            edges[i].logit + weight * (edges[i].visits ? tree.value(n, choice, edges[i]) : mixed);
}

void softmax(std::vector<float>& values) {
    const float top = *std::max_element(values.begin(), values.end());
    float total = 0;
    for (float& v : values) total += v = std::exp(v - top);
    for (float& v : values) v /= total;
}

// An edge in proportion to weights that sum to `total`; rounding may leave none, then the greatest.
uint32_t draw_edge(const std::vector<float>& weights, float total, RandomStream& random) {
    float left = static_cast<float>(random.uniform()) * total;
    for (uint32_t i = 0; i < weights.size(); ++i)
        if ((left -= weights[i]) < 0) return i;
    return best_edge(weights.size(), [&](uint32_t i) { return weights[i]; });
}

uint32_t select_puct(const Tree& tree, uint32_t n, const Choice& choice,
                     const SearchSettings& settings) {
    const auto edges = tree.edges(choice);
    const auto player = static_cast<uint32_t>(choice.player);
    // The node's own evaluation counts as a visit, so that priors matter from the first walk on.
    const float root = std::sqrt(static_cast<float>(tree.node(n).visits));
    float first_play = 0;
    if (settings.first_play_parent) {
        float tried = 0;
        for (const Edge& edge : edges)
            if (edge.visits) tried += edge.prior;
        first_play = tree.mean(n, player) - settings.first_play_reduction * std::sqrt(tried);
    }
    return best_edge(edges.size(), [&](uint32_t i) {
        const Edge& edge = edges[i];
        const float q = edge.visits ? tree.value(n, choice, edge) : first_play;
        return q + settings.c_puct * edge.prior * root / (1 + static_cast<float>(edge.visits));
    });
}

uint32_t select_gumbel(const Tree& tree, uint32_t n, const Choice& choice,
                       const SearchSettings& settings, std::vector<float>& scratch) {
    improved_logits(tree, n, choice, settings, scratch);
    softmax(scratch);
    const auto edges = tree.edges(choice);
    float visits = 1;
    for (const Edge& edge : edges) visits += static_cast<float>(edge.visits);
    return best_edge(edges.size(), [&](uint32_t i) {
        return scratch[i] - static_cast<float>(edges[i].visits) / visits;
    });
}

uint32_t select_gumbel_root(const Tree& tree, const Choice& choice, const RootPlan::Role& role,
                            const SearchSettings& settings, std::vector<float>& scratch) {
    const auto edges = tree.edges(choice);
    uint32_t simulation = 0;
    for (const Edge& edge : edges) simulation += edge.visits;
    improved_logits(tree, 0, choice, settings, scratch);
    const uint32_t turn = simulation < role.turns.size() ? role.turns[simulation] : 0;
    bool any = false;
    for (const Edge& edge : edges) any |= edge.visits == turn;
    return best_edge(edges.size(), [&](uint32_t i) {
        if (any && edges[i].visits != turn) return never;
        return scratch[i] + role.gumbel[i];
    });
}

// Where several players choose at once, each draws from its improved policy, unless it explores the
// root. Were each to take what its schedule says, all would go through their moves in step: like
// players would meet only each other's like moves, and a move's value would be that of one joint
// move instead of a mean over what the others do.
uint32_t draw_improved(const Tree& tree, uint32_t n, const Choice& choice,
                       const SearchSettings& settings, RandomStream& random,
                       std::vector<float>& scratch) {
    improved_logits(tree, n, choice, settings, scratch);
    softmax(scratch);
    return draw_edge(scratch, 1, random);
}

uint32_t select_uct(const Tree& tree, uint32_t n, const Choice& choice,
                    const SearchSettings& settings, RandomStream& random) {
    const auto edges = tree.edges(choice);
    uint32_t untried = 0, visits = 0;
    for (const Edge& edge : edges) untried += edge.visits == 0, visits += edge.visits;
    if (untried > 0) {
        auto left = static_cast<uint32_t>(random.below(untried));
        for (uint32_t i = 0; i < edges.size(); ++i)
            if (edges[i].visits == 0 && left-- == 0) return i;
    }
    const float log_visits = std::log(static_cast<float>(visits));
    return best_edge(edges.size(), [&](uint32_t i) {
        return tree.value(n, choice, edges[i]) +
               settings.exploration * std::sqrt(log_visits / static_cast<float>(edges[i].visits));
    });
}

}  // namespace

std::vector<uint32_t> considered_visits(uint32_t considered, uint32_t simulations) {
    std::vector<uint32_t> turns;
    if (considered <= 1) {
        for (uint32_t s = 0; s < simulations; ++s) turns.push_back(s);
        return turns;
    }
    uint32_t halvings = 0;
    while ((1u << halvings) < considered) ++halvings;
    std::vector<uint32_t> visits(considered, 0);
    for (uint32_t left = considered; turns.size() < simulations; left = std::max(2u, left / 2)) {
        const uint32_t times = std::max(1u, simulations / (halvings * left));
        for (uint32_t t = 0; t < times; ++t)
            for (uint32_t i = 0; i < left; ++i) turns.push_back(visits[i]++);
    }
    turns.resize(simulations);
    return turns;
}

uint32_t exploring_choice(const Tree& tree, const SearchSettings& settings) {
    const uint32_t players = tree.choosing_players(0);
    if (settings.rule != SearchSettings::Rule::Gumbel || players < 2) return every_choice;
    if (!tree.node(0).evaluated) return every_choice;
    uint32_t turn = (tree.node(0).visits - 1) % players, number = 0;
    for (const Choice& choice : tree.choices(0)) {
        if (choice.player >= 0 && turn-- == 0) break;
        ++number;
    }
    return number;
}

void plan_root(Tree& tree, const SearchSettings& settings, RandomStream& random, RootPlan& plan) {
    const auto choices = tree.choices(0);
    plan.roles.resize(choices.size());
    const uint32_t players = tree.choosing_players(0);
    uint32_t place = 0;  // of a player among those who take turns at exploring
    for (size_t c = 0; c < choices.size(); ++c) {
        if (choices[c].player < 0) continue;
        RootPlan::Role& role = plan.roles[c];
        const auto edges = tree.edges(choices[c]);
        if (settings.rule == SearchSettings::Rule::Gumbel) {
            const float scale = plan.noisy ? temperature_at(tree, settings) : 0;
            role.gumbel.resize(edges.size());
            for (float& g : role.gumbel)
                g = scale > 0 ? scale * static_cast<float>(random.gumbel()) : 0;
            const uint32_t share = (plan.simulations + players - 1 - place++) / players;
            uint32_t considered = std::min(settings.considered, choices[c].count);
            // Those who share the walks consider fewer moves, or each would be seen only once.
            if (players > 1) considered = std::min(considered, std::max(2u, share / 2));
            if (role.considered != considered || role.turns.size() != share) {
                role.turns = considered_visits(considered, share);
                role.considered = considered;
            }
        } else if (plan.noisy && settings.noise_fraction > 0) {
            const double alpha = settings.noise_total / static_cast<double>(edges.size());
            role.gumbel.resize(edges.size());
            double total = 0;
            for (float& g : role.gumbel) total += g = static_cast<float>(random.gamma(alpha));
            for (size_t i = 0; i < edges.size() && total > 0; ++i)
                edges[i].prior =
                    (1 - settings.noise_fraction) * std::exp(edges[i].logit) +
                    settings.noise_fraction * role.gumbel[i] / static_cast<float>(total);
        }
    }
}

uint32_t select_edge(const Tree& tree, uint32_t n, const Choice& choice, const RootPlan& plan,
                     const SearchSettings& settings, RandomStream& random,
                     std::vector<float>& scratch) {
    if (choice.player < 0) return static_cast<uint32_t>(random.below(choice.count));
    switch (settings.rule) {
        case SearchSettings::Rule::Uct:
            return select_uct(tree, n, choice, settings, random);
        case SearchSettings::Rule::Puct:
            return select_puct(tree, n, choice, settings);
        case SearchSettings::Rule::Gumbel:
            break;
    }
    const auto number = static_cast<size_t>(&choice - tree.choices(n).data());
    const bool together = tree.choosing_players(n) > 1;
    if (n == 0 && (!together || number == tree.counted()))
        return select_gumbel_root(tree, choice, plan.roles[number], settings, scratch);
    return together ? draw_improved(tree, n, choice, settings, random, scratch)
                    : select_gumbel(tree, n, choice, settings, scratch);
}

uint32_t choose_edge(const Tree& tree, size_t number, const RootPlan& plan,
                     const SearchSettings& settings, RandomStream& random,
                     std::vector<float>& scratch) {
    const Choice& choice = tree.choices(0)[number];
    const auto edges = tree.edges(choice);
    if (choice.player < 0) return static_cast<uint32_t>(random.below(choice.count));
    const auto player = static_cast<uint32_t>(choice.player);
    const bool alone = tree.node(0).choices == 1;
    // What is solved decides; a move that best play answers by taking everything is not made
    // while there is another.
    if (alone && tree.node(0).solved) {
        const float best = tree.mean(0, player);
        return best_edge(edges.size(), [&](uint32_t i) {
            if (!tree.solved(0, edges[i])) return -1.0f;
            const bool reached = tree.value(0, choice, edges[i]) >= best - 1e-6f;
            return reached ? 1 + static_cast<float>(edges[i].visits) : 0.0f;
        });
    }
    auto lost = [&](const Edge& edge) {
        return alone && tree.solved(0, edge) && tree.value(0, choice, edge) <= 1e-6f;
    };
    if (settings.rule == SearchSettings::Rule::Gumbel) {
        // Halving leaves the best with most visits.
        uint32_t most = 0;
        for (const Edge& edge : edges)
            if (!lost(edge)) most = std::max(most, edge.visits);
        improved_logits(tree, 0, choice, settings, scratch);
        return best_edge(edges.size(), [&](uint32_t i) {
            if (lost(edges[i])) return -1e30f;
            return edges[i].visits == most ? scratch[i] + plan.roles[number].gumbel[i] : -1e20f;
        });
    }
    const float temperature =
        settings.rule == SearchSettings::Rule::Uct ? 0.0f : temperature_at(tree, settings);
    if (temperature < 1e-3f || !plan.noisy) {
        // Between moves visited alike, the better value; priors break the remaining ties.
        return best_edge(edges.size(), [&](uint32_t i) {
            if (lost(edges[i])) return -1.0f;
            const float value = edges[i].visits ? tree.value(0, choice, edges[i]) : 0.0f;
            return static_cast<float>(edges[i].visits) + 0.5f * value + 1e-3f * edges[i].prior;
        });
    }
    scratch.resize(edges.size());
    float total = 0, most = 1;
    for (const Edge& edge : edges) most = std::max(most, static_cast<float>(edge.visits));
    for (size_t i = 0; i < edges.size(); ++i) {
        const float share = static_cast<float>(edges[i].visits) / most;
        scratch[i] = lost(edges[i]) ? 0.0f : std::pow(share, 1 / temperature);
        total += scratch[i];
    }
    if (total <= 0) return best_edge(edges.size(), [&](uint32_t i) { return edges[i].prior; });
    return draw_edge(scratch, total, random);
}

bool moves_settled(const Tree& tree, uint32_t walks_left) {
    for (const Choice& choice : tree.choices(0)) {
        if (choice.player < 0) continue;
        uint32_t most = 0, second = 0;
        for (const Edge& edge : tree.edges(choice)) {
            second = std::max(second, std::min(most, edge.visits));
            most = std::max(most, edge.visits);
        }
        if (most - second <= walks_left) return false;
    }
    return true;
}

void policy_target(const Tree& tree, const Choice& choice, const SearchSettings& settings,
                   std::vector<float>& target) {
    const auto edges = tree.edges(choice);
    const bool solved = tree.node(0).solved && tree.node(0).choices == 1;
    const float best = solved ? tree.mean(0, static_cast<uint32_t>(choice.player)) : 0;
    // Of a solved position only the moves that reach the result are to be learnt.
    auto counts = [&](const Edge& edge) {
        return !solved || (tree.solved(0, edge) && tree.value(0, choice, edge) >= best - 1e-6f);
    };
    if (settings.rule == SearchSettings::Rule::Gumbel) {
        improved_logits(tree, 0, choice, settings, target);
        for (size_t i = 0; i < edges.size(); ++i)
            if (!counts(edges[i])) target[i] = never;
        softmax(target);
        return;
    }
    target.assign(edges.size(), 0.0f);
    float total = 0;
    for (size_t i = 0; i < edges.size(); ++i)
        if (counts(edges[i])) total += target[i] = static_cast<float>(edges[i].visits);
    for (size_t i = 0; i < edges.size(); ++i)
        target[i] = total > 0 ? target[i] / total : edges[i].prior;
}

void root_values(const Tree& tree, const SearchSettings& settings, std::vector<float>& target,
                 float* values) {
    const uint32_t players = tree.shape().players;
    for (uint32_t p = 0; p < players; ++p) values[p] = tree.mean(0, p);
    const Node& root = tree.node(0);
    if (settings.rule != SearchSettings::Rule::Gumbel || root.solved) return;
    // To those who do not choose it is worth what the choosers' moves make it on average.
    uint32_t told = 0;
    auto chooses = [&](uint32_t p) {
        return std::ranges::any_of(tree.choices(0), [&](const Choice& choice) {
            return choice.player == static_cast<int32_t>(p);
        });
    };
    for (const Choice& choice : tree.choices(0)) {
        if (choice.player < 0) continue;
        policy_target(tree, choice, settings, target);
        const auto edges = tree.edges(choice);
        float seen = 0;
        for (size_t i = 0; i < edges.size(); ++i)
            if (edges[i].visits) seen += target[i];
        if (seen < 1e-6f) continue;
        ++told;
        const auto chooser = static_cast<uint32_t>(choice.player);
        for (uint32_t p = 0; p < players; ++p) {
            if (p != chooser && chooses(p)) continue;
            float sum = 0;
            for (size_t i = 0; i < edges.size(); ++i) {
                if (!edges[i].visits) continue;
                sum += target[i] * (p == chooser       ? tree.value(0, choice, edges[i])
                                    : root.choices > 1 ? tree.root_mean(edges[i], p)
                                                       : tree.mean(edges[i].child, p));
            }
            const float value = sum / seen;
            values[p] =
                p == chooser ? value : values[p] + (value - values[p]) / static_cast<float>(told);
        }
    }
}

}  // namespace omnilude
