// What never changes in a game: the board's tables, containers, components, tracks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ludeme/sites.h"

namespace omnilude::ludeme {

enum Kind : uint8_t { Vertex = 0, Edge = 1, Cell = 2 };
constexpr uint32_t kinds = 3;
constexpr int off = -1;
constexpr int track_end = -2;

// Lists of numbers, one after another.
struct Lists {
    std::vector<uint32_t> start{0};
    std::vector<int32_t> items;
    std::span<const int32_t> operator[](size_t n) const {
        return {items.data() + start[n], start[n + 1] - start[n]};
    }
};

// One kind of site. Lists by direction and site are at [direction * count + site].
struct SiteTables {
    uint32_t count = 0;
    Lists rays;                     // the sites of each ray, the first of which is where it starts
    std::vector<int32_t> opposite;  // of each ray, or -1
    // Of each ray: its sites without the first as a set of so many words, and whether their numbers
    // go up (1) or down (-1) along it, or neither (0).
    uint32_t words = 0;
    std::vector<uint64_t> ray_sets;
    std::vector<int8_t> ray_order;
    Lists rays_at, distinct_at;  // numbers of rays
    Lists steps_at;              // sites
    Lists supported_at;          // by relation and site: directions that steps have
    Lists supported;             // by relation: of any site, in order
    std::vector<int32_t> row, column, layer, phase;
    std::vector<int32_t> distance;  // [count * count], for the relation that a game asks for
};

// Numbers of directions (boards/directions.py).
namespace direction {
enum : int { All = 0, Adjacent = 2, Orthogonal = 4, Diagonal = 5, OffDiagonal = 6, first = 13 };
enum : int { N = 13, E, S, W, NE, SE, NW, SW, NNW, WNW, WSW, SSW, SSE, ESE, ENE, NNE };
enum : int { CW = 29, CCW, In, Out, U };
constexpr int count = 51;
}  // namespace direction

struct Container {
    std::string name;
    uint32_t first_site = 0, sites = 0;
    int owner = 0;
    bool hand = false, dice = false;
};

struct Component {
    std::string name;   // with the number of its owner
    std::string plain;  // without
    int owner = 0;
    int facing = -1;  // direction, or -1
    int flip_a = -1, flip_b = -1;
    std::vector<int32_t> faces;  // of a die
};

struct TrackElement {
    int site, next, next_index, previous, previous_index, bump;
};

struct Track {
    std::string name;
    int owner = 0;
    bool looped = false;
    std::vector<TrackElement> elements;
};

struct Board {
    Kind kind = Cell;  // that is played on unless something else is said
    SiteTables tables[kinds];
    std::vector<Container> containers;  // 0 is the board
    std::vector<Component> components;  // 0 is no piece
    std::vector<uint8_t> owners;        // of the components
    std::vector<Track> tracks;
    std::vector<int32_t> container_of;  // by site number, board and hands
    uint32_t players = 2;
    // What a die shows that lies on a side, from 0; `other` where the piece is no such die.
    int face(int piece, int side, int other) const {
        const auto& faces = components[static_cast<size_t>(piece)].faces;
        return static_cast<size_t>(side) < faces.size() ? faces[static_cast<size_t>(side)] : other;
    }
    uint32_t sides(int piece) const {  // a piece that is no die has one, which shows nothing
        const size_t faces = components[static_cast<size_t>(piece)].faces.size();
        return faces ? static_cast<uint32_t>(faces) : 1;
    }
    bool has_piece(int number) const {
        return number >= 0 && static_cast<size_t>(number) < components.size();
    }
    uint32_t site_numbers() const { return static_cast<uint32_t>(container_of.size()); }
    uint32_t board_sites() const { return tables[kind].count; }
};

}  // namespace omnilude::ludeme
