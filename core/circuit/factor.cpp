#include "circuit/factor.h"

#include <algorithm>
#include <unordered_map>

namespace omnilude {

void ExactlyOne::add(std::span<const Wire> variables) {
    for (Wire w : variables) {
        if (set_of_.size() <= node_of(w)) set_of_.resize(node_of(w) + 1, -1);
        set_of_[node_of(w)] = static_cast<int32_t>(sets_.size());
    }
    sets_.emplace_back(variables.begin(), variables.end());
}

void ExactlyOne::simplify(std::vector<Wire>& wires, Net& net) const {
    auto set_of = [&](Wire w) {
        return !complemented(w) && node_of(w) < set_of_.size() ? set_of_[node_of(w)] : -1;
    };
    std::sort(wires.begin(), wires.end());
    wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
    for (size_t s = 0; s < sets_.size(); ++s) {
        const auto in_set = [&](Wire w) { return set_of(w) == static_cast<int32_t>(s); };
        const auto count = static_cast<size_t>(std::count_if(wires.begin(), wires.end(), in_set));
        if (count * 2 <= sets_[s].size()) continue;
        std::vector<Wire> rest;
        for (Wire w : sets_[s])
            if (!std::binary_search(wires.begin(), wires.end(), w)) rest.push_back(w);
        wires.erase(std::remove_if(wires.begin(), wires.end(), in_set), wires.end());
        wires.push_back(negate(net.disjunction(rest)));
        std::sort(wires.begin(), wires.end());
    }
}

namespace {

using Product = std::vector<Wire>;

// Removes constants, contradictions, repetitions and what a single-literal product makes needless.
// Returns false if the sum is constantly true.
bool tidy(std::vector<Product>& products, Budget& budget, int passes = 4) {
    size_t kept = 0;
    for (Product& product : products) {
        budget.spend(product.size());
        std::sort(product.begin(), product.end());
        product.erase(std::unique(product.begin(), product.end()), product.end());
        if (!product.empty() && product.front() == wire_true) product.erase(product.begin());
        if (!product.empty() && product.front() == wire_false) continue;
        bool contradiction = false;
        for (size_t i = 0; i + 1 < product.size(); ++i)
            contradiction |= product[i] == negate(product[i + 1]);
        if (contradiction) continue;
        if (product.empty()) return false;
        if (&products[kept] != &product) products[kept] = std::move(product);
        ++kept;
    }
    products.resize(kept);
    std::sort(products.begin(), products.end());
    products.erase(std::unique(products.begin(), products.end()), products.end());
    std::vector<Wire> singles;
    for (const Product& product : products)
        if (product.size() == 1) singles.push_back(product[0]);
    if (singles.empty() || singles.size() == products.size()) return true;
    std::sort(singles.begin(), singles.end());
    auto single = [&](Wire w) { return std::binary_search(singles.begin(), singles.end(), w); };
    bool shorter = false;
    for (Product& product : products) {
        if (product.size() == 1) continue;
        if (std::any_of(product.begin(), product.end(), single)) {
            product.assign(1, wire_false);
            continue;
        }
        const size_t before = product.size();
        product.erase(std::remove_if(product.begin(), product.end(),
                                     [&](Wire w) { return single(negate(w)); }),
                      product.end());
        if (product.empty()) return false;
        shorter |= product.size() != before;
    }
    products.erase(std::remove_if(products.begin(), products.end(),
                                  [](const Product& p) { return p[0] == wire_false; }),
                   products.end());
    return shorter && passes > 1 ? tidy(products, budget, passes - 1) : true;
}

class Factoring {
  public:
    Factoring(const ExactlyOne& exactly_one, Net& net, Budget& budget)
        : exactly_one_(exactly_one), net_(net), budget_(budget) {}

    Wire run(std::vector<Product> products) {
        if (!tidy(products, budget_)) return wire_true;
        std::vector<Wire> terms;
        // Where the factored-out literals leave nothing in common, products stand alone.
        std::unordered_map<Wire, std::vector<uint32_t>> places;
        for (uint32_t i = 0; i < products.size(); ++i)
            if (products[i].size() > 1)
                for (Wire w : products[i]) places[w].push_back(i);
        std::vector<std::pair<Wire, uint32_t>> counts;  // literal, occurrences left
        std::unordered_map<Wire, uint32_t> left;
        std::vector<std::vector<Wire>> buckets;
        for (const auto& [w, list] : places) {
            left[w] = static_cast<uint32_t>(list.size());
            if (buckets.size() <= list.size()) buckets.resize(list.size() + 1);
            buckets[list.size()].push_back(w);
        }
        for (auto& bucket : buckets) std::sort(bucket.begin(), bucket.end(), std::greater<>());
        std::vector<bool> taken(products.size(), false);
        for (size_t count = buckets.size(); count-- > 2;) {
            while (!buckets[count].empty()) {
                const Wire w = buckets[count].back();
                buckets[count].pop_back();
                budget_.spend();
                if (left[w] != count) {  // fell since it was put here
                    if (left[w] >= 2) {
                        auto& bucket = buckets[left[w]];
                        bucket.insert(
                            std::upper_bound(bucket.begin(), bucket.end(), w, std::greater<>()), w);
                    }
                    continue;
                }
                std::vector<Product> quotient;
                for (uint32_t i : places[w]) {
                    if (taken[i]) continue;
                    taken[i] = true;
                    budget_.spend(products[i].size());
                    for (Wire other : products[i]) --left[other];
                    Product rest = products[i];
                    rest.erase(std::find(rest.begin(), rest.end(), w));
                    quotient.push_back(std::move(rest));
                }
                std::vector<Wire> both{w, run(std::move(quotient))};
                terms.push_back(net_.conjunction(both));
            }
        }
        for (size_t i = 0; i < products.size(); ++i)
            if (!taken[i]) terms.push_back(net_.conjunction(products[i]));
        exactly_one_.simplify(terms, net_);
        return net_.disjunction(terms);
    }

  private:
    const ExactlyOne& exactly_one_;
    Net& net_;
    Budget& budget_;
};

}  // namespace

Wire factor(const SumOfProducts& sum, const ExactlyOne& exactly_one, Net& net, Budget& budget) {
    std::vector<Product> products;
    products.reserve(sum.products());
    for (size_t i = 0; i < sum.products(); ++i) {
        const auto product = sum.product(i);
        products.emplace_back(product.begin(), product.end());
    }
    return Factoring(exactly_one, net, budget).run(std::move(products));
}

}  // namespace omnilude
