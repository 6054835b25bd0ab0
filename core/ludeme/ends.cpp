// Rules about how a game ends, and how it begins.
#include <algorithm>

#include "ludeme/hiding.h"
#include "ludeme/laps.h"

namespace omnilude::ludeme {

namespace {

using EndPtr = std::unique_ptr<EndRule>;

struct Plain final : EndRule {
    int role;
    Outcome outcome;
    Plain(Reader& r) : role(r.number()), outcome(static_cast<Outcome>(r.number())) {}
    Result eval(Context&) const override { return {true, role, outcome, true}; }
};

struct IfEnd final : EndRule {
    BoolPtr test;
    std::vector<EndPtr> subs;
    EndPtr result;
    explicit IfEnd(Reader& r) : test(r.boolean()), subs(static_cast<size_t>(r.number())) {
        for (auto& sub : subs) sub = r.end_rule();
        result = r.end_rule();
    }
    Result eval(Context& c) const override {
        if (!test->eval(c)) return {};
        Result found;
        if (subs.empty() && result) found = result->eval(c);
        for (const auto& sub : subs) {
            found = sub->eval(c);
            if (found.met) return found;
        }
        // A score beside other conditions is never taken.
        if (!subs.empty() && result && dynamic_cast<const Plain*>(result.get()))
            found = result->eval(c);
        found.met = true;
        return found;
    }
};

struct ForEachEnd final : EndRule {
    int role;
    BoolPtr test;
    int result_role;
    Outcome outcome;
    explicit ForEachEnd(Reader& r)
        : role(r.number()),
          test(r.boolean()),
          result_role(r.number()),
          outcome(static_cast<Outcome>(r.number())) {}
    Result eval(Context& c) const override {
        const Keep keep(c.registers.player);
        for (int p = 1; p <= static_cast<int>(c.program.players()); ++p) {
            if (role == static_cast<int>(Role::NonMover) && p == c.scalars().mover) continue;
            if (!(c.scalars().active >> p & 1)) continue;
            c.registers.player = p;
            if (test->eval(c)) apply_result(c, result_role, outcome);
        }
        return Result::done();
    }
};

struct ByScore final : EndRule {
    struct Entry {
        int role;
        IntPtr value;
    };
    std::vector<Entry> entries;
    bool misere;
    explicit ByScore(Reader& r) : entries(static_cast<size_t>(r.number())) {
        for (auto& entry : entries) entry.role = r.number(), entry.value = r.integer();
        misere = r.flag();
    }
    Result eval(Context& c) const override {
        for (const auto& entry : entries) {
            const int p = c.program.id_of(c, entry.role);
            const int value = entry.value->eval(c);
            if (p >= 0 && p <= static_cast<int>(c.program.players()))
                c.state.score(static_cast<uint32_t>(p)) = value;
        }
        score_game(c, misere);
        return Result::done();
    }
};

// --- the start ---

using StartPtr = std::unique_ptr<StartRule>;

void place_piece(Context& c, Kind kind, int site, int piece, int count, int state, int rotation,
                 int value) {
    if (site < 0) return;
    if (!on_board(c.program, kind, site)) kind = Cell;
    const int place = c.state.place(kind, site);
    if (place < 0) return;
    c.scalars().start_moves = 1;
    State& s = c.state;
    if (c.program.wants.laps) note_arrival(c, piece, site, s.stacking() ? 2 * count : count);
    if (s.stacking()) {
        s.push(place, piece, state, rotation, value, state >= 0 || rotation >= 0 || value >= 0);
    } else if (s.what(place) == 0) {
        s.set_site(place, piece > 0 ? s.owner_of(piece) : 0, piece, count, state, rotation, value);
    } else {
        const bool counting = s.layout().wants.count;
        s.set_site(place, -1, -1, counting ? s.count(place) + count : 1, state, rotation, value);
    }
}

struct Place final : StartRule {
    Kind kind;
    std::vector<int32_t> sites;
    RegionPtr region;
    std::vector<int32_t> pieces;
    IntPtr count, state, rotation, value;
    bool stacked;                 // count pieces on each site
    std::vector<int32_t> counts;  // or so many on each
    explicit Place(Reader& r)
        : kind(r.kind()),
          sites(r.numbers()),
          region(r.region()),
          pieces(r.numbers()),
          count(r.integer()),
          state(r.integer()),
          rotation(r.integer()),
          value(r.integer()),
          stacked(r.flag()),
          counts(r.numbers()) {}
    void eval(Context& c) const override {
        std::vector<int32_t> all = sites;
        if (region) {
            SiteSet set;
            region->eval(c, set);
            set.each(c.program.words(), [&](int s) { all.push_back(s); });
        }
        const int same = count ? count->eval(c) : 1;
        if (!counts.empty() && counts.size() != all.size())
            throw GameError("place: as many counts as sites are needed");
        for (size_t k = 0; k < all.size(); ++k)
            for (int piece : pieces) {
                const int many = counts.empty() ? same : counts[k];
                for (int n = 0; n < (stacked ? many : 1); ++n)
                    place_piece(c, kind, all[k], piece, stacked ? 1 : many,
                                state ? state->eval(c) : -1, rotation ? rotation->eval(c) : -1,
                                value ? value->eval(c) : -1);
            }
    }
};

struct SetCount final : StartRule {
    Kind kind;
    int piece;
    IntPtr count, site;
    RegionPtr region;
    explicit SetCount(Reader& r)
        : kind(r.kind()),
          piece(r.number()),
          count(r.integer()),
          site(r.integer()),
          region(r.region()) {}
    void eval(Context& c) const override {
        auto one = [&](int s) {
            const int place = c.state.place_anywhere(kind, s);
            if (place < 0) return;
            c.scalars().start_moves = 1;
            const int many = count->eval(c);
            if (many > 0)
                c.state.set_site(place, -1, piece, many, -1, -1, -1);
            else
                c.state.clear_site(place);
        };
        if (region) {
            SiteSet set;
            region->eval(c, set);
            set.each(c.program.words(), one);
        } else {
            one(site->eval(c));
        }
    }
};

struct SetHidden final : StartRule {
    Hiding hiding;
    explicit SetHidden(Reader& r) : hiding(r) {}
    void eval(Context& c) const override {
        c.scalars().start_moves = 1;
        hiding.each(c, [&](const Action& a) {
            const int place = c.state.place_anywhere(static_cast<Kind>(a.kind_to), a.to);
            c.state.hide(static_cast<uint32_t>(a.what), place, a.count, a.value != 0);
        });
    }
};

struct SetScores final : StartRule {
    int role;
    IntPtr value;
    explicit SetScores(Reader& r) : role(r.number()), value(r.integer()) {}
    void eval(Context& c) const override {
        const bool all =
            role == static_cast<int>(Role::Each) || role == static_cast<int>(Role::All);
        c.scalars().start_moves = 1;
        for (int p = 1; p <= static_cast<int>(c.program.players()); ++p)
            if (all || p == c.program.id_of(c, role))
                c.state.score(static_cast<uint32_t>(p)) = value->eval(c);
    }
};

struct SetTeam final : StartRule {
    int team;
    std::vector<int32_t> members;
    explicit SetTeam(Reader& r) : team(r.number()), members(r.numbers()) {}
    void eval(Context& c) const override {
        c.scalars().start_moves = 1;
        for (int p : members) c.state.team(static_cast<uint32_t>(p)) = team;
    }
};

struct RememberStart final : StartRule {
    int list;
    IntPtr value;
    RegionPtr region;
    bool unique;
    explicit RememberStart(Reader& r)
        : list(r.number()), value(r.integer()), region(r.region()), unique(r.flag()) {}
    void eval(Context& c) const override {
        c.scalars().start_moves = 1;
        NumberList values = c.state.remembered(static_cast<uint32_t>(list));
        auto one = [&](int v) {
            if (!unique || !values.has(v)) values.push(v);
        };
        if (region) {
            SiteSet set;
            region->eval(c, set);
            set.each(c.program.words(), one);
        } else {
            one(value->eval(c));
        }
    }
};

struct ForEachValueStart final : StartRule {
    IntPtr least, most;
    StartPtr rule;
    explicit ForEachValueStart(Reader& r)
        : least(r.integer()), most(r.integer()), rule(r.start_rule()) {}
    void eval(Context& c) const override {
        const Keep keep(c.registers.value);
        const int high = most->eval(c);
        for (int v = least->eval(c); v <= high; ++v) {
            c.registers.value = v;
            rule->eval(c);
        }
    }
};

struct ForEachSiteStart final : StartRule {
    RegionPtr region;
    BoolPtr test;
    StartPtr rule;
    explicit ForEachSiteStart(Reader& r)
        : region(r.region()), test(r.boolean()), rule(r.start_rule()) {}
    void eval(Context& c) const override {
        SiteSet set;
        region->eval(c, set);
        const Keep keep(c.registers.site);
        set.each(c.program.words(), [&](int s) {
            c.registers.site = s;
            if (!test || test->eval(c)) rule->eval(c);
        });
    }
};

}  // namespace

void add_end_rules(Makers<std::unique_ptr<EndRule>>& m) {
    m["result"] = [](Reader& r) { return EndPtr(std::make_unique<Plain>(r)); };
    m["if"] = [](Reader& r) { return EndPtr(std::make_unique<IfEnd>(r)); };
    m["forEach"] = [](Reader& r) { return EndPtr(std::make_unique<ForEachEnd>(r)); };
    m["byScore"] = [](Reader& r) { return EndPtr(std::make_unique<ByScore>(r)); };
}

void add_start_rules(Makers<std::unique_ptr<StartRule>>& m) {
    m["place"] = [](Reader& r) { return StartPtr(std::make_unique<Place>(r)); };
    m["set Count"] = [](Reader& r) { return StartPtr(std::make_unique<SetCount>(r)); };
    m["set Hidden"] = [](Reader& r) { return StartPtr(std::make_unique<SetHidden>(r)); };
    m["set Score"] = [](Reader& r) { return StartPtr(std::make_unique<SetScores>(r)); };
    m["set Team"] = [](Reader& r) { return StartPtr(std::make_unique<SetTeam>(r)); };
    m["set RememberValue"] = [](Reader& r) { return StartPtr(std::make_unique<RememberStart>(r)); };
    m["forEach Value"] = [](Reader& r) { return StartPtr(std::make_unique<ForEachValueStart>(r)); };
    m["forEach Site"] = [](Reader& r) { return StartPtr(std::make_unique<ForEachSiteStart>(r)); };
}

}  // namespace omnilude::ludeme
