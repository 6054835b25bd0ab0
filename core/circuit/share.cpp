#include "circuit/share.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace omnilude {

namespace {

constexpr uint32_t unknown = UINT32_MAX;

class Sharing {
  public:
    Sharing(const CircuitNet& source, uint64_t effort, Budget& budget)
        : source_(source), net_(source.net), effort_(effort), budget_(budget) {}

    Circuit run() {
        collect();
        extract_pairs();
        return cut();
    }

  private:
    template <class Visit>
    void each_output(Visit visit) const {
        for (Wire w : source_.next) visit(w);
        for (const auto& role : source_.legal)
            for (Wire w : role) visit(w);
        visit(source_.terminal);
        for (const auto& role : source_.goals)
            for (const auto& goal : role) visit(goal.wire);
        for (const auto& role : source_.sees)
            for (const auto& percept : role) visit(percept.wire);
        for (const auto& view : source_.views) visit(view.wire);
        for (const Recursion& recursion : source_.recursions)
            for (Wire w : recursion.definitions) visit(w);
    }

    // Live conjunctions, with those that only one conjunction uses (as they are) merged into it.
    void collect() {
        std::vector<uint32_t> uses(net_.size(), 0), plain_uses(net_.size(), 0);
        std::vector<bool> live(net_.size(), false);
        each_output([&](Wire w) { live[node_of(w)] = true, uses[node_of(w)] += 2; });
        for (uint32_t n = static_cast<uint32_t>(net_.size()); n-- > 0;) {
            if (!live[n]) continue;
            for (Wire w : net_.inputs(n)) {
                live[node_of(w)] = true;
                ++uses[node_of(w)];
                if (!complemented(w)) ++plain_uses[node_of(w)];
            }
        }
        lists_.resize(net_.size());
        for (uint32_t n = 0; n < net_.size(); ++n) {
            if (!live[n] || net_.is_variable(n)) continue;
            std::vector<Wire>& list = lists_[n];
            for (Wire w : net_.inputs(n)) {
                const uint32_t m = node_of(w);
                if (!complemented(w) && uses[m] == 1 && plain_uses[m] == 1 && !lists_[m].empty()) {
                    list.insert(list.end(), lists_[m].begin(), lists_[m].end());
                    lists_[m].clear();
                } else {
                    list.push_back(w);
                }
            }
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
            budget_.spend(list.size());
        }
        next_wire_ = static_cast<Wire>(net_.size() << 1);
    }

    static uint64_t key(Wire a, Wire b) {
        return a < b ? uint64_t{a} << 32 | b : uint64_t{b} << 32 | a;
    }

    void count(Wire a, Wire b, int32_t change) {
        uint32_t& n = pairs_[key(a, b)];
        n += static_cast<uint32_t>(change);
        if (change > 0 && n >= 2) heap_.push({n, key(a, b)});
    }

    void extract_pairs() {
        std::vector<uint32_t> occurrences(next_wire_, 0);
        uint64_t pairs = 0;
        for (const auto& list : lists_)
            for (Wire w : list) ++occurrences[w];
        // Only wires that occur more than once can be part of a pair that does.
        std::vector<std::vector<Wire>> candidates(lists_.size());
        for (uint32_t n = 0; n < lists_.size(); ++n) {
            if (lists_[n].size() < 2) continue;
            for (Wire w : lists_[n])
                if (occurrences[w] > 1) candidates[n].push_back(w);
            pairs += candidates[n].size() * (candidates[n].size() + 1) / 2;
        }
        // Very wide conjunctions look only at neighbours when the whole would cost too much.
        const size_t window = pairs <= effort_ ? SIZE_MAX : 24;
        if (pairs > effort_ * 64) return;
        users_.resize(next_wire_);
        for (uint32_t n = 0; n < lists_.size(); ++n) {
            const auto& list = candidates[n];
            for (size_t i = 0; i < list.size(); ++i) {
                users_[list[i]].push_back(n);
                for (size_t j = i + 1; j < list.size() && j - i <= window; ++j)
                    ++pairs_[key(list[i], list[j])];
                budget_.spend(4);
            }
            if (pairs_.size() > effort_) return;
        }
        for (const auto& [pair, n] : pairs_)
            if (n >= 2) heap_.push({n, pair});
        uint64_t work = 0;
        while (!heap_.empty() && work < effort_ * 4) {
            const Candidate top = heap_.top();
            heap_.pop();
            const auto at = pairs_.find(top.pair);
            if (at == pairs_.end() || at->second < 2) continue;
            if (at->second < top.count) {
                heap_.push({at->second, top.pair});
                continue;
            }
            if (at->second > top.count) continue;  // a fresher entry is in the heap
            const auto a = static_cast<Wire>(top.pair >> 32), b = static_cast<Wire>(top.pair);
            const Wire made = next_wire_;
            next_wire_ += 2;
            made_.push_back({a, b});
            users_.resize(next_wire_);
            const auto& shorter = users_[a].size() < users_[b].size() ? users_[a] : users_[b];
            const std::vector<uint32_t> places(shorter.begin(), shorter.end());
            for (uint32_t n : places) {
                auto& list = lists_[n];
                const auto pa = std::lower_bound(list.begin(), list.end(), a);
                const auto pb = std::lower_bound(list.begin(), list.end(), b);
                if (pa == list.end() || *pa != a || pb == list.end() || *pb != b) continue;
                list.erase(std::max(pa, pb));
                list.erase(std::min(pa, pb));
                if (list.size() <= 256)
                    for (Wire w : list) {
                        if (occurrences.size() > w && occurrences[w] < 2) continue;
                        decrease(a, w);
                        decrease(b, w);
                        count(made, w, 1);
                    }
                work += list.size() + 1;
                budget_.spend(list.size() + 1);
                list.push_back(made);  // the largest number so far: the list stays sorted
                users_[made].push_back(n);
            }
            pairs_.erase(top.pair);
        }
        users_.clear();
        pairs_.clear();
    }

