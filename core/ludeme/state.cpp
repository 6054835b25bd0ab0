#include "ludeme/state.h"

#include <algorithm>
#include <cstring>

namespace omnilude::ludeme {

namespace {
constexpr uint32_t filter_words = 128;  // before the records of positions
}

static_assert(sizeof(Scalars) % 8 == 0 || sizeof(Scalars) % 4 == 0);

Layout::Layout(const Board& board, const LayoutWants& w) : wants(w), players(board.players) {
    owners = players + 2;
    uint32_t at = 0;
    auto take = [&](size_t size, size_t alignment = 8) {
        at = static_cast<uint32_t>((at + alignment - 1) / alignment * alignment);
        const uint32_t offset = at;
        at += static_cast<uint32_t>(size);
        return offset;
    };
    take(sizeof(Scalars));
    for (uint32_t k = 0; k < kinds; ++k) {
        layer[k] = places;
        if (!wants.kinds[k]) continue;
        layer_size[k] = k == Cell ? std::max(board.site_numbers(), board.tables[k].count)
                                  : board.tables[k].count;
        places += layer_size[k];
    }
    words = (places + 63) / 64;
    if (places > max_sites) throw GameError("the board has too many sites");
    const size_t levels = wants.stacking ? size_t{places} * wants.height : places;
    position_begin = take(0);
    who = take(wants.stacking ? 0 : places);
    what = take((levels + 1) * 2);
    count = wants.count ? take(size_t{places} * 2) : 0;
    state = wants.state ? take(levels * 2) : 0;
    rotation = wants.rotation ? take(levels) : 0;
    value = wants.value ? take(levels * 2) : 0;
    heights = wants.stacking ? take(places) : 0;
    teams = take((players + 2) * 4);
    order = take((players + 2) * 4);
    position_end = take(0);
    empty = take(size_t{words} * 8);
    owned = take(size_t{words} * 8 * owners);
    phases = take((players + 2) * 4);
    scores = take((players + 2) * 4);
    player_values = take((players + 2) * 4);
    amounts = take((players + 2) * 4);
    variables = take(size_t{wants.variables} * 4);
    remembered = take(size_t{wants.remembered_lists} * (wants.remembered + 1) * 4);
    pending = take((size_t{wants.pending} + 1) * 4);
    visited = wants.visited ? take(size_t{words} * 8) : 0;
    to_clear = wants.to_clear ? take((size_t{places} + 1) * 4) : 0;
    votes = take((max_players + 1) * 4);
    dice = take(size_t{wants.dice} * 4);
    rolled = take(size_t{wants.dice} * 4);
    passes = take((2 * players + 2) * sizeof(PlyMark));
    hidden = wants.hidden ? take(size_t{players} * places) : 0;
    components = static_cast<uint32_t>(board.components.size());
    first_lap = {0};
    for (const Track& track : board.tracks)
        first_lap.push_back(first_lap.back() + static_cast<uint32_t>(track.elements.size()));
    laps = wants.laps ? take(size_t{first_lap.back()} * components * 2) : 0;
    stored = take(8);
    hashed = !wants.stacking && (wants.history || wants.turn_history);
    hash = take(8);
    bare = !hashed && !wants.stacking && !wants.count && !wants.state && !wants.rotation &&
           !wants.value && !wants.hidden && !wants.laps;
    for (int32_t container : board.container_of) hands |= container > 0;
    at = (at + 15) / 16 * 16;
    trial_bytes = at;
    history = wants.history ? take((size_t{wants.history} + 1 + filter_words) * 8) : 0;
    turn_history = wants.turn_history ? take((size_t{wants.turn_history} + 1) * 8) : 0;
    bytes = (at + 7) / 8 * 8;
}

// --- reading ---

int State::count(int p) const {
    if (stacking()) return who(p) ? 1 : 0;
    if (layout_->wants.count) return array<uint16_t>(layout_->count)[p];
    return array<uint8_t>(layout_->who)[p] || array<uint16_t>(layout_->what)[p] ? 1 : 0;
}

int State::state(int p) const {
    if (!layout_->wants.state) return 0;
    if (stacking()) return height(p) ? state(p, height(p) - 1) : 0;
    return array<uint16_t>(layout_->state)[p];
}

int State::rotation(int p) const {
    if (!layout_->wants.rotation) return 0;
    if (stacking()) return height(p) ? rotation(p, height(p) - 1) : 0;
    return array<uint8_t>(layout_->rotation)[p];
}

int State::value(int p) const {
    if (!layout_->wants.value) return 0;
    if (stacking()) return height(p) ? value(p, height(p) - 1) : 0;
    return array<int16_t>(layout_->value)[p];
}

int State::state(int p, int level) const {
    if (!layout_->wants.state) return 0;
    if (!stacking()) return state(p);
    return level < 0 || level >= height(p) ? 0
                                           : array<uint16_t>(layout_->state)[level_index(p, level)];
}

int State::rotation(int p, int level) const {
    if (!layout_->wants.rotation) return 0;
    if (!stacking()) return rotation(p);
    return level < 0 || level >= height(p)
               ? 0
               : array<uint8_t>(layout_->rotation)[level_index(p, level)];
}

int State::value(int p, int level) const {
    if (!layout_->wants.value) return 0;
    if (!stacking()) return value(p);
    return level < 0 || level >= height(p) ? 0
                                           : array<int16_t>(layout_->value)[level_index(p, level)];
}

// --- the hash of a position ---

namespace {
constexpr uint64_t multiplier = 0x9E3779B97F4A7C15ull;

uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * multiplier;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ull;
    return x ^ x >> 32;
}

uint64_t hash_bytes(const uint8_t* bytes, size_t count, uint64_t hash) {
    while (count >= 8) {
        uint64_t word;
        std::memcpy(&word, bytes, 8);
        hash = (hash ^ word) * multiplier;
        hash ^= hash >> 29;
        bytes += 8, count -= 8;
    }
    uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    hash = (hash ^ word ^ count << 56) * multiplier;
    return hash ^ hash >> 32;
}
}  // namespace

