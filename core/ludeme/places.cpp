// Ludemes that are numbers of sites, or say what is on a site.
#include <algorithm>

#include "ludeme/laps.h"
#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {

// Where a site's fields are: with `anywhere` sites beyond the board are cells of hands.
int find_place(const Context& c, Kind kind, int site, bool anywhere) {
    return anywhere ? c.state.place_anywhere(kind, site) : c.state.place(kind, site);
}

template <class Flat, class Level>
IntPtr read_field(Reader& r, bool anywhere, Flat flat, Level leveled) {
    const Kind kind = r.kind();
    auto site = r.integer(), level = r.integer();
    return make_int([=, site = std::move(site), level = std::move(level)](Context& c) {
        const int place = find_place(c, kind, site->eval(c), anywhere || level);
        if (place < 0) return 0;
        if (!level || !c.state.stacking()) return flat(c.state, place);
        const int l = level->eval(c);
        return l < 0 ? flat(c.state, place) : leveled(c.state, place, l);
    });
}

struct OwnerAt final : IntNode {
    Kind kind;
    IntPtr site, level;
    explicit OwnerAt(Reader& r) : kind(r.kind()), site(r.integer()), level(r.integer()) {}
    int eval(Context& c) const override {
        const int place = find_place(c, kind, site->eval(c), level != nullptr);
        if (place < 0) return 0;
        if (!level || !c.state.stacking()) return c.state.who(place);
        const int l = level->eval(c);
        return l < 0 ? c.state.who(place) : c.state.who(place, l);
    }
    bool is_owner_at(Kind& k, Slot& slot) const override {
        if (level || !site->slot()) return false;
        k = kind;
        slot = site->slot();
        return true;
    }
};

int find_track(const Board& board, const std::string& name, int owner) {
    const auto& tracks = board.tracks;
    auto first = [&](auto&& fits) {
        for (size_t t = 0; t < tracks.size(); ++t)
            if (fits(tracks[t])) return static_cast<int>(t);
        return -1;
    };
    if (!name.empty()) {
        auto named = [&](const Track& t) { return t.name.find(name) != std::string::npos; };
        int found = first([&](const Track& t) { return named(t) && t.owner == owner; });
        if (found < 0) found = first(named);
        if (found >= 0) return found;
    }
    const int own = first([&](const Track& t) { return t.owner == owner; });
    return own >= 0 ? own : first([](const Track& t) { return t.owner == 0; });
}

// The tracks of each owner by one name, and where they have each site first.
class TrackFinder {
  public:
    TrackFinder(const Board& board, const std::string& name) {
        for (int owner = 0; owner <= static_cast<int>(board.players) + 1; ++owner)
            by_owner_.push_back(find_track(board, name, owner));
        other_ = find_track(board, name, -1);
        for (const Track& track : board.tracks) {
            const auto length = static_cast<int>(track.elements.size());
            std::vector<int32_t> first(max_sites, length);
            for (int n = length; n-- > 0;)
                if (const int site = track.elements[static_cast<size_t>(n)].site; site >= 0)
                    first[static_cast<size_t>(site)] = n;
            first_.push_back(std::move(first));
        }
    }
    int track(int owner) const {
        return owner >= 0 && static_cast<size_t>(owner) < by_owner_.size()
                   ? by_owner_[static_cast<size_t>(owner)]
                   : other_;
    }
    int move(const Context& c, int number, int site, int steps, int player) const {
        const Track& track = c.program.board.tracks[static_cast<size_t>(number)];
        const auto length = static_cast<int>(track.elements.size());
        const auto& first = first_[static_cast<size_t>(number)];
        int at = length;
        if (c.program.wants.laps && !track.looped) {
            if (site < 0) return off;
            at = find_lap(c, number, site, player);
        } else if (site >= 0 && static_cast<size_t>(site) < first.size())
            at = first[static_cast<size_t>(site)];
        else
            for (at = 0; at < length && track.elements[static_cast<size_t>(at)].site != site;) ++at;
        at += std::max(steps, 0);
        if (at < length) return track.elements[static_cast<size_t>(at)].site;
        const TrackElement& last = track.elements.back();
        if (last.next == off) return off;
        for (;;) {
            at -= length;
            if (at == 0) return last.next;
            if (at - 1 < length) return track.elements[static_cast<size_t>(at - 1)].next;
        }
    }

