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
        const uint32_t who = players_meant(c, role, player.get());
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
                for (uint32_t left = who; left; left &= left - 1) {
                    Action a = site_action(Act::SetHidden, kind_at(c, kind, s), s);
                    a.level_to = 0;
                    a.what = std::countr_zero(left);
                    a.count = side;
                    a.value = hidden;
                    visit(a);
                }
            });
    }
};

}  // namespace omnilude::ludeme