// Of a game without stacks: 0 where nothing is on the place.
uint64_t State::place_hash(int p) const {
    const LayoutWants& w = layout_->wants;
    uint64_t fields = uint64_t{who_[p]} | uint64_t{what_[p]} << 8;
    if (w.count) fields |= uint64_t{array<uint16_t>(layout_->count)[p]} << 24;
    if (w.state) fields |= uint64_t{array<uint16_t>(layout_->state)[p]} << 40;
    if (w.rotation) fields |= uint64_t{array<uint8_t>(layout_->rotation)[p]} << 56;
    const uint64_t value = w.value ? static_cast<uint16_t>(array<int16_t>(layout_->value)[p]) : 0;
    if (!fields && !value) return 0;
    const uint64_t there = mix(static_cast<uint64_t>(p) + 1);
    return mix(fields + there) ^ (value ? mix(value * multiplier ^ ~there) : 0);
}

class State::Rehash {
  public:
    Rehash(State& state, int place) : state_(state), place_(place) { toggle(); }
    ~Rehash() { toggle(); }
    Rehash(const Rehash&) = delete;
    Rehash& operator=(const Rehash&) = delete;

  private:
    void toggle() {
        if (state_.layout_->hashed)
            *state_.words(state_.layout_->hash) ^= state_.place_hash(place_);
    }
    State& state_;
    int place_;
};

// --- writing ---

void State::set_bit(uint32_t offset, int n, bool on) const {
    uint64_t& word = words(offset)[static_cast<uint32_t>(n) >> 6];
    const uint64_t mask = uint64_t{1} << (n & 63);
    word = on ? word | mask : word & ~mask;
}

void State::own(int p, int piece, bool on) const {
    if (piece <= 0) return;
    const auto owner = static_cast<uint32_t>(owner_of(piece));
    set_bit(layout_->owned + owner * layout_->words * 8, p, on);
}

void State::set_site(int p, int new_who, int new_what, int new_count, int new_state,
                     int new_rotation, int new_value) {
    const Rehash rehash(*this, p);
    const LayoutWants& w = layout_->wants;
    const int old = what(p);
    if (new_who >= 0) array<uint8_t>(layout_->who)[p] = static_cast<uint8_t>(new_who);
    if (new_what >= 0) {
        own(p, old, false);
        array<uint16_t>(layout_->what)[p] = static_cast<uint16_t>(new_what);
        own(p, new_what, true);
    }
    if (new_count >= 0 && w.count)
        array<uint16_t>(layout_->count)[p] = static_cast<uint16_t>(new_count);
    if (new_state >= 0 && w.state)
        array<uint16_t>(layout_->state)[p] = static_cast<uint16_t>(new_state);
    if (new_rotation >= 0 && w.rotation)
        array<uint8_t>(layout_->rotation)[p] = static_cast<uint8_t>(new_rotation);
    if (new_value >= 0 && w.value)
        array<int16_t>(layout_->value)[p] = static_cast<int16_t>(new_value);
    set_bit(layout_->empty, p, count(p) == 0);
}

