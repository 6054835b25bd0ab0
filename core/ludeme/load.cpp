// Reads a whole program; rules/ludeme/encode.py writes it in the same order.
#include "ludeme/load.h"

#include <cstring>

#include "ludeme/reader.h"

namespace omnilude::ludeme {

namespace {

Lists read_lists(Reader& r) {
    Lists lists;
    lists.start.clear();
    for (int n : r.numbers()) lists.start.push_back(static_cast<uint32_t>(n));
    lists.items = r.numbers();
    if (lists.start.empty() || lists.start.back() != lists.items.size())
        throw GameError("encoded rules: lists that do not fit");
    return lists;
}

void find_ray_sets(SiteTables& t) {
    const size_t rays = t.rays.start.size() - 1;
    t.words = (t.count + 63) / 64;
    t.ray_sets.assign(rays * t.words, 0);
    t.ray_order.assign(rays, 0);
    for (size_t n = 0; n < rays; ++n) {
        const auto sites = t.rays[n];
        bool up = true, down = true;
        for (size_t i = 1; i < sites.size(); ++i) {
            const auto site = static_cast<size_t>(sites[i]);
            t.ray_sets[n * t.words + site / 64] |= uint64_t{1} << site % 64;
            up &= sites[i] > sites[i - 1];
            down &= sites[i] < sites[i - 1];
        }
        t.ray_order[n] = static_cast<int8_t>(up ? 1 : down ? -1 : 0);
    }
}

void read_tables(Reader& r, SiteTables& t) {
    t.count = static_cast<uint32_t>(r.number());
    t.rays = read_lists(r);
    t.opposite = r.numbers();
    t.rays_at = read_lists(r);
    t.distinct_at = read_lists(r);
    t.steps_at = read_lists(r);
    t.supported_at = read_lists(r);
    t.supported = read_lists(r);
    t.row = r.numbers();
    t.column = r.numbers();
    t.layer = r.numbers();
    t.phase = r.numbers();
    t.distance = r.numbers();
    find_ray_sets(t);
}

void read_board(Reader& r, Board& board) {
    board.players = static_cast<uint32_t>(r.number());
    board.kind = r.kind();
    for (auto& tables : board.tables) read_tables(r, tables);
    board.containers.resize(static_cast<size_t>(r.number()));
    for (Container& box : board.containers) {
        box.name = r.symbol();
        box.first_site = static_cast<uint32_t>(r.number());
        box.sites = static_cast<uint32_t>(r.number());
        box.owner = r.number();
        box.hand = r.flag();
        box.dice = r.flag();
    }
    board.components.resize(static_cast<size_t>(r.number()));
    for (Component& piece : board.components) {
        piece.name = r.symbol();
        piece.plain = r.symbol();
        piece.owner = r.number();
        piece.facing = r.number();
        piece.flip_a = r.number();
        piece.flip_b = r.number();
        piece.faces = r.numbers();
        board.owners.push_back(static_cast<uint8_t>(piece.owner));
    }
    board.tracks.resize(static_cast<size_t>(r.number()));
    for (Track& track : board.tracks) {
        track.name = r.symbol();
        track.owner = r.number();
        track.looped = r.flag();
        track.elements.resize(static_cast<size_t>(r.number()));
        for (TrackElement& e : track.elements) {
            e.site = r.number();
            e.next = r.number();
            e.next_index = r.number();
            e.previous = r.number();
            e.previous_index = r.number();
            e.bump = r.number();
        }
    }
    board.container_of = r.numbers();
    for (const Track& track : board.tracks)
        for (const TrackElement& e : track.elements)
            if (e.site >= static_cast<int>(board.container_of.size()))
                throw GameError("the track " + track.name + " has a site that is not there");
}

std::vector<std::string> read_labels(Reader& r) {
    std::vector<std::string> labels(static_cast<size_t>(r.number()));
    for (std::string& label : labels) label = r.symbol();
    return labels;
}

LayoutWants read_wants(Reader& r) {
    LayoutWants w;
    for (bool& kind : w.kinds) kind = r.flag();
    w.count = r.flag();
    w.state = r.flag();
    w.rotation = r.flag();
    w.value = r.flag();
    w.stacking = r.flag();
    w.scores = r.flag();
    w.teams = r.flag();
    w.visited = r.flag();
    w.to_clear = r.flag();
    w.amounts = r.flag();
    w.hidden = r.flag();
    w.laps = r.flag();
    for (uint32_t* size : {&w.height, &w.pending, &w.variables, &w.remembered_lists, &w.remembered,
                           &w.dice, &w.history, &w.turn_history})
        *size = static_cast<uint32_t>(r.number());
    return w;
}

void read_phases(Reader& r, Program& program) {
    program.phases.resize(static_cast<size_t>(r.number()));
    for (Phase& phase : program.phases) {
        phase.name = r.symbol();
        phase.owner = r.number();
        phase.play = r.moves();
        phase.end = r.number();
        phase.next.resize(static_cast<size_t>(r.number()));
        for (Phase::Next& next : phase.next) {
            next.who = r.integer();
            next.condition = r.boolean();
            next.target = r.number();
        }
        program.phases_change |= !phase.next.empty();
        if (!phase.play) throw GameError("encoded rules: a phase without moves");
    }
}

void read_maps(Reader& r, Program& program) {
    Scratch scratch(program);
    program.maps.resize(static_cast<size_t>(r.number()));
    for (Program::Map& map : program.maps) {
        map.name = r.symbol();
        for (int left = r.number(); left > 0; --left) {
            const IntPtr key = r.integer(), value = r.integer();
            const int from = key->eval(scratch.context), to = value->eval(scratch.context);
            if (from != off && to != off) map.entries[from] = to;
        }
    }
}

void note_start_sites(Program& program) {
    Scratch scratch(program);
    program.start_game(scratch.blocks.front().bytes, scratch.arena, scratch.random);
    const State& state = scratch.context.state;
    program.start_sites.resize(program.board.components.size());
    for (SiteSet& set : program.start_sites) set.clear(max_words);
    const Kind kind = program.board.kind;
    bool any = false;
    for (uint32_t site = 0; site < program.board.tables[kind].count; ++site) {
        const int place = state.place(kind, static_cast<int>(site));
        if (place < 0) continue;
        program.start_sites[static_cast<size_t>(state.what(place))].add(site);
        any |= state.what(place) != 0;
    }
    // The centre would stay playable as long as nothing happened near it.
    if (any && program.first_site >= 0 && state.what(state.place(kind, program.first_site)) == 0)
        throw GameError(
            "pieces that start beside the centre of a game without a board are not "
            "supported");
}

}  // namespace

std::unique_ptr<Program> load_program(const std::vector<std::string>& symbols,
                                      const std::vector<int32_t>& code) {
    auto program = std::make_unique<Program>();
    Reader r(*program, symbols, code);
    read_board(r, program->board);
    program->labels = read_labels(r);
    program->wants = read_wants(r);
    program->layout = Layout(program->board, program->wants);
    read_maps(r, *program);
    Meta& meta = program->meta;
    for (bool* flag :
         {&meta.swap, &meta.repeat_positional, &meta.repeat_situational,
          &meta.repeat_positional_turn, &meta.repeat_situational_turn, &meta.no_suicide,
          &meta.cycle, &program->all_pass_ends, &program->stochastic})
        *flag = r.flag();
    program->records = meta.no_repeat() || meta.cycle;
    program->start.resize(static_cast<size_t>(r.number()));
    for (auto& rule : program->start) rule = r.start_rule();
    read_phases(r, *program);
    program->ends.resize(static_cast<size_t>(r.number()));
    for (EndBlock& block : program->ends) {
        block.rules.resize(static_cast<size_t>(r.number()));
        for (auto& rule : block.rules) rule = r.end_rule();
    }
    program->end = r.number();
    if (!r.done()) throw GameError("encoded rules: more than was expected");
    note_start_sites(*program);
    program->fills_board = program->phases.size() == 1 && !program->phases_change &&
                           !program->meta.forbids() && !program->wants.to_clear &&
                           program->phases[0].play->adds_to_empty(*program);
    return program;
}

}  // namespace omnilude::ludeme
