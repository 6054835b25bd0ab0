// A game described by ludemes, compiled: board, layout of states, and the trees of its rules.
#pragma once

#include <functional>
#include <map>

#include "ludeme/nodes.h"

namespace omnilude::ludeme {

// Who of the players, and neutral or shared besides; numbers as in rules/ludeme/roles.py.
enum class Role : int32_t {
    Neutral = 0,  // 1 to 16 are players
    Team1 = 17,   // to 32
    TeamMover = 33,
    Each,
    Shared,
    All,
    Mover,
    Next,
    Previous,
    NonMover,
    Enemy,
    Friend,
    Ally,
    Player,
};

struct Phase {
    std::string name;
    int owner = 0;  // players + 1: everybody
    MovesPtr play;
    int end = -1;  // number of an end block, or -1
    struct Next {
        std::unique_ptr<IntNode> who;  // players + 1: everybody
        BoolPtr condition;             // null: always
        int target = -1;               // phase, or -1: the following one
    };
    std::vector<Next> next;
};

enum class Outcome : uint8_t { Win, Loss, Draw, Tie, Abandon, Crash };

struct EndRule {
    virtual ~EndRule() = default;
    // Whether there is a result, and for whom.
    struct Result {
        bool given = false;
        int role = 0;
        Outcome outcome = Outcome::Draw;
        bool met = false;  // its condition held: where rules are within one, no other is tried
        static Result done() { return {false, 0, Outcome::Draw, true}; }
    };
    virtual Result eval(Context& c) const = 0;
};

struct EndBlock {
    std::vector<std::unique_ptr<EndRule>> rules;
};

struct StartRule {
    virtual ~StartRule() = default;
    virtual void eval(Context& c) const = 0;
};

struct Meta {
    bool swap = false;
    bool repeat_positional = false, repeat_situational = false;
    bool repeat_positional_turn = false, repeat_situational_turn = false;
    bool no_suicide = false;
    bool cycle = false;  // positions are recorded for `is Cycle`
    bool no_repeat() const {
        return repeat_positional || repeat_situational || repeat_positional_turn ||
               repeat_situational_turn;
    }
    bool forbids() const { return no_repeat() || no_suicide; }
};

// Done to the state, now.
struct Applied {
    bool next_set = false;  // a SetNextPlayer was among the actions
    bool pass = false, other_decision = false;
    bool swap = false, beside_swap = false;  // sides are exchanged; something else was chosen
    int from_after = off, to_after = off;
    bool decided = false;  // a decision was met
    int level_from = -1, level_to = -1;
    uint8_t kind_from = 0, kind_to = 0;  // of that decision
};

// What moves are drawn from in a position: choices that are a matter of the position are made.
struct DrawSource {
    static constexpr int most_follows = 8;
    const MovesNode* node = nullptr;
    const MovesNode* follows[most_follows];  // what they have as consequences besides
    int following = 0;
    int64_t numbers = -1;  // -1: moves must be listed
    bool singles = false;  // moves are drawn as such
    bool swap = false;     // one more number than there are: that sides are exchanged
};

class Program {
  public:
    Board board;
    Layout layout;
    LayoutWants wants;
    std::vector<Phase> phases;
    std::vector<EndBlock> ends;
    int end = -1;  // of the whole game
    std::vector<std::unique_ptr<StartRule>> start;
    Meta meta;
    bool all_pass_ends = true;
    bool phases_change = false;
    bool fills_board = false;  // all that is ever done is to put a piece on an empty site
    bool records = false;      // positions, for rules about repetition
    bool stochastic = false;
    int first_site = -1;  // where a game without a board begins, if it asks for that
    uint32_t turn_limit = 1250, move_limit = 10000;
    std::vector<SiteSet> start_sites;  // by component: where it stood at the start
    std::vector<std::string> votes;    // names of what may be proposed
    std::vector<std::string> labels;   // of sites, by number: those of the board, then hands
    struct Map {
        std::string name;
        std::map<int, int> entries;
    };
    std::vector<Map> maps;
    struct OwnedRegion {
        std::string name;
        int owner = 0;
        std::vector<RegionPtr> regions;
        SiteSet sites;  // as it was at the start
    };
    std::vector<OwnedRegion> regions;
    // The neighbours of all sites as sets, each kind of them once: equal ones are the same.
    std::vector<std::unique_ptr<const std::vector<uint64_t>>> neighbours;

