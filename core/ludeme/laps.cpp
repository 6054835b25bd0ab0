#include "ludeme/laps.h"

#include "ludeme/program.h"

namespace omnilude::ludeme {

namespace {
// The first element of a site from one on, or -1.
int next_element(const Track& track, int site, size_t from) {
    for (size_t n = from; n < track.elements.size(); ++n)
        if (track.elements[n].site == site) return static_cast<int>(n);
    return -1;
}

template <class Visit>
void each_track(Context& c, int piece, Visit&& visit) {
    const auto& tracks = c.program.board.tracks;
    for (size_t t = 0; t < tracks.size(); ++t) visit(tracks[t], c.state.laps(t, piece));
}
}  // namespace

void note_arrival(Context& c, int piece, int site, int count) {
    if (piece < 0) return;
    each_track(c, piece, [&](const Track& track, int16_t* laps) {
        const int first = next_element(track, site, 0);
        if (first >= 0) laps[first] = static_cast<int16_t>(laps[first] + count);
    });
}

void note_removal(Context& c, int piece, int site) {
    if (piece <= 0) return;
    each_track(c, piece, [&](const Track& track, int16_t* laps) {
        for (size_t n = 0; n < track.elements.size(); ++n)
            if (track.elements[n].site == site) --laps[n];
    });
}

void note_move(Context& c, int piece, int from, int to, int count) {
    if (piece <= 0) return;
    each_track(c, piece, [&](const Track& track, int16_t* laps) {
        int at = next_element(track, from, 0);
        if (at < 0) {
            const int first = next_element(track, to, 0);
            if (first >= 0) ++laps[first];
            return;
        }
        while (at >= 0 && laps[at] <= 0)
            at = next_element(track, from, static_cast<size_t>(at) + 1);
        if (at < 0) return;
        laps[at] = static_cast<int16_t>(laps[at] - count);
        int next = next_element(track, to, static_cast<size_t>(at) + 1);
        if (next < 0) next = next_element(track, to, 0);
        if (next >= 0) laps[next] = static_cast<int16_t>(laps[next] + count);
    });
}

int find_lap(const Context& c, int track, int site, int player) {
    const auto t = static_cast<size_t>(track);
    const Track& chosen = c.program.board.tracks[t];
    const auto length = static_cast<int>(chosen.elements.size());
    const State& s = c.state;
    const int place = s.place_anywhere(c.program.board.kind, site);
    int piece = place < 0 ? 0 : s.what(place);
    for (int level = 0; place >= 0 && level < s.height(place); ++level)
        if (s.who(place, level) == player) {
            piece = s.what(place, level);
            break;
        }
    int at = next_element(chosen, site, 0);
    if (piece != 0) {
        const int16_t* laps = s.laps(t, piece);
        while (at >= 0 && laps[at] <= 0)
            at = next_element(chosen, site, static_cast<size_t>(at) + 1);
    }
    return at < 0 ? length : at;
}

}  // namespace omnilude::ludeme