    void decrease(Wire a, Wire b) {
        const auto at = pairs_.find(key(a, b));
        if (at != pairs_.end() && at->second > 0) --at->second;
    }

    // Gates, in the order of the old nodes, which is a topological one.
    Circuit cut() {
        Circuit out;
        wires_.assign(next_wire_ / 2, unknown);
        wires_[0] = wire_false;
        graph_ = &out.graph;
        for (const Recursion& recursion : source_.recursions) {
            for (Wire w : recursion.atoms) {
                wires_[node_of(w)] = graph_->variable();
                graph_->recursion_of.resize(graph_->size(), -1);
                graph_->recursion_of.back() =
                    static_cast<int32_t>(&recursion - source_.recursions.data());
            }
        }
        auto map_all = [&](const std::vector<Wire>& from) {
            std::vector<Wire> to;
            for (Wire w : from) to.push_back(gate(w));
            return to;
        };
        out.fluents = map_all(source_.fluents);
        for (const auto& role : source_.does) out.does.push_back(map_all(role));
        for (const Recursion& recursion : source_.recursions)
            out.graph.recursions.push_back(
                {map_all(recursion.atoms), map_all(recursion.definitions)});
        out.next = map_all(source_.next);
        for (const auto& role : source_.legal) out.legal.push_back(map_all(role));
        out.terminal = gate(source_.terminal);
        out.goals = source_.goals;
        for (auto& role : out.goals)
            for (auto& goal : role) goal.wire = gate(goal.wire);
        out.sees = source_.sees;
        for (auto& role : out.sees)
            for (auto& percept : role) percept.wire = gate(percept.wire);
        out.views = source_.views;
        for (auto& view : out.views) view.wire = gate(view.wire);
        return out;
    }

    Wire gate(Wire root) {
        std::vector<uint32_t> work{node_of(root)};
        while (!work.empty()) {
            const uint32_t n = work.back();
            if (wires_[n] != unknown) {
                work.pop_back();
                continue;
            }
            const bool pair = n >= net_.size();
            std::vector<Wire> inputs;
            if (pair)
                inputs = {made_[n - net_.size()].first, made_[n - net_.size()].second};
            else
                inputs = lists_[n];
            if (inputs.empty()) {
                wires_[n] = graph_->variable();
                continue;
            }
            const size_t before = work.size();
            for (Wire w : inputs)
                if (wires_[node_of(w)] == unknown) work.push_back(node_of(w));
            if (work.size() != before) continue;
            budget_.spend(inputs.size());
            for (Wire& w : inputs) w = wires_[node_of(w)] ^ (w & 1);
            wires_[n] = balanced(inputs);
        }
        return wires_[node_of(root)] ^ (root & 1);
    }

    // Shallow inputs first, so that the depth stays small.
    Wire balanced(std::vector<Wire>& inputs) {
        using Item = std::pair<uint32_t, Wire>;
        std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
        for (Wire w : inputs) queue.push({depth(w), w});
        while (queue.size() > 1) {
            const Item first = queue.top();
            queue.pop();
            const Item second = queue.top();
            queue.pop();
            const Wire both = graph_->land(first.second, second.second);
            if (depth_.size() <= node_of(both)) depth_.resize(graph_->size(), 0);
            if (graph_->is_gate(node_of(both)))
                depth_[node_of(both)] = std::max(first.first, second.first) + 1;
            queue.push({depth(both), both});
        }
        return queue.top().second;
    }
    uint32_t depth(Wire w) const { return node_of(w) < depth_.size() ? depth_[node_of(w)] : 0; }

    struct Candidate {
        uint32_t count;
        uint64_t pair;
        // Most frequent first; among equals the oldest wires, for the same result every time.
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    const CircuitNet& source_;
    const Net& net_;
    uint64_t effort_;
    Budget& budget_;
    std::vector<std::vector<Wire>> lists_;  // by node: its inputs
    std::vector<std::pair<Wire, Wire>> made_;
    Wire next_wire_ = 0;
    std::unordered_map<uint64_t, uint32_t> pairs_;
    std::priority_queue<Candidate> heap_;
    std::vector<std::vector<uint32_t>> users_;
    std::vector<Wire> wires_;
    std::vector<uint32_t> depth_;
    Graph* graph_ = nullptr;
};

}  // namespace

Circuit share(const CircuitNet& net, uint64_t effort, Budget& budget) {
    return Sharing(net, effort, budget).run();
}

}  // namespace omnilude
