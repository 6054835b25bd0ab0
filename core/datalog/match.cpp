#include "datalog/match.h"

namespace omnilude {

Match make_match(const TermBank& bank, Database& database, const Pattern& pattern,
                 std::vector<bool>& bound, bool indexed) {
    using Kind = PatternNode::Kind;
    Match match;
    IndexShape shape{head_functor(bank, pattern), {}, {}};
    std::vector<bool> fresh(bound.size(), false);
    Path path;
    size_t at = 0;
    auto walk = [&](auto&& self, bool root) -> void {
        const PatternNode node = pattern[at++];
        if (node.kind == Kind::Variable) {
            if (bound[node.value]) {
                shape.keys.push_back(path);
                match.keys.push_back({false, node.value});
            } else if (fresh[node.value]) {
                match.repeats.push_back({path, node.value});
            } else {
                fresh[node.value] = true;
                match.binds.push_back({path, node.value});
            }
        } else if (node.kind == Kind::Constant) {
            if (root && bank.arity_of(shape.predicate) == 0) return;
            shape.keys.push_back(path);
            match.keys.push_back({true, node.value});
        } else {
            if (!root) shape.checks.push_back({path, node.value});
            for (uint32_t i = 0; i < bank.arity_of(node.value); ++i) {
                path.push_back(static_cast<uint16_t>(i));
                self(self, false);
                path.pop_back();
            }
        }
    };
    walk(walk, true);
    for (size_t v = 0; v < bound.size(); ++v)
        if (fresh[v]) bound[v] = true;
    if (indexed) match.index = database.index(shape);
    return match;
}

}  // namespace omnilude
