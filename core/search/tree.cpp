#include "search/tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace omnilude {

Shape::Shape(const Game& g, const std::vector<bool>& is_player)
    : game(g), state_bytes(g.state_bytes()), roles(g.roles()) {
    for (uint32_t r = 0; r < roles; ++r) {
        player_of.push_back(is_player[r] ? static_cast<int32_t>(players) : -1);
        if (!is_player[r]) continue;
        ++players;
        role_of.push_back(r);
        policy_offset.push_back(policy_size);
        policy_size += g.slots(r);
    }
}

void Tree::clear() {
    nodes_.clear();
    choices_.clear();
    edges_.clear();
    states_.clear();
    forced_.clear();
    values_.clear();
    raw_.clear();
    root_sums_.clear();
    links_.clear();
    link_count_ = 0;
}

uint32_t Tree::add(const uint8_t* state, const Description& description, size_t row, uint32_t ply,
                   uint32_t max_length) {
    const auto n = size();
    const uint32_t roles = shape_.roles, players = shape_.players;
    Node node{};
    node.first_choice = static_cast<uint32_t>(choices_.size());
    node.ply = ply;
    node.passing = true;
    states_.insert(states_.end(), state, state + shape_.state_bytes);
    const uint32_t* offsets = &description.offsets[row * roles];
    bool stuck = false;
    for (uint32_t r = 0; r < roles; ++r) {
        const uint32_t legal = offsets[r + 1] - offsets[r];
        stuck |= legal == 0;
        forced_.push_back(legal ? description.moves[offsets[r]] : 0);
    }
    values_.resize(values_.size() + players, 0.0f);
    raw_.resize(raw_.size() + players, 0.0f);
    if (description.terminal[row] || stuck) {
        node.ended = node.solved = true;
        node.proven = ~0u;
        node.visits = 1;  // so that it has a mean; walks only add to it
        if (description.terminal[row])
            for (uint32_t p = 0; p < players; ++p)
                values_[n * players + p] = description.rewards[row * roles + shape_.role_of[p]];
    } else {
        uint64_t joint = 1;  // how many joint moves: each has a number of its own
        for (uint32_t r = 0; r < roles; ++r) {
            const uint32_t legal = offsets[r + 1] - offsets[r];
            if (legal < 2) continue;
            if (__builtin_mul_overflow(joint, uint64_t{legal}, &joint))
                throw std::runtime_error("more joint moves than a search can tell apart");
            choices_.push_back(
                {r, shape_.player_of[r], static_cast<uint32_t>(edges_.size()), legal});
            ++node.choices;
            if (shape_.player_of[r] >= 0) node.passing = false;
            for (uint32_t m = offsets[r]; m < offsets[r + 1]; ++m)
                edges_.push_back({.slot = description.moves[m]});
        }
        node.limit = ply >= max_length;
        if (node.limit) node.passing = false;
        if (n == 0 && node.choices > 1) root_sums_.assign(edges_.size() * players, 0.0f);
    }
    nodes_.push_back(node);
    return n;
}

float Tree::value(uint32_t n, const Choice& choice, const Edge& edge) const {
    if (solved(n, edge)) return mean(edge.child, static_cast<uint32_t>(choice.player));
    return edge.sum / static_cast<float>(edge.visits);
}

void Tree::evaluate(uint32_t n, const float* logits, const float* values, float sharpness) {
    for (const Choice& choice : choices(n)) {
        if (choice.player < 0) continue;
        const float* row = logits + shape_.policy_offset[static_cast<size_t>(choice.player)];
        float top = -INFINITY, total = 0;
        for (Edge& edge : edges(choice)) top = std::max(top, row[edge.slot]);
        for (Edge& edge : edges(choice)) {
            edge.logit = (row[edge.slot] - top) * sharpness;
            edge.prior = std::exp(edge.logit);
            total += edge.prior;
        }
        const float shift = std::log(total), scale = 1 / total;
        for (Edge& edge : edges(choice)) edge.logit -= shift, edge.prior *= scale;
    }
    evaluate(n, values);
}

void Tree::evaluate(uint32_t n, const float* values) {
    std::copy_n(values, shape_.players, &raw_[n * shape_.players]);
    nodes_[n].evaluated = true;
    nodes_[n].ended = nodes_[n].limit;
}

void Tree::start(uint32_t counted) {
    path_.clear();
    path_edges_.clear();
    current_ = 0;
    counted_ = counted;
}

void Tree::attach(const uint8_t* state, const Description& description, size_t row,
                  uint32_t max_length) {
    const uint32_t parent = current_;
    const uint32_t child = add(state, description, row, nodes_[parent].ply + 1, max_length);
    if (nodes_[parent].choices == 1)
        edges_[path_edges_.back()].child = child;
    else
        add_link(parent, joint_, child);
    current_ = child;
}

void Tree::settled_value(uint32_t n, float* values) const {
    for (uint32_t p = 0; p < shape_.players; ++p) values[p] = mean(n, p);
}