  private:
    std::vector<int> by_owner_;
    int other_;
    std::vector<std::vector<int32_t>> first_;  // by track and site
};

// In stacks the piece at the bottom, unless a level is given.
struct PieceAt final : IntNode {
    Kind kind;
    IntPtr site, level;
    bool stacks;
    explicit PieceAt(Reader& r)
        : kind(r.kind()), site(r.integer()), level(r.integer()), stacks(r.program.wants.stacking) {}
    bool is_piece_at(Kind& k, Slot& s) const override {
        k = kind;
        s = site->slot();
        return s && !stacks;
    }
    int eval(Context& c) const override {
        const int place = c.state.place_anywhere(kind, site->eval(c));
        if (place < 0) return 0;
        if (!c.state.stacking()) return c.state.what(place);
        const int l = level ? level->eval(c) : 0;
        return l < 0 ? c.state.what(place) : c.state.what(place, l);
    }
};

struct PieceOf final : IntNode {
    std::vector<int32_t> by_owner;
    int role;
    explicit PieceOf(Reader& r) : by_owner(r.numbers()), role(r.number()) {}
    const std::vector<int32_t>* piece_of_mover() const override {
        return role == static_cast<int>(Role::Mover) ? &by_owner : nullptr;
    }
    int eval(Context& c) const override {
        const int owner = c.program.id_of(c, role);
        return owner >= 0 && static_cast<size_t>(owner) < by_owner.size()
                   ? by_owner[static_cast<size_t>(owner)]
                   : -1;
    }
};

// So many steps from a site in a direction; the site itself where there is none.
int site_ahead(const Program& program, Kind kind, int site, int direction, int steps) {
    for (int number : rays_of(program, kind, site, direction)) {
        const auto sites = ray(program, kind, number);
        if (steps >= 0 && static_cast<size_t>(steps) < sites.size())
            return sites[static_cast<size_t>(steps)];
    }
    return site;
}

// The site beyond one in a register as seen from another one: looked up by both.
struct Beyond final : IntNode {
    Kind kind;
    Slot from, to;
    uint32_t sites;
    std::vector<int16_t> table;
    // Null where it is something else, or on a board that is too large for it.
    static std::unique_ptr<Beyond> make(const Program& program, Kind kind, const IntNode& site,
                                        const DirectionsNode& directions) {
        constexpr uint32_t most = 128;
        const uint32_t sites = program.board.tables[kind].count;
        const Slot to = site.slot();
        if (!to || sites > most) return nullptr;
        for (const Slot from : {&Registers::from, &Registers::to, &Registers::between}) {
            if (!directions.is_from_to(kind, from, to)) continue;
            auto node = std::make_unique<Beyond>();
            node->kind = kind, node->from = from, node->to = to, node->sites = sites;
            for (int a = 0; a < static_cast<int>(sites); ++a)
                for (int b = 0; b < static_cast<int>(sites); ++b) {
                    const int d = directions.first_between(a, b);
                    const int end = d < 0 ? b : site_ahead(program, kind, b, d, 1);
                    node->table.push_back(static_cast<int16_t>(end));
                }
            return node;
        }
        return nullptr;
    }
    int eval(Context& c) const override {
        const int a = c.registers.*from, b = c.registers.*to;
        if (!on_board(c.program, kind, b)) return off;
        if (!on_board(c.program, kind, a)) return b;
        return table[static_cast<size_t>(a) * sites + static_cast<size_t>(b)];
    }
};

}  // namespace