void State::clear_site(int p) {
    const Rehash rehash(*this, p);
    own(p, what(p), false);
    const LayoutWants& w = layout_->wants;
    array<uint8_t>(layout_->who)[p] = 0;
    array<uint16_t>(layout_->what)[p] = 0;
    if (w.count) array<uint16_t>(layout_->count)[p] = 0;
    if (w.state) array<uint16_t>(layout_->state)[p] = 0;
    if (w.rotation) array<uint8_t>(layout_->rotation)[p] = 0;
    if (w.value) array<int16_t>(layout_->value)[p] = 0;
    set_bit(layout_->empty, p, true);
}

void State::set_state(int p, int level, int v) {
    if (!layout_->wants.state) return;
    uint16_t* states = array<uint16_t>(layout_->state);
    if (!stacking()) {
        const Rehash rehash(*this, p);
        states[p] = static_cast<uint16_t>(v);
        return;
    }
    if (level < 0) level = height(p) - 1;
    if (level >= 0 && level < height(p)) states[level_index(p, level)] = static_cast<uint16_t>(v);
}

void State::move_hidden(int from, int to) {
    if (!layout_->wants.hidden || from == to) return;
    for (uint32_t player = 1; player <= layout_->players; ++player) {
        hidden(player, to) = hidden(player, from);
        if (what(from) == 0) hidden(player, from) = 0;
    }
}

void State::set_rotation(int p, int level, int v) {
    if (!layout_->wants.rotation) return;
    uint8_t* rotations = array<uint8_t>(layout_->rotation);
    if (!stacking()) {
        const Rehash rehash(*this, p);
        rotations[p] = static_cast<uint8_t>(v);
        return;
    }
    if (level < 0) level = height(p) - 1;
    if (level >= 0 && level < height(p)) rotations[level_index(p, level)] = static_cast<uint8_t>(v);
}

void State::set_value(int p, int level, int v) {
    if (!layout_->wants.value) return;
    int16_t* values = array<int16_t>(layout_->value);
    if (!stacking()) {
        const Rehash rehash(*this, p);
        values[p] = static_cast<int16_t>(v);
        return;
    }
    if (level < 0) level = height(p) - 1;
    if (level >= 0 && level < height(p)) values[level_index(p, level)] = static_cast<int16_t>(v);
}

// --- stacks ---

void State::review_owners(int p) const {
    for (uint32_t owner = 0; owner < layout_->owners; ++owner)
        set_bit(layout_->owned + owner * layout_->words * 8, p, false);
    for (int level = 0; level < height(p); ++level) own(p, what(p, level), true);
    set_bit(layout_->empty, p, height(p) == 0);
}

void State::push(int p, int piece, int s, int r, int v, bool with_values) {
    const int h = height(p);
    if (static_cast<uint32_t>(h) == layout_->wants.height)
        throw GameError("a stack grows higher than there is room");
    const uint32_t at = level_index(p, h);
    array<uint16_t>(layout_->what)[at] = static_cast<uint16_t>(piece);
    // Without values a level keeps what was last there: see remove_level.
    if (with_values) {
        const LayoutWants& w = layout_->wants;
        if (w.state) array<uint16_t>(layout_->state)[at] = static_cast<uint16_t>(std::max(0, s));
        if (w.rotation)
            array<uint8_t>(layout_->rotation)[at] = static_cast<uint8_t>(std::max(0, r));
        if (w.value) array<int16_t>(layout_->value)[at] = static_cast<int16_t>(std::max(0, v));
    }
    array<uint8_t>(layout_->heights)[p] = static_cast<uint8_t>(h + 1);
    own(p, piece, true);
    set_bit(layout_->empty, p, false);
}

void State::insert(int p, int level, int piece, int s, int r, int v) {
    const int h = height(p);
    if (level > h || level < 0) return;
    push(p, piece, s, r, v, true);
    auto rotate = [&](auto* values) {
        auto* first = values + level_index(p, level);
        std::rotate(first, values + level_index(p, h), values + level_index(p, h) + 1);
    };
    const LayoutWants& w = layout_->wants;
    rotate(array<uint16_t>(layout_->what));
    if (w.state) rotate(array<uint16_t>(layout_->state));
    if (w.rotation) rotate(array<uint8_t>(layout_->rotation));
    if (w.value) rotate(array<int16_t>(layout_->value));
}

void State::pop(int p) { take_level(p, height(p) - 1, true); }

void State::remove_level(int p, int level) { take_level(p, level, false); }