void Tree::back_up(const float* values, bool solver) {
    const uint32_t players = shape_.players;
    auto count = [&](uint32_t n) {
        ++nodes_[n].visits;
        for (uint32_t p = 0; p < players; ++p) values_[n * players + p] += values[p];
    };
    count(current_);
    for (const Passed& passed : path_) {
        count(passed.node);
        size_t at = passed.first_edge;
        // The root is first on every path, so its edges are too.
        const bool root = passed.node == 0, all = !root || counted_ == every_choice;
        for (const Choice& choice : choices(passed.node)) {
            const bool counts = all || at == counted_ || choice.player < 0;
            Edge& edge = edges_[path_edges_[at++]];
            if (!counts) continue;
            ++edge.visits;
            if (choice.player >= 0) edge.sum += values[choice.player];
            if (root && !root_sums_.empty())
                for (uint32_t p = 0; p < players; ++p)
                    root_sums_[static_cast<size_t>(&edge - edges_.data()) * players + p] +=
                        values[p];
        }
    }
    if (!solver || !nodes_[current_].solved) return;
    for (size_t i = path_.size(); i-- > 0;)
        if (!solve(path_[i].node)) break;
}

namespace {
constexpr float same = 1e-6f;
constexpr float won = 1.0f - same;  // nobody gets more than 1
}  // namespace

bool Tree::ties_agree(const Choice& choice, uint32_t best) const {
    const auto chooser = static_cast<uint32_t>(choice.player);
    for (const Edge& edge : edges(choice)) {
        if (std::abs(mean(edge.child, chooser) - mean(best, chooser)) > same) continue;
        for (uint32_t p = 0; p < shape_.players; ++p)
            if (std::abs(mean(edge.child, p) - mean(best, p)) > same) return false;
    }
    return true;
}

// Whether best play from a node is known from that of its children: then the node gets its values.
// A win is enough by itself, whatever the others get by other moves. Short of that all of a
// player's moves must be solved, and where several are equally good to it, all must mean the same
// to the others: which of them it makes is for its policy to say.
bool Tree::solve(uint32_t n) {
    if (nodes_[n].solved) return true;
    if (nodes_[n].choices > 1) return false;
    std::vector<float>& exact = solve_values_;
    exact.assign(shape_.players, 0.0f);
    if (nodes_[n].choices == 0) {
        const uint32_t child = find_link(n, 0);
        if (child == no_node || !nodes_[child].solved) return false;
        settled_value(child, exact.data());
    } else {
        const Choice& choice = choices_[nodes_[n].first_choice];
        uint32_t best = no_node;
        float best_value = -1;
        bool all = true;
        for (const Edge& edge : edges(choice)) {
            if (!solved(n, edge)) {
                all = false;
                continue;
            }
            if (choice.player < 0) {
                for (uint32_t p = 0; p < shape_.players; ++p)
                    exact[p] += mean(edge.child, p) / static_cast<float>(choice.count);
            } else {
                const float value = mean(edge.child, static_cast<uint32_t>(choice.player));
                if (value > best_value) best_value = value, best = edge.child;
            }
        }
        if (!all && best_value < won) return false;
        if (choice.player >= 0) {
            settled_value(best, exact.data());
            if (best_value < won && !ties_agree(choice, best)) return false;
        }
    }
    nodes_[n].solved = true;
    // The mean becomes the value of best play, and later visits add the same.
    for (uint32_t p = 0; p < shape_.players; ++p)
        values_[n * shape_.players + p] = exact[p] * static_cast<float>(nodes_[n].visits);
    nodes_[n].proven = proven_players(n);
    return true;
}

// The players to whom a node that was just solved is worth exactly what it says: by any best play
// at all, whichever of equally good moves somebody makes and whatever lies behind moves that were
// not looked at. So somebody's win proves nothing to the others: another may leave them more.
uint32_t Tree::proven_players(uint32_t n) const {
    if (nodes_[n].choices == 0) return nodes_[find_link(n, 0)].proven;
    const Choice& choice = choices_[nodes_[n].first_choice];
    const auto player = static_cast<uint32_t>(choice.player);
    const uint32_t chooser = choice.player < 0 ? 0 : player_bit(player);
    auto certain = [&](const Edge& edge) {
        return solved(n, edge) && (nodes_[edge.child].proven & chooser);
    };
    float sure = -1;  // what the one who chooses can certainly have
    for (const Edge& edge : edges(choice))
        if (certain(edge)) sure = std::max(sure, mean(edge.child, player));
    uint32_t proven = ~0u;
    for (const Edge& edge : edges(choice)) {
        if (certain(edge) && mean(edge.child, player) < sure - same) continue;  // never made
        proven &= solved(n, edge) ? nodes_[edge.child].proven : 0;
        if (choice.player < 0 || proven == 0) continue;  // such as of an edge never walked
        for (uint32_t p = 0; p < shape_.players; ++p)
            if (std::abs(mean(edge.child, p) - mean(n, p)) > same) proven &= ~player_bit(p);
    }
    return sure >= won ? proven | chooser : proven;
}

