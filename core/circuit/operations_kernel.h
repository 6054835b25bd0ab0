// The portable interpreter over operation lists. Included once for each instruction set, inside an
// anonymous namespace, so that the linker never mixes the two.
//
// No include guard and no includes of its own: see operations.cpp and operations_avx2.cpp.

#pragma GCC diagnostic ignored "-Wpsabi"

typedef uint64_t Vector __attribute__((vector_size(32), may_alias));

template <uint32_t W>
struct OperationLoop {
    Vector* banks[4];

    Vector* at(uint32_t slot) const { return banks[slot >> 30] + size_t{slot & 0x3FFFFFFF} * W; }

    template <class F>
    void each(const OperationList& list, const OperationList::Run& run, F f) const {
        const auto* operation = list.operations.data() + run.first;
        const auto* const end = list.operations.data() + run.last;
        for (; operation != end; ++operation) {
            Vector* d = at(operation->destination);
            const Vector* a = at(operation->a);
            const Vector* b = at(operation->b);
            for (uint32_t k = 0; k < W; ++k) d[k] = f(a[k], b[k]);
        }
    }

    void run(const OperationList& list) const {
        using Kind = OperationList::Run::Kind;
        Vector change[W];
        for (size_t i = 0; i < list.runs.size(); ++i) {
            const auto& run = list.runs[i];
            switch (run.kind) {
                case Kind::And:
                    each(list, run, [](Vector a, Vector b) { return a & b; });
                    break;
                case Kind::AndNot:
                    each(list, run, [](Vector a, Vector b) { return ~a & b; });
                    break;
                case Kind::Or:
                    each(list, run, [](Vector a, Vector b) { return a | b; });
                    break;
                case Kind::Xor:
                    each(list, run, [](Vector a, Vector b) { return a ^ b; });
                    break;
                case Kind::Copy:
                    each(list, run, [](Vector a, Vector) { return a; });
                    break;
                case Kind::Not:
                    each(list, run, [](Vector a, Vector) { return ~a; });
                    break;
                case Kind::Zero:
                    each(list, run, [](Vector, Vector) { return Vector{0, 0, 0, 0}; });
                    break;
                case Kind::Loop:
                    for (auto& word : change) word = Vector{0, 0, 0, 0};
                    break;
                case Kind::Feedback:
                    for (uint32_t o = run.first; o < run.last; ++o) {
                        const auto& operation = list.operations[o];
                        Vector* d = at(operation.destination);
                        const Vector* a = at(operation.a);
                        for (uint32_t k = 0; k < W; ++k) {
                            const Vector value = operation.b ? ~a[k] : a[k];
                            change[k] |= value ^ d[k];
                            d[k] = value;
                        }
                    }
                    break;
                case Kind::Again: {
                    Vector any = change[0];
                    for (uint32_t k = 1; k < W; ++k) any |= change[k];
                    if (any[0] | any[1] | any[2] | any[3]) i = run.first - 1;
                    break;
                }
            }
        }
    }
};

void run_list(const OperationList& list, Lanes* const banks[3], uint32_t width) {
    auto* frame = reinterpret_cast<Vector*>(banks[0]);
    auto* before = reinterpret_cast<Vector*>(banks[1]);
    auto* after = reinterpret_cast<Vector*>(banks[2]);
    switch (width) {
        case 1:
            OperationLoop<1>{{frame, before, after, frame}}.run(list);
            break;
        case 2:
            OperationLoop<2>{{frame, before, after, frame}}.run(list);
            break;
        default:
            OperationLoop<4>{{frame, before, after, frame}}.run(list);
            break;
    }
}