void add_site_functions(Makers<IntPtr>& m) {
    m["who"] = [](Reader& r) { return IntPtr(std::make_unique<OwnerAt>(r)); };
    m["state"] = [](Reader& r) {
        return read_field(
            r, true, [](const State& s, int p) { return s.state(p); },
            [](const State& s, int p, int l) { return s.state(p, l); });
    };
    m["rotation"] = [](Reader& r) {
        return read_field(
            r, true, [](const State& s, int p) { return s.rotation(p); },
            [](const State& s, int p, int l) { return s.rotation(p, l); });
    };
    m["value Piece"] = [](Reader& r) {
        return read_field(
            r, true, [](const State& s, int p) { return s.value(p); },
            [](const State& s, int p, int l) { return s.value(p, l); });
    };
    m["what"] = [](Reader& r) { return IntPtr(std::make_unique<PieceAt>(r)); };
    m["topLevel"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto site = r.integer();
        return make_int([=, site = std::move(site)](Context& c) {
            const int s = site->eval(c);
            if (!c.state.stacking() || s < 0) return 0;
            const int place = c.state.place_anywhere(kind, s);
            return place < 0 ? off : std::max(0, c.state.height(place) - 1);
        });
    };
    m["where"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto piece = r.integer(), state = r.integer();
        const bool by_name = r.flag();
        return make_int([=, piece = std::move(piece), state = std::move(state)](Context& c) {
            const int what = piece->eval(c);
            const State& s = c.state;
            if (what <= 0 || static_cast<size_t>(what) >= c.program.board.owners.size()) return off;
            const int wanted = state ? state->eval(c) : -1;
            const auto owner = static_cast<uint32_t>(s.owner_of(what));
            const auto first = static_cast<int>(c.program.layout.layer[kind]);
            const auto end = first + static_cast<int>(c.program.board.tables[kind].count);
            int found = off;
            each_bit(s.owned(owner), c.program.words(), [&](int place) {
                if (place < first || place >= end) return false;
                for (int level = 0; level < s.height(place); ++level)
                    if (s.what(place, level) == what &&
                        (wanted == -1 || s.state(place, level) == wanted)) {
                        // By name it is the one that came first, and that is not kept.
                        if (by_name && found != off)
                            throw GameError("(where …) by name, of several such pieces");
                        found = place - first;
                        return !by_name;
                    }
                return false;
            });
            return found;
        });
    };
    m["where Level"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto piece = r.integer(), state = r.integer(), site = r.integer();
        const bool from_top = r.flag();
        return make_int([=, piece = std::move(piece), state = std::move(state),
                         site = std::move(site)](Context& c) {
            const int what = piece->eval(c), at = site->eval(c);
            if (what <= 0 || !on_board(c.program, kind, at)) return off;
            const int place = c.state.place(kind, at);
            const int wanted = state ? state->eval(c) : -1;
            const int height = c.state.height(place);
            for (int n = 0; n < height; ++n) {
                const int level = from_top ? height - 1 - n : n;
                if (c.state.what(place, level) == what &&
                    (wanted == -1 || c.state.state(place, level) == wanted))
                    return level;
            }
            return off;
        });
    };
    m["id"] = [](Reader& r) { return IntPtr(std::make_unique<PieceOf>(r)); };
    m["handSite"] = [](Reader& r) {
        auto who = r.integer(), index = r.integer();
        return make_int([who = std::move(who), index = std::move(index)](Context& c) {
            const int owner = who->eval(c);
            for (const Container& container : c.program.board.containers)
                if (container.hand && container.owner == owner)
                    return static_cast<int>(container.first_site) + (index ? index->eval(c) : 0);
            return off;
        });
    };
    m["mapEntry"] = [](Reader& r) {
        const std::string& name = r.symbol();
        auto key = r.integer();
        return make_int([name, key = std::move(key)](Context& c) {
            const int k = key->eval(c);
            for (const Program::Map& map : c.program.maps) {
                if (!name.empty() && map.name != name) continue;
                const auto found = map.entries.find(k);
                if (found != map.entries.end() && found->second != off) return found->second;
            }
            return k;
        });
    };
    m["regionSite"] = [](Reader& r) {
        auto region = r.region();
        auto index = r.integer();
        return make_int([region = std::move(region), index = std::move(index)](Context& c) {
            SiteSet sites;
            region->eval(c, sites);
            int left = index->eval(c), found = off;
            if (left < 0) return off;
            sites.any(c.program.words(), [&](int site) {
                if (left-- == 0) found = site;
                return found >= 0;
            });
            return found;
        });
    };
    m["coord"] = [](Reader& r) {
        const Kind kind = r.kind();
        auto row = r.integer(), column = r.integer();
        return make_int([=, row = std::move(row), column = std::move(column)](Context& c) {
            const SiteTables& t = c.program.board.tables[kind];
            const int y = row->eval(c), x = column->eval(c);
            for (uint32_t s = 0; s < t.count; ++s)
                if (t.row[s] == y && t.column[s] == x) return static_cast<int>(s);
            return off;
        });
    };
    auto add_table = [&m](const char* name, std::vector<int32_t> SiteTables::* table) {
        m[name] = [table](Reader& r) {
            const Kind kind = r.kind();
            auto site = r.integer();
            return make_int([=, site = std::move(site)](Context& c) {
                const int s = site->eval(c);
                return on_board(c.program, kind, s)
                           ? (c.program.board.tables[kind].*table)[static_cast<size_t>(s)]
                           : off;
            });
        };
    };
    add_table("row", &SiteTables::row);
    add_table("column", &SiteTables::column);
    add_table("layer", &SiteTables::layer);
    add_table("phase", &SiteTables::phase);
    m["ahead"] = [](Reader& r) -> IntPtr {
        const Kind kind = r.kind();
        auto site = r.integer(), steps = r.integer();
        auto directions = r.directions();
        if (!steps)
            if (auto beyond = Beyond::make(r.program, kind, *site, *directions)) return beyond;
        return make_int([=, site = std::move(site), steps = std::move(steps),
                         directions = std::move(directions)](Context& c) {
            const int s = site->eval(c);
            if (!on_board(c.program, kind, s)) return off;
            const int k = steps ? steps->eval(c) : 1;
            const DirectionList list(c, *directions, kind, s);
            return list.empty() ? s : site_ahead(c.program, kind, s, *list.begin(), k);
        });
    };
    m["ahead same"] = [](Reader& r) {  // in the direction of the move, or against it
        const Kind kind = r.kind();
        auto site = r.integer(), steps = r.integer();
        const bool opposite = r.flag();
        return make_int([=, site = std::move(site), steps = std::move(steps)](Context& c) {
            const int s = site->eval(c);
            if (!on_board(c.program, kind, s)) return off;
            int from = c.registers.from >= 0 ? c.registers.from : c.scalars().last_from;
            int to = c.registers.to >= 0 ? c.registers.to : c.scalars().last_to;
            if (opposite) std::swap(from, to);
            if (!on_board(c.program, kind, from)) return s;
            int found = -1;
            for (int d : c.program.board.tables[kind].supported[0])
                for (int number : rays_of(c.program, kind, from, d)) {
                    const auto sites = ray(c.program, kind, number);
                    if (std::find(sites.begin() + 1, sites.end(), to) != sites.end()) found = d;
                }
            if (found < 0) return s;
            return site_ahead(c.program, kind, s, found, steps ? steps->eval(c) : 1);
        });
    };
    m["trackSite Move"] = [](Reader& r) {
        auto finder = std::make_shared<TrackFinder>(r.program.board, r.symbol());
        auto from = r.integer(), who = r.integer(), steps = r.integer();
        return make_int([finder, from = std::move(from), who = std::move(who),
                         steps = std::move(steps)](Context& c) {
            const int player = who->eval(c), track = finder->track(player);
            if (track < 0) return off;
            const int site = from->eval(c);
            return finder->move(c, track, site, steps->eval(c), player);
        });
    };
    m["trackSite FirstSite"] = [](Reader& r) {
        const int track = r.number();
        auto from = r.integer();
        auto test = r.boolean();
        return make_int([track, from = std::move(from), test = std::move(test)](Context& c) {
            if (track < 0) return off;
            const auto& elements = c.program.board.tracks[static_cast<size_t>(track)].elements;
            size_t first = 0;
            const int start = from ? from->eval(c) : off;
            if (start >= 0) {
                while (first < elements.size() && elements[first].site != start) ++first;
                if (first == elements.size()) return off;
            }
            const Keep keep(c.registers.to);
            for (size_t n = 0; n < elements.size(); ++n) {
                const int site = elements[(first + n) % elements.size()].site;
                c.registers.to = site;
                if (!test || test->eval(c)) return site;
            }
            return off;
        });
    };
    m["trackSite EndSite"] = [](Reader& r) {
        const int track = r.number();
        return make_int([track](Context& c) {
            return track < 0
                       ? off
                       : c.program.board.tracks[static_cast<size_t>(track)].elements.back().site;
        });
    };
    m["face"] = [](Reader& r) {
        auto site = r.integer();
        return make_int([site = std::move(site)](Context& c) {
            const int place = c.state.place(Cell, site->eval(c));
            if (place < 0) return off;
            return c.program.board.face(c.state.what(place), c.state.state(place), off);
        });
    };
}

}  // namespace omnilude::ludeme
