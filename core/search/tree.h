// One search tree: positions, what each role may do there, and what came of it.
//
// A node holds the state itself. For every role that has a choice there, chance included, it has a
// list of edges; roles that move together choose independently of each other (decoupled), so an
// edge belongs to one role and a child to a joint choice. Values are vectors with one number for
// each player: everyone maximises their own (max-n).
//
// A node in which no player has a choice (forced moves, chance alone) needs no evaluation: walks
// pass through it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/game.h"
#include "base/random.h"
#include "search/settings.h"

namespace omnilude {

constexpr uint32_t no_node = UINT32_MAX;
constexpr uint32_t every_choice = UINT32_MAX;

// What the trees of a game have in common.
struct Shape {
    Shape(const Game& game, const std::vector<bool>& is_player);
    const Game& game;
    size_t state_bytes;
    uint32_t roles, players = 0, policy_size = 0;
    std::vector<int32_t> player_of;       // by role; -1 for chance
    std::vector<uint32_t> role_of;        // by player
    std::vector<uint32_t> policy_offset;  // by player: where its slots begin in a policy vector
};

struct Edge {
    int32_t slot;
    float logit = 0, prior = 0;
    uint32_t visits = 0;
    float sum = 0;             // of values for the player that chooses
    uint32_t child = no_node;  // only where nobody else has a choice
};

struct Choice {
    uint32_t role;
    int32_t player;  // -1: chance
    uint32_t first, count;
};

struct Node {
    uint32_t first_choice, visits, ply;
    uint32_t proven;  // one bit for each player: its value is exact, see `proven_players`
    uint16_t choices;
    bool passing : 1;    // no player has a choice
    bool limit : 1;      // at the greatest length: evaluated, but nothing lies beyond
    bool evaluated : 1;  // has priors
    bool ended : 1;      // terminal, stuck or too long: no walk goes beyond
    bool solved : 1;     // its value is that of best play: no walk goes beyond either
};

// Beyond the bits of `Node::proven` nothing is said of a player.
inline uint32_t player_bit(uint32_t player) { return player < 32 ? 1u << player : 0; }

class Tree {
  public:
    explicit Tree(const Shape& shape) : shape_(shape), moves_(shape.roles) {}

    void clear();
    bool empty() const { return nodes_.empty(); }
    uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
    // What is held, without the room that is kept for more.
    size_t bytes() const {
        const size_t node_bytes = sizeof(Node) + shape_.state_bytes +
                                  shape_.roles * sizeof(int32_t) +
                                  2 * shape_.players * sizeof(float);
        return nodes_.size() * node_bytes + choices_.size() * sizeof(Choice) +
               edges_.size() * sizeof(Edge) + links_.size() * sizeof(Link);
    }
    // The root is node 0. Row `row` of the description is of this state.
    uint32_t add(const uint8_t* state, const Description& description, size_t row, uint32_t ply,
                 uint32_t max_length);
    // Makes a node that holds this state the root, at this ply, and drops what is not below it.
    bool keep_below(const uint8_t* state, uint32_t ply, uint32_t max_length);

    const Node& node(uint32_t n) const { return nodes_[n]; }
    const uint8_t* state(uint32_t n) const { return &states_[n * shape_.state_bytes]; }
    const Shape& shape() const { return shape_; }
    std::span<const Choice> choices(uint32_t n) const {
        return {choices_.data() + nodes_[n].first_choice, nodes_[n].choices};
    }
    std::span<Edge> edges(const Choice& choice) { return {&edges_[choice.first], choice.count}; }
    std::span<const Edge> edges(const Choice& choice) const {
        return {&edges_[choice.first], choice.count};
    }
    uint32_t choosing_players(uint32_t n) const {
        if (nodes_[n].choices == 1) return !nodes_[n].passing;
        uint32_t count = 0;
        for (const Choice& choice : choices(n)) count += choice.player >= 0;
        return count;
    }
    // The slots of the roles that have no choice; others hold the first legal one.
    const int32_t* forced(uint32_t n) const { return &forced_[n * shape_.roles]; }
    float mean(uint32_t n, uint32_t player) const {
        return values_[n * shape_.players + player] / static_cast<float>(nodes_[n].visits);
    }
    // What a visited edge of the root is worth to any player, by the walks that count for it. Kept
    // where several roles choose: elsewhere the edge's child says it.
    float root_mean(const Edge& edge, uint32_t player) const {
        const auto number = static_cast<size_t>(&edge - edges_.data());
        return root_sums_[number * shape_.players + player] / static_cast<float>(edge.visits);
    }
    // The network's own value of an evaluated node.
    float raw(uint32_t n, uint32_t player) const { return raw_[n * shape_.players + player]; }
    // What a visited edge is worth to its player: by best play where it leads to a solved node.
    float value(uint32_t n, const Choice& choice, const Edge& edge) const;
    bool solved(uint32_t n, const Edge& edge) const {
        return nodes_[n].choices == 1 && edge.child != no_node && nodes_[edge.child].solved;
    }

