// Where on a track pieces are, in games with a track that comes to some site more than once.
//
// A record has, for every track, component and element of the track, how many of them are there. It
// is written as pieces come, move and go, by rules of its own that are not always what a player
// would say: descriptions count on them. It may be off by some, or negative.
#pragma once

#include "ludeme/nodes.h"

namespace omnilude::ludeme {

// Pieces come to a site: they are on its first element.
void note_arrival(Context& c, int piece, int site, int count);
// A piece leaves the board: it is on none of the site's elements any more.
void note_removal(Context& c, int piece, int site);
// Pieces go on to the next element of a site after the first that has one of them.
void note_move(Context& c, int piece, int from, int to, int count);
// The element of a track that a player's piece on a site is on; the length if there is none.
int find_lap(const Context& c, int track, int site, int player);

}  // namespace omnilude::ludeme