    uint32_t players() const { return board.players; }
    uint32_t words() const { return layout.words; }

    void start_game(uint8_t* block, Arena& arena, RandomStream& random) const;
    // All legal moves; a forced pass where there are none.
    void legal_moves(Context& c, MoveList& out) const;
    // One of them, each as likely as any other, and made. Returns how many plies it took: a roll of
    // the dice is one of its own.
    uint32_t play_random(Context& c, RandomStream& random) const;
    // To the end of the game, or to the limit; returns how many plies.
    uint64_t play_out(Context& c, RandomStream& random, uint64_t limit) const;
    DrawSource draw_source(Context& c) const;
    // The move of a number, or none.
    uint32_t draw_number(Context& c, const DrawSource& source, int64_t number) const;
    // One of the moves of a generator, each as likely as any other; none if it has none.
    uint32_t pick_from(Context& c, const MovesNode& node, RandomStream& random) const;
    // One ply. The arena's moves stay valid. `flat` collects what was done, as a move.
    void apply(Context& c, uint32_t move, uint32_t flat = none) const;
    void apply(Context& c, const Single& single) const;
    bool passes_meta(Context& c, uint32_t move) const;
    void compute_stalemate(Context& c) const;

    // --- roles ---
    int id_of(const Context& c, int role) const {
        return role == static_cast<int>(Role::Mover) ? c.scalars().mover : find_id(c, role);
    }
    int find_id(const Context& c, int role) const;
    uint32_t ids_of(const Context& c, int role) const;  // bits
    bool has_teams() const { return wants.teams; }

  private:
    uint32_t draw_listed(Context& c, RandomStream& random) const;
    void find_source(Context& c, DrawSource& source) const;
    uint64_t fill_board(Context& c, RandomStream& random, uint64_t limit) const;
    // The move that exchanges sides, where it is offered.
    uint32_t make_swap(Context& c) const;
    void begin_ply(Context& c, int from, bool passing) const;
    void end_ply(Context& c, int mover, const Applied& applied, int from, int to) const;
    void finish_ply(Context& c, int mover, bool pass, bool swap, int from, int to) const;
    void test_ends(Context& c) const;
    void eval_end(Context& c, const EndBlock& block) const;
    void update_phases(Context& c) const;
    void record_position(Context& c) const;
};

// A position without pieces and all that it takes to evaluate something in it.
struct Scratch {
    explicit Scratch(const Program& program)
        : blocks(program.layout.bytes / sizeof(Block) + 1),
          context(program, blocks.front().bytes, arena, &random) {
        arena.set_block(program.layout.bytes);
    }
    struct alignas(16) Block {
        uint8_t bytes[16];
    };
    std::vector<Block> blocks;
    Arena arena;
    RandomStream random{0, 0};
    Context context;
};

// Does a move with all its consequences; `stored`: it is the ply itself. `flat` collects all
// actions in order, as a move, where it is not `none`.
void apply_move(Context& c, uint32_t move, bool stored, Applied& applied, uint32_t flat = none);
// The same for a ply of one action, in games that have nothing to clear at the end of a turn.
void apply_single(Context& c, const Single& single, Applied& applied);
// The same for a piece on an empty site, made for any, where that is all that is ever done.
void fill_site(Context& c, Single& single, int site, Applied& applied);

void apply_result(Context& c, int role, Outcome outcome);
bool all_passed(const Context& c);
void score_game(Context& c, bool misere);

}  // namespace omnilude::ludeme