    // Priors from the logits of a policy vector, which are multiplied first: softmax over the legal
    // moves of each player.
    void evaluate(uint32_t n, const float* logits, const float* values, float sharpness);
    // The same without a policy.
    void evaluate(uint32_t n, const float* values);

    // A walk: `start`, then `descend` until it says Leaf or Settled; on NewChild the caller makes
    // the child with `attach` and goes on descending. `back_up` ends it. At the root the walk
    // counts for the edges of all choices, or of the one with the number `counted`.
    enum class Stop { NewChild, Leaf, Settled };
    void start(uint32_t counted);
    uint32_t counted() const { return counted_; }
    template <class Select>
    Stop descend(Select&& select);
    const int32_t* joint_move() const { return moves_.data(); }
    uint32_t current() const { return current_; }
    void attach(const uint8_t* state, const Description& description, size_t row,
                uint32_t max_length);
    void back_up(const float* values, bool solver);
    // What a settled node (ended or solved) is worth.
    void settled_value(uint32_t n, float* values) const;

  private:
    struct Link {
        uint64_t joint;
        uint32_t node, child;
    };
    uint32_t find_link(uint32_t n, uint64_t joint) const;
    void add_link(uint32_t n, uint64_t joint, uint32_t child);
    uint32_t find_state(const uint8_t* state, uint32_t ply) const;
    bool solve(uint32_t n);
    bool ties_agree(const Choice& choice, uint32_t best) const;
    uint32_t proven_players(uint32_t n) const;

    const Shape& shape_;
    std::vector<Node> nodes_;
    std::vector<Choice> choices_;
    std::vector<Edge> edges_;
    std::vector<uint8_t> states_;
    std::vector<int32_t> forced_;
    std::vector<float> values_, raw_;  // [nodes, players]
    std::vector<float> root_sums_;     // [edges of the root, players], if several roles choose
    // Children of nodes in which not exactly one role has a choice: open addressing.
    std::vector<Link> links_;
    size_t link_count_ = 0;

    // The walk that is under way.
    struct Passed {
        uint32_t node, first_edge;
    };
    std::vector<Passed> path_;
    std::vector<uint32_t> path_edges_;
    std::vector<int32_t> moves_;
    std::vector<float> solve_values_;  // scratch
    uint64_t joint_ = 0;
    uint32_t current_ = 0, counted_ = every_choice;
};

// `select(node, choice)` gives the number of the chosen edge within the choice.
template <class Select>
Tree::Stop Tree::descend(Select&& select) {
    for (;;) {
        const Node& node = nodes_[current_];
        if (node.ended || node.solved) return Stop::Settled;
        if (!node.passing && !node.evaluated) return Stop::Leaf;
        path_.push_back({current_, static_cast<uint32_t>(path_edges_.size())});
        joint_ = 0;
        uint32_t last = 0;
        for (const Choice& choice : choices(current_)) {
            const uint32_t chosen = select(current_, choice);
            last = choice.first + chosen;
            path_edges_.push_back(last);
            joint_ = joint_ * choice.count + chosen;
        }
        const uint32_t child = node.choices == 1 ? edges_[last].child : find_link(current_, joint_);
        if (child == no_node) {
            std::copy_n(forced(current_), shape_.roles, moves_.begin());
            size_t at = path_.back().first_edge;
            for (const Choice& choice : choices(current_))
                moves_[choice.role] = edges_[path_edges_[at++]].slot;
            return Stop::NewChild;
        }
        current_ = child;
    }
}

}  // namespace omnilude
