// What is hidden from whom, as an effect or when a game begins.
#pragma once

#include "ludeme/building.h"

namespace omnilude::ludeme {

// What players of a role are to see or not to see of some sites.
struct Hiding {
    std::vector<int32_t> sides;
    Kind kind;
    IntPtr site;
    RegionPtr region;
    BoolPtr value;  // null: hidden
    int role;
    IntPtr player;  // instead of a role
    explicit Hiding(Reader& r)
        : sides(r.numbers()),
          kind(r.kind()),
          site(r.integer()),
          region(r.region()),
          value(r.boolean()),
          role(r.number()),
          player(r.integer()) {}
    template <class Visit>
    void each(Context& c, Visit&& visit) const {
        const auto players = static_cast<int>(c.program.players());
        const int one = player ? player->eval(c) : 0;
        const bool known = one >= 1 && one <= players;
        const uint32_t who = !player ? c.program.ids_of(c, role) : known ? 1u << one : 0;
        SiteSet sites;
        sites.clear(c.program.words());
        if (region)
            region->eval(c, sites);
        else
            add_site(c, sites, site->eval(c));
        const bool hidden = !value || value->eval(c);
        for (int side : sides)
            sites.each(c.program.words(), [&](int s) {
                if (c.state.place_anywhere(kind_at(c, kind, s), s) < 0) return;
                for (int p = 1; p <= players; ++p) {
                    if (!(who >> p & 1)) continue;
                    Action a = site_action(Act::SetHidden, kind_at(c, kind, s), s);
                    a.level_to = 0;
                    a.what = p;
                    a.count = side;
                    a.value = hidden;
                    visit(a);
                }
            });
    }
};

}  // namespace omnilude::ludeme