namespace {
size_t hash_link(uint32_t n, uint64_t joint) {
    uint64_t state = joint * 0xD1342543DE82EF95ull + n;
    return static_cast<size_t>(split_mix(state));
}
}  // namespace

uint32_t Tree::find_link(uint32_t n, uint64_t joint) const {
    if (links_.empty()) return no_node;
    const size_t mask = links_.size() - 1;
    for (size_t at = hash_link(n, joint) & mask;; at = (at + 1) & mask) {
        const Link& link = links_[at];
        if (link.child == no_node) return no_node;
        if (link.node == n && link.joint == joint) return link.child;
    }
}

void Tree::add_link(uint32_t n, uint64_t joint, uint32_t child) {
    if (2 * (link_count_ + 1) > links_.size()) {
        std::vector<Link> old(std::max<size_t>(16, links_.size() * 2), Link{0, 0, no_node});
        old.swap(links_);
        link_count_ = 0;
        for (const Link& link : old)
            if (link.child != no_node) add_link(link.node, link.joint, link.child);
    }
    const size_t mask = links_.size() - 1;
    size_t at = hash_link(n, joint) & mask;
    while (links_[at].child != no_node) at = (at + 1) & mask;
    links_[at] = {joint, n, child};
    ++link_count_;
}

// A position may stand in a tree several times: where the ply is right, or nearest to it.
uint32_t Tree::find_state(const uint8_t* state, uint32_t ply) const {
    uint32_t found = no_node, nearest = UINT32_MAX;
    for (uint32_t n = 0; n < size() && nearest > 0; ++n) {
        const uint32_t at = nodes_[n].ply, apart = at < ply ? ply - at : at - ply;
        if (apart < nearest && std::memcmp(this->state(n), state, shape_.state_bytes) == 0)
            nearest = apart, found = n;
    }
    return found;
}

// Copies what is below the new root, breadth first, into fresh arrays.
bool Tree::keep_below(const uint8_t* state, uint32_t ply, uint32_t max_length) {
    const uint32_t root = find_state(state, ply);
    if (root == no_node) return false;
    const uint32_t later = ply - nodes_[root].ply;
    Tree kept(shape_);
    std::vector<uint32_t> renamed(size(), no_node), order{root};
    renamed[root] = 0;
    auto rename = [&](uint32_t child) {
        if (renamed[child] == no_node) {
            renamed[child] = static_cast<uint32_t>(order.size());
            order.push_back(child);
        }
        return renamed[child];
    };
    // Children of nodes whose children are in the table, by parent.
    std::vector<const Link*> links;
    for (const Link& link : links_)
        if (link.child != no_node) links.push_back(&link);
    std::sort(links.begin(), links.end(), [](const Link* a, const Link* b) {
        return a->node != b->node ? a->node < b->node : a->joint < b->joint;
    });
    for (size_t i = 0; i < order.size(); ++i) {
        const uint32_t old = order[i];
        Node node = nodes_[old];
        node.first_choice = static_cast<uint32_t>(kept.choices_.size());
        node.ply += later;
        // The limit may be elsewhere now; the root has none, it is searched however late it is.
        const bool limit = !node.solved && i > 0 && node.ply >= max_length;
        if (limit != node.limit) {
            node.limit = limit;
            node.passing = !limit && std::ranges::all_of(choices(old), [](const Choice& choice) {
                return choice.player < 0;
            });
            node.ended = limit && node.evaluated;
        }
        for (Choice choice : choices(old)) {
            const auto first = static_cast<uint32_t>(kept.edges_.size());
            for (Edge edge : edges(choice)) {
                if (edge.child != no_node) edge.child = rename(edge.child);
                kept.edges_.push_back(edge);
            }
            choice.first = first;
            kept.choices_.push_back(choice);
        }
        auto link = std::lower_bound(links.begin(), links.end(), old,
                                     [](const Link* a, uint32_t n) { return a->node < n; });
        for (; link != links.end() && (*link)->node == old; ++link)
            kept.add_link(static_cast<uint32_t>(i), (*link)->joint, rename((*link)->child));
        kept.nodes_.push_back(node);
        auto copy = [&](auto& to, const auto& from, size_t width) {
            to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(old * width),
                      from.begin() + static_cast<std::ptrdiff_t>((old + 1) * width));
        };
        copy(kept.states_, states_, shape_.state_bytes);
        copy(kept.forced_, forced_, shape_.roles);
        copy(kept.values_, values_, shape_.players);
        copy(kept.raw_, raw_, shape_.players);
    }
    nodes_.swap(kept.nodes_);
    choices_.swap(kept.choices_);
    edges_.swap(kept.edges_);
    states_.swap(kept.states_);
    forced_.swap(kept.forced_);
    values_.swap(kept.values_);
    raw_.swap(kept.raw_);
    root_sums_.clear();  // they are of the former root
    links_.swap(kept.links_);
    std::swap(link_count_, kept.link_count_);
    return true;
}

}  // namespace omnilude
