#include "circuit/net.h"

#include <algorithm>

namespace omnilude {

Wire Net::conjunction(std::vector<Wire>& wires) {
    std::sort(wires.begin(), wires.end());
    wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
    if (!wires.empty() && wires.front() == wire_false) return wire_false;
    if (!wires.empty() && wires.front() == wire_true) wires.erase(wires.begin());
    for (size_t i = 0; i + 1 < wires.size(); ++i)
        if (wires[i] == negate(wires[i + 1])) return wire_false;
    if (wires.empty()) return wire_true;
    if (wires.size() == 1) return wires.front();
    uint64_t hash = 5;
    for (Wire w : wires) hash = mix_hash(hash, w);
    const uint32_t found = table_.find(hash, [&](uint32_t node) {
        const auto other = inputs(node);
        return std::equal(wires.begin(), wires.end(), other.begin(), other.end());
    });
    if (found != HashTable::none) return found << 1;
    nodes_.push_back({static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(wires.size())});
    pool_.insert(pool_.end(), wires.begin(), wires.end());
    table_.insert(hash, static_cast<uint32_t>(nodes_.size() - 1));
    return static_cast<Wire>((nodes_.size() - 1) << 1);
}

}  // namespace omnilude
