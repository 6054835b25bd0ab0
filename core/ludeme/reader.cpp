#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {
[[noreturn]] void fail(const std::string& message) { throw GameError("encoded rules: " + message); }
}  // namespace

int Reader::number() {
    if (at_ >= code_.size()) fail("they end too early");
    return code_[at_++];
}

const std::string& Reader::symbol() {
    const auto n = static_cast<size_t>(number());
    if (n >= symbols_.size()) fail("an unknown symbol");
    return symbols_[n];
}

std::vector<int32_t> Reader::numbers() {
    const int count = number();
    if (count < 0 || static_cast<size_t>(count) > code_.size() - at_) fail("a list too long");
    std::vector<int32_t> list;
    for (int n = 0; n < count; ++n) list.push_back(number());
    return list;
}

SiteSet Reader::sites() {
    SiteSet set;
    set.clear(max_words);
    for (int site : numbers()) {
        if (site < 0 || static_cast<uint32_t>(site) >= program.words() * 64) fail("no such site");
        set.add(static_cast<uint32_t>(site));
    }
    return set;
}

// 0: nothing; else one more than the number of the symbol that names the ludeme.
template <class Pointer>
Pointer Reader::read(const char* what, const Makers<Pointer>& makers) {
    const int n = number();
    if (n == 0) return nullptr;
    if (n < 0 || static_cast<size_t>(n) > symbols_.size()) fail("an unknown symbol");
    const std::string& name = symbols_[static_cast<size_t>(n - 1)];
    const auto found = makers.find(name);
    if (found == makers.end()) fail(std::string("no ") + what + " is called " + name);
    return found->second(*this);
}

IntPtr Reader::integer() {
    static const Makers<IntPtr> makers = [] {
        Makers<IntPtr> m;
        add_number_functions(m);
        add_site_functions(m);
        add_count_functions(m);
        return m;
    }();
    return read("number", makers);
}

BoolPtr Reader::boolean() {
    static const Makers<BoolPtr> makers = [] {
        Makers<BoolPtr> m;
        add_conditions(m);
        add_site_conditions(m);
        add_line_conditions(m);
        add_group_conditions(m);
        return m;
    }();
    return read("condition", makers);
}

RegionPtr Reader::region() {
    static const Makers<RegionPtr> makers = [] {
        Makers<RegionPtr> m;
        add_regions(m);
        add_surroundings(m);
        return m;
    }();
    return read("region", makers);
}

ArrayPtr Reader::array() {
    static const Makers<ArrayPtr> makers = [] {
        Makers<ArrayPtr> m;
        add_arrays(m);
        return m;
    }();
    return read("array", makers);
}

DirectionsPtr Reader::directions() {
    static const Makers<DirectionsPtr> makers = [] {
        Makers<DirectionsPtr> m;
        add_directions(m);
        return m;
    }();
    return read("direction", makers);
}

RangePtr Reader::range() {
    static const Makers<RangePtr> makers = [] {
        Makers<RangePtr> m;
        add_ranges(m);
        return m;
    }();
    return read("range", makers);
}

MovesPtr Reader::moves() {
    static const Makers<MovesPtr> makers = [] {
        Makers<MovesPtr> m;
        add_movements(m);
        add_jumps(m);
        add_piece_moves(m);
        add_transfers(m);
        add_operators(m);
        add_loops(m);
        add_piece_loop(m);
        add_captures(m);
        add_settings(m);
        return m;
    }();
    MovesPtr node = read("move", makers);
    if (node) node->number = ++generators_;
    return node;
}

std::unique_ptr<EndRule> Reader::end_rule() {
    static const Makers<std::unique_ptr<EndRule>> makers = [] {
        Makers<std::unique_ptr<EndRule>> m;
        add_end_rules(m);
        return m;
    }();
    return read("end rule", makers);
}

std::unique_ptr<StartRule> Reader::start_rule() {
    static const Makers<std::unique_ptr<StartRule>> makers = [] {
        Makers<std::unique_ptr<StartRule>> m;
        add_start_rules(m);
        return m;
    }();
    return read("start rule", makers);
}

std::vector<IntPtr> Reader::integers() {
    std::vector<IntPtr> list(static_cast<size_t>(number()));
    for (auto& item : list) item = integer();
    return list;
}

std::vector<BoolPtr> Reader::booleans() {
    std::vector<BoolPtr> list(static_cast<size_t>(number()));
    for (auto& item : list) item = boolean();
    return list;
}

std::vector<RegionPtr> Reader::regions() {
    std::vector<RegionPtr> list(static_cast<size_t>(number()));
    for (auto& item : list) item = region();
    return list;
}

std::vector<MovesPtr> Reader::move_list() {
    std::vector<MovesPtr> list(static_cast<size_t>(number()));
    for (auto& item : list) item = moves();
    return list;
}

}  // namespace omnilude::ludeme
