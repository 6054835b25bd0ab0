// Machine code for a schedule: AVX2, one instruction a gate, registers given by next use (Belady).
//
// The code is a leaf function (frame, before, after) that touches nothing but those three arrays.
// On other processors, or where memory cannot be made executable, `make` gives null and the
// portable interpreter runs instead.
#include <algorithm>
#include <cstring>

#include "circuit/code.h"

#if defined(__x86_64__) && defined(__unix__)
#include <sys/mman.h>
#define OMNILUDE_MACHINE_CODE 1
#endif

namespace omnilude {

#ifdef OMNILUDE_MACHINE_CODE

bool machine_code_possible() { return __builtin_cpu_supports("avx2"); }

std::unique_ptr<MachineCode> MachineCode::make(const std::vector<uint8_t>& bytes) {
    void* memory =
        mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    std::memcpy(memory, bytes.data(), bytes.size());
    if (mprotect(memory, bytes.size(), PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, bytes.size());
        return nullptr;
    }
    return std::unique_ptr<MachineCode>(new MachineCode(memory, bytes.size()));
}

MachineCode::~MachineCode() { munmap(memory_, size_); }

#else

bool machine_code_possible() { return false; }
std::unique_ptr<MachineCode> MachineCode::make(const std::vector<uint8_t>&) { return nullptr; }
MachineCode::~MachineCode() = default;

#endif

namespace {

constexpr int no_register = -1;
constexpr int change_register = 15;  // what changed in this round of a loop
constexpr int registers = 15;
constexpr uint32_t never = UINT32_MAX;

class Emitter {
  public:
    Emitter(const Task& task, const Schedule& schedule, uint32_t& frame_used)
        : task_(task), schedule_(schedule), frame_used_(frame_used) {}

    std::vector<uint8_t> run() {
        prepare();
        for (uint32_t i = 0; i < schedule_.steps.size(); ++i) step(i);
        bytes({0xC5, 0xF8, 0x77, 0xC3});  // vzeroupper; ret
        return std::move(code_);
    }

  private:
    using Step = Schedule::Step;
    using Kind = Step::Kind;

    // --- uses ---

    void each_use(const Step& s, auto&& visit) {
        if (s.kind == Kind::Gate) {
            visit(s.a);
            visit(s.b);
        } else if (s.kind == Kind::Output || s.kind == Kind::Feedback) {
            visit(s.a);
        }
    }

