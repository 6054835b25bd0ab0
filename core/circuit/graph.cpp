#include "circuit/graph.h"

#include <utility>

namespace omnilude {

namespace {
constexpr Wire undecided = UINT32_MAX;
}

Wire Graph::make(Kind kind, Wire a, Wire b) {
    const uint64_t hash = mix_hash(mix_hash(static_cast<uint64_t>(kind), a), b);
    const uint32_t found = table_.find(hash, [&](uint32_t n) {
        return nodes_[n].kind == kind && nodes_[n].a == a && nodes_[n].b == b;
    });
    if (found != HashTable::none) return found << 1;
    nodes_.push_back({kind, a, b});
    table_.insert(hash, static_cast<uint32_t>(nodes_.size() - 1));
    return static_cast<Wire>((nodes_.size() - 1) << 1);
}

// a.b where b is a gate over a, in whatever polarity.
Wire Graph::simplify_pair(Wire a, Wire b) const {
    const Node& inner = nodes_[node_of(b)];
    if (inner.kind != Kind::And) return undecided;
    if (!complemented(b)) {
        if (inner.a == a || inner.b == a) return b;                           // a.(a.x)
        if (inner.a == negate(a) || inner.b == negate(a)) return wire_false;  // a.(a'.x)
    } else {
        if (inner.a == negate(a) || inner.b == negate(a)) return a;  // a.(a'.x)'
    }
    return undecided;
}

Wire Graph::land(Wire a, Wire b) {
    if (a > b) std::swap(a, b);
    if (a == wire_false || a == negate(b)) return wire_false;
    if (a == wire_true || a == b) return b;
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
        const Wire simple = simplify_pair(x, y);
        if (simple != undecided) return simple;
        const Node& inner = nodes_[node_of(y)];
        if (inner.kind == Kind::And && complemented(y)) {  // x.(x.z)' = x.z'
            if (inner.a == x) return land(x, negate(inner.b));
            if (inner.b == x) return land(x, negate(inner.a));
        }
    }
    return make(Kind::And, a, b);
}

Wire Graph::lxor(Wire a, Wire b) {
    const Wire flip = (a ^ b) & 1;
    a &= ~1u;
    b &= ~1u;
    if (a > b) std::swap(a, b);
    if (a == b) return wire_false ^ flip;
    if (a == wire_false) return b ^ flip;
    return make(Kind::Xor, a, b) ^ flip;
}

}  // namespace omnilude