void State::take_level(int p, int level, bool wholly) {
    const int h = height(p);
    if (h == 0 || level < 0 || level >= h) return;
    auto shift = [&](auto* values, bool clear) {
        for (int n = level; n + 1 < h; ++n)
            values[level_index(p, n)] = values[level_index(p, n + 1)];
        if (clear) values[level_index(p, h - 1)] = 0;
    };
    const LayoutWants& w = layout_->wants;
    shift(array<uint16_t>(layout_->what), true);
    if (w.state) shift(array<uint16_t>(layout_->state), wholly);
    if (w.rotation) shift(array<uint8_t>(layout_->rotation), wholly);
    if (w.value) shift(array<int16_t>(layout_->value), wholly);
    array<uint8_t>(layout_->heights)[p] = static_cast<uint8_t>(h - 1);
    review_owners(p);
}

void State::remove_stack(int p) {
    const LayoutWants& w = layout_->wants;
    auto clear = [&](auto* values) { std::fill_n(values + level_index(p, 0), w.height, 0); };
    clear(array<uint16_t>(layout_->what));
    if (w.state) clear(array<uint16_t>(layout_->state));
    if (w.rotation) clear(array<uint8_t>(layout_->rotation));
    if (w.value) clear(array<int16_t>(layout_->value));
    array<uint8_t>(layout_->heights)[p] = 0;
    review_owners(p);
}

// --- visited sites, repetition ---

void State::visit(int site) {
    if (site >= 0 && static_cast<uint32_t>(site) < layout_->words * 64)
        set_bit(layout_->visited, site, true);
}

void State::clear_visited() {
    std::memset(block_ + layout_->visited, 0, size_t{layout_->words} * 8);
}

uint64_t State::position_hash() const {
    const auto temp = static_cast<uint64_t>(scalars().temp);
    const uint64_t seed = 0x243F6A8885A308D3ull ^ temp * 0xD1342543DE82EF95ull;
    const uint32_t first = layout_->hashed ? layout_->teams : layout_->position_begin;
    const uint64_t rest = hash_bytes(block_ + first, layout_->position_end - first, seed);
    return layout_->hashed ? rest ^ *words(layout_->hash) : rest;
}

uint64_t State::situation_hash() const {
    const Scalars& s = scalars();
    const int32_t fields[] = {s.mover,
                              s.next,
                              s.previous,
                              static_cast<int32_t>(s.active),
                              static_cast<int32_t>(s.triggered),
                              static_cast<int32_t>(s.stalemated),
                              s.turn_plies,
                              s.passes};
    uint64_t hash =
        hash_bytes(reinterpret_cast<const uint8_t*>(fields), sizeof fields, position_hash());
    const NumberList waiting = pending();
    for (uint32_t n = 0; n < waiting.size(); ++n)
        hash += static_cast<uint64_t>(waiting[n] + 1) * 0xA0761D6478BD642Full;  // in any order
    const auto* amounts = block_ + layout_->amounts;
    hash = hash_bytes(amounts, (layout_->players + 2) * 4, hash);
    if (layout_->wants.scores)
        hash = hash_bytes(block_ + layout_->scores, (layout_->players + 2) * 4, hash);
    return hash;
}

void State::record(uint64_t hash, bool in_turn) {
    if (records_ != block_) throw GameError("a position that is only tried was to be recorded");
    uint64_t* list = words(in_turn ? layout_->turn_history : layout_->history + filter_words * 8);
    const uint32_t capacity = in_turn ? layout_->wants.turn_history : layout_->wants.history;
    if (list[0] == capacity) throw GameError("the game is longer than there is room to remember");
    list[1 + list[0]++] = hash;
    if (!in_turn) words(layout_->history)[hash % filter_words] |= uint64_t{1} << (hash >> 58);
}

void State::clear_turn_record() {
    uint64_t* list = words(layout_->turn_history);
    std::memset(list, 0, (list[0] + 1) * 8);
}

const uint64_t* State::record_list(bool in_turn) const {
    const uint32_t at = in_turn ? layout_->turn_history : layout_->history + filter_words * 8;
    return reinterpret_cast<const uint64_t*>(records_ + at);
}

bool State::recorded(uint64_t hash, bool in_turn) const {
    if (!in_turn) {  // most positions are new, and a bit for some of them tells so
        const auto* filter = reinterpret_cast<const uint64_t*>(records_ + layout_->history);
        if (!(filter[hash % filter_words] >> (hash >> 58) & 1)) return false;
    }
    const uint64_t* list = record_list(in_turn);
    const uint64_t* const end = list + 1 + list[0];
    return std::find(list + 1, end, hash) != end;
}

uint32_t State::record_size() const { return static_cast<uint32_t>(record_list(false)[0]); }
uint64_t State::record_at(uint32_t n) const { return record_list(false)[1 + n]; }

}  // namespace omnilude::ludeme