    void prepare() {
        const size_t nodes = task_.graph->size();
        const auto& steps = schedule_.steps;
        home_.assign(nodes, Slot{});
        in_memory_.assign(nodes, false);
        register_.assign(nodes, no_register);
        must_store_.assign(nodes, false);
        home_[0] = Slot::frame(frame_zeros);
        in_memory_[0] = true;
        for (uint32_t n = 0; n < task_.inputs.size(); ++n)
            if (task_.inputs[n].valid()) home_[n] = task_.inputs[n], in_memory_[n] = true;
        fixed_.assign(nodes, false);
        for (uint32_t n = 0; n < nodes; ++n) fixed_[n] = in_memory_[n];

        // Which loop each step belongs to; a value that crosses a loop's border lives in memory.
        std::vector<uint32_t> loop(steps.size(), 0), loop_end(1, 0), made_in(nodes, 0);
        uint32_t current = 0, loops = 0;
        for (uint32_t i = 0; i < steps.size(); ++i) {
            if (steps[i].kind == Kind::LoopBegin) {
                current = ++loops;
                loop_end.push_back(0);
            }
            loop[i] = current;
            if (steps[i].kind == Kind::LoopEnd) {
                loop_end[current] = i;
                current = 0;
            }
            if (steps[i].kind == Kind::Gate) made_in[steps[i].node] = current;
            if (steps[i].kind == Kind::Feedback && !fixed_[steps[i].node]) {
                home_[steps[i].node] = Slot::frame(frame_used_++);
                fixed_[steps[i].node] = in_memory_[steps[i].node] = true;
                volatile_.resize(nodes, false);
                volatile_[steps[i].node] = true;
            }
        }
        volatile_.resize(nodes, false);
        // A gate that is an output as it stands is computed straight into the output's place.
        stored_.assign(task_.outputs.size(), false);
        for (const Step& s : steps)
            if (s.kind == Kind::Output && !s.flip && !fixed_[s.a]) {
                stored_[s.node] = fixed_[s.a] = must_store_[s.a] = true;
                home_[s.a] = task_.outputs[s.node].slot;
            }
        // Positions of uses, by node; a use inside a loop of something made outside it counts at
        // the loop's end as well, because the loop comes round again.
        first_.assign(nodes + 1, 0);
        auto each_position = [&](auto&& visit) {
            for (uint32_t i = 0; i < steps.size(); ++i)
                each_use(steps[i], [&](uint32_t n) {
                    visit(n, i);
                    if (loop[i] != made_in[n]) {
                        if (loop[i]) visit(n, loop_end[loop[i]]);
                        if (made_in[n]) must_store_[n] = true;
                    }
                });
        };
        each_position([&](uint32_t n, uint32_t) { ++first_[n + 1]; });
        for (size_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
        uses_.resize(first_[nodes]);
        next_.assign(first_.begin(), first_.end() - 1);
        std::vector<uint32_t> fill = next_;
        each_position([&](uint32_t n, uint32_t i) { uses_[fill[n]++] = i; });
        for (size_t n = 0; n < nodes; ++n)
            std::sort(uses_.begin() + first_[n], uses_.begin() + first_[n + 1]);
        std::fill(std::begin(holds_), std::end(holds_), never);
        in_loop_ = false;
    }

    uint32_t next_use(uint32_t n) const {
        return next_[n] < first_[n + 1] ? uses_[next_[n]] : never;
    }
    void advance(uint32_t n, uint32_t past) {
        while (next_[n] < first_[n + 1] && uses_[next_[n]] <= past) ++next_[n];
    }

    // --- registers ---

    void release(int r) {
        if (holds_[r] == never) return;
        register_[holds_[r]] = no_register;
        holds_[r] = never;
    }

    void drop_if_dead(uint32_t n) {
        if (next_use(n) != never) return;
        if (register_[n] != no_register) release(register_[n]);
        if (!fixed_[n] && in_memory_[n] && !in_loop_) free_slots_.push_back(home_[n].index);
        if (!fixed_[n]) in_memory_[n] = false;
    }

    void store_home(uint32_t n) {
        if (in_memory_[n]) return;
        if (fixed_[n]) {
            // has its place
        } else if (!in_loop_ && !free_slots_.empty()) {
            home_[n] = Slot::frame(free_slots_.back());
            free_slots_.pop_back();
        } else {
            home_[n] = Slot::frame(frame_used_++);
        }
        store(register_[n], home_[n]);
        in_memory_[n] = true;
    }

    int find_free(int keep1 = no_register, int keep2 = no_register) const {
        for (int r = 0; r < registers; ++r)
            if (holds_[r] == never && r != keep1 && r != keep2) return r;
        return no_register;
    }

    int allocate(int keep1 = no_register, int keep2 = no_register) {
        const int free = find_free(keep1, keep2);
        if (free != no_register) return free;
        int worst = no_register;
        for (int r = 0; r < registers; ++r) {
            if (r == keep1 || r == keep2) continue;
            if (worst == no_register || next_use(holds_[r]) > next_use(holds_[worst]) ||
                (next_use(holds_[r]) == next_use(holds_[worst]) && in_memory_[holds_[r]]))
                worst = r;
        }
        if (next_use(holds_[worst]) != never) store_home(holds_[worst]);
        release(worst);
        return worst;
    }

    void put(int r, uint32_t n) {
        holds_[r] = n;
        register_[n] = r;
    }

    int load_value(uint32_t n, int keep = no_register) {
        if (register_[n] != no_register) return register_[n];
        const int r = allocate(keep);
        load(r, home_[n]);
        if (!volatile_[n] || !in_loop_) put(r, n);
        return r;
    }

    void flush() {
        for (int r = 0; r < registers; ++r) {
            if (holds_[r] == never) continue;
            if (next_use(holds_[r]) != never) store_home(holds_[r]);
            release(r);
        }
    }

    // --- steps ---

    void step(uint32_t i) {
        const Step& s = schedule_.steps[i];
        switch (s.kind) {
            case Kind::Gate:
                gate(s, i);
                break;
            case Kind::Output:
                output(s, i);
                break;
            case Kind::LoopBegin:
                loop_begin(s);
                break;
            case Kind::Feedback:
                feedback(s, i);
                break;
            case Kind::LoopEnd:
                loop_end();
                break;
        }
    }

    void gate(const Step& s, uint32_t i) {
        uint32_t a = s.a, b = s.b;
        if (s.op != Op::AndNot && register_[a] == no_register && register_[b] != no_register)
            std::swap(a, b);
        const int keep = register_[b];
        const int ra = load_value(a, keep);
        int rb = register_[b];
        advance(a, i);
        advance(b, i);
        if (rb == no_register && next_use(b) != never && !(volatile_[b] && in_loop_)) {
            const int free = find_free(ra);
            if (free != no_register) {
                load(free, home_[b]);
                put(free, b);
                rb = free;
            }
        }
        int rd;
        const bool a_dies = holds_[ra] == a && next_use(a) == never;
        const bool b_dies = rb != no_register && holds_[rb] == b && next_use(b) == never;
        if (a_dies || holds_[ra] != a) {
            rd = ra;
        } else if (b_dies) {
            rd = rb;
        } else {
            rd = allocate(ra, rb);
        }
        static constexpr uint8_t opcodes[] = {0xDB, 0xDF, 0xEB, 0xEF};
        const uint8_t opcode = opcodes[static_cast<int>(s.op)];
        if (rb != no_register)
            three_registers(opcode, rd, ra, rb);
        else
            with_memory(opcode, rd, ra, home_[b]);
        drop_if_dead(a);
        if (b != a) drop_if_dead(b);
        if (holds_[rd] != never) release(rd);
        put(rd, s.node);
        if (must_store_[s.node]) store_home(s.node);
        if (next_use(s.node) == never) release(rd);
    }

    void output(const Step& s, uint32_t i) {
        if (stored_[s.node]) {
            advance(s.a, i);
            drop_if_dead(s.a);
            return;
        }
        const int r = load_value(s.a);
        advance(s.a, i);
        const Slot slot = task_.outputs[s.node].slot;
        if (!s.flip) {
            store(r, slot);
        } else {
            const int t = allocate(r);
            with_memory(0xEF, t, r, Slot::frame(frame_ones));
            store(t, slot);
        }
        drop_if_dead(s.a);
    }

    void loop_begin(const Step& s) {
        flush();
        three_registers(0xEF, 0, 0, 0);
        for (Wire atom : task_.graph->recursions[s.node].atoms) store(0, home_[node_of(atom)]);
        in_loop_ = true;
        loop_start_ = code_.size();
        three_registers(0xEF, change_register, change_register, change_register);
    }

    void feedback(const Step& s, uint32_t i) {
        int value = load_value(s.a);
        advance(s.a, i);
        if (s.flip) {
            const int flipped = allocate(value);
            with_memory(0xEF, flipped, value, Slot::frame(frame_ones));
            value = flipped;
        }
        const int change = allocate(value, register_[s.a]);
        with_memory(0xEF, change, value, home_[s.node]);
        three_registers(0xEB, change_register, change_register, change);
        store(value, home_[s.node]);
        drop_if_dead(s.a);
    }

    void loop_end() {
        for (int r = 0; r < registers; ++r) {
            if (holds_[r] == never) continue;
            const uint32_t n = holds_[r];
            if (next_use(n) != never && !in_memory_[n]) store_home(n);
            release(r);
        }
        // vptest change, change; jnz loop
        bytes({0xC4, 0x42, 0x7D, 0x17, 0xFF});
        const auto distance = static_cast<int32_t>(static_cast<int64_t>(loop_start_) -
                                                   static_cast<int64_t>(code_.size()) - 6);
        bytes({0x0F, 0x85});
        four_bytes(static_cast<uint32_t>(distance));
        in_loop_ = false;
    }

    // --- encoding ---

    void bytes(std::initializer_list<uint8_t> list) { code_.insert(code_.end(), list); }
    void four_bytes(uint32_t v) {
        for (int k = 0; k < 4; ++k) code_.push_back(static_cast<uint8_t>(v >> (8 * k)));
    }
    static uint8_t base_of(Slot slot) {
        // System V: frame in rdi, before in rsi, after in rdx.
        return slot.bank == Slot::Bank::Frame ? 7 : slot.bank == Slot::Bank::Before ? 6 : 2;
    }
    void memory_operand(int reg, Slot slot) {
        const uint64_t offset = uint64_t{slot.index} * sizeof(Lanes);
        const uint8_t low = static_cast<uint8_t>((reg & 7) << 3 | base_of(slot));
        if (offset < 128) {
            bytes({static_cast<uint8_t>(0x40 | low), static_cast<uint8_t>(offset)});
        } else {
            code_.push_back(static_cast<uint8_t>(0x80 | low));
            four_bytes(static_cast<uint32_t>(offset));
        }
    }
    // VEX.256.66.0F; `second` is the extra source register, 0 where there is none.
    void vex(int reg, int second, bool rm_high) {
        const auto r = static_cast<uint8_t>(reg >= 8 ? 0 : 0x80);
        const auto v = static_cast<uint8_t>((~second & 15) << 3);
        if (!rm_high) {
            bytes({0xC5, static_cast<uint8_t>(r | v | 0x05)});
        } else {
            bytes({0xC4, static_cast<uint8_t>(r | 0x41), static_cast<uint8_t>(v | 0x05)});
        }
    }
    void three_registers(uint8_t opcode, int d, int a, int b) {
        vex(d, a, b >= 8);
        bytes({opcode, static_cast<uint8_t>(0xC0 | (d & 7) << 3 | (b & 7))});
    }
    void with_memory(uint8_t opcode, int d, int a, Slot slot) {
        vex(d, a, false);
        code_.push_back(opcode);
        memory_operand(d, slot);
    }
    void load(int r, Slot slot) { with_memory(0x6F, r, 0, slot); }
    void store(int r, Slot slot) { with_memory(0x7F, r, 0, slot); }

    const Task& task_;
    const Schedule& schedule_;
    uint32_t& frame_used_;
    std::vector<uint8_t> code_;
    std::vector<Slot> home_;
    std::vector<bool> in_memory_, fixed_, must_store_, volatile_, stored_;
    std::vector<int> register_;
    uint32_t holds_[registers];
    std::vector<uint32_t> first_, uses_, next_, free_slots_;
    bool in_loop_ = false;
    size_t loop_start_ = 0;
};

}  // namespace

std::vector<uint8_t> emit_machine_code(const Task& task, const Schedule& schedule,
                                       uint32_t& frame_used) {
    return Emitter(task, schedule, frame_used).run();
}

}  // namespace omnilude
