// The portable evaluator. Included once for each instruction set, inside an anonymous namespace, so
// that the linker never mixes the two; see operations.cpp and operations_avx2.cpp.
#pragma GCC diagnostic ignored "-Wpsabi"

typedef uint64_t Vector __attribute__((vector_size(32), may_alias));

template <uint32_t W>
struct Evaluator {
    using Function = void (*)(const Operation*, const Operation*, Vector* const*);

    static Vector* at(Vector* const* banks, uint32_t slot) {
        return banks[slot >> 30] + size_t{slot & 0x3FFFFFFF} * W;
    }
    template <uint8_t op>
    static Vector inner(const Vector& a, const Vector& b) {
        if constexpr (op == 0) return a & b;
        if constexpr (op == 1) return ~a & b;
        if constexpr (op == 2) return a | b;
        if constexpr (op == 3) return a ^ b;
    }
    template <uint8_t op>
    static Vector outer(const Vector& x, const Vector& c) {
        if constexpr (op == Operation::And) return x & c;
        if constexpr (op == Operation::NotInnerAnd) return ~x & c;
        if constexpr (op == Operation::InnerAndNot) return x & ~c;
        if constexpr (op == Operation::Or) return x | c;
        if constexpr (op == Operation::Xor) return x ^ c;
    }
    template <uint8_t op>
    static void plain(const Operation* o, const Operation* end, Vector* const* banks) {
        for (; o != end; ++o) {
            Vector* d = at(banks, o->destination);
            const Vector *a = at(banks, o->a), *b = at(banks, o->b);
            for (uint32_t k = 0; k < W; ++k) d[k] = inner<op>(a[k], b[k]);
        }
    }
    template <uint8_t first, uint8_t second>
    static void fused(const Operation* o, const Operation* end, Vector* const* banks) {
        for (; o != end; ++o) {
            Vector* d = at(banks, o->destination);
            const Vector *a = at(banks, o->a), *b = at(banks, o->b), *c = at(banks, o->c);
            for (uint32_t k = 0; k < W; ++k) d[k] = outer<second>(inner<first>(a[k], b[k]), c[k]);
        }
    }
    template <class F>
    static void each(const Operation* o, const Operation* end, Vector* const* banks, F f) {
        for (; o != end; ++o)
            for (uint32_t k = 0; k < W; ++k) at(banks, o->destination)[k] = f(at(banks, o->a)[k]);
    }
    static void copy(const Operation* o, const Operation* end, Vector* const* banks) {
        each(o, end, banks, [](const Vector& a) { return a; });
    }
    static void complement(const Operation* o, const Operation* end, Vector* const* banks) {
        each(o, end, banks, [](const Vector& a) { return ~a; });
    }
    static void zero(const Operation* o, const Operation* end, Vector* const* banks) {
        each(o, end, banks, [](const Vector& a) { return a ^ a; });
    }

    static void run(const OperationList& list, Vector* const* banks) {
        static constexpr Function functions[] = {
            plain<0>,    plain<1>,    plain<2>,    plain<3>,    fused<0, 0>, fused<0, 1>,
            fused<0, 2>, fused<0, 3>, fused<0, 4>, fused<1, 0>, fused<1, 1>, fused<1, 2>,
            fused<1, 3>, fused<1, 4>, fused<2, 0>, fused<2, 1>, fused<2, 2>, fused<2, 3>,
            fused<2, 4>, fused<3, 0>, fused<3, 1>, fused<3, 2>, fused<3, 3>, fused<3, 4>,
            copy,        complement,  zero};
        const Operation* const first = list.operations.data();
        Vector change = {0, 0, 0, 0};
        for (size_t i = 0; i < list.ends.size(); ++i) {
            const Operation* o = first + (i == 0 ? 0 : list.ends[i - 1]);
            const Operation* const end = first + list.ends[i];
            if (o->kind < Operation::LoopStart) {
                functions[o->kind](o, end, banks);
            } else if (o->kind == Operation::LoopStart) {
                change = Vector{0, 0, 0, 0};
            } else if (o->kind == Operation::Feedback) {
                for (; o != end; ++o) {
                    Vector* d = at(banks, o->destination);
                    const Vector* a = at(banks, o->a);
                    for (uint32_t k = 0; k < W; ++k) {
                        const Vector value = o->c ? ~a[k] : a[k];
                        change |= value ^ d[k];
                        d[k] = value;
                    }
                }
            } else if (change[0] | change[1] | change[2] | change[3]) {
                i = o->a - size_t{1};
            }
        }
    }
};

void run_list(const OperationList& list, Lanes* const banks[3], uint32_t width) {
    Vector* const pointers[4] = {
        reinterpret_cast<Vector*>(banks[0]), reinterpret_cast<Vector*>(banks[1]),
        reinterpret_cast<Vector*>(banks[2]), reinterpret_cast<Vector*>(banks[0])};
    switch (width) {
        case 1:
            Evaluator<1>::run(list, pointers);
            break;
        case 2:
            Evaluator<2>::run(list, pointers);
            break;
        default:
            Evaluator<4>::run(list, pointers);
            break;
    }
}
