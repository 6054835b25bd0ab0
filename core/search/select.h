// Which edge a walk takes, which move is played, and what the policy learns from it.
#pragma once

#include <vector>

#include "search/settings.h"
#include "search/tree.h"

namespace omnilude {

// Exploration at the root of one search.
struct RootPlan {
    struct Role {
        uint32_t considered = 0;    // Gumbel: how many moves sequential halving begins with
        std::vector<float> gumbel;  // by edge
        std::vector<uint32_t>
            turns;  // Gumbel: by walk that explores it, visits of edges in question
    };
    std::vector<Role> roles;  // by choice of the root
    bool noisy = true;
    uint32_t simulations = 0;
};

// Where several players choose at the root, they take turns at exploring it: which choice the next
// walk explores. The others draw from their improved policies meanwhile, and the walk tells nothing
// of their moves: a move is worth what it brings against what the others mean to do, not against
// what they try. Elsewhere, and by the other rules, every walk counts for all.
uint32_t exploring_choice(const Tree& tree, const SearchSettings& settings);

// Draws the noise of a search of the root, which must be evaluated.
void plan_root(Tree& tree, const SearchSettings& settings, RandomStream& random, RootPlan& plan);

// The edge that a walk takes, as a number within the choice.
uint32_t select_edge(const Tree& tree, uint32_t node, const Choice& choice, const RootPlan& plan,
                     const SearchSettings& settings, RandomStream& random,
                     std::vector<float>& scratch);

// The edge that is played in the end, and the target for the policy, by edge.
uint32_t choose_edge(const Tree& tree, size_t choice_number, const RootPlan& plan,
                     const SearchSettings& settings, RandomStream& random,
                     std::vector<float>& scratch);
// Whether that edge is certain for every choice of the root by UCT, whatever so many more walks do.
bool moves_settled(const Tree& tree, uint32_t walks_left);
void policy_target(const Tree& tree, const Choice& choice, const SearchSettings& settings,
                   std::vector<float>& target);

// What the root is worth to each player. Sequential halving spends many of its walks on moves that
// turn out badly, so their mean is too low for whoever moves: here moves count as much as the
// improved policy plays them.
void root_values(const Tree& tree, const SearchSettings& settings, std::vector<float>& scratch,
                 float* values);

// Gumbel AlphaZero's schedule (Danihelka et al. 2022): for each simulation, how often an edge must
// have been visited to be in question.
std::vector<uint32_t> considered_visits(uint32_t considered, uint32_t simulations);

}  // namespace omnilude
