#include "datalog/rules.h"

#include <charconv>
#include <stdexcept>

namespace omnilude {

namespace {

class Reader {
  public:
    Reader(TermBank& bank, std::span<const int32_t> code) : bank_(bank), code_(code) {}

    int32_t number() {
        if (at_ >= code_.size()) throw std::invalid_argument("encoded rules end too early");
        return code_[at_++];
    }
    uint32_t count() {
        const int32_t n = number();
        if (n < 0) throw std::invalid_argument("negative count in encoded rules");
        return static_cast<uint32_t>(n);
    }
    bool done() const { return at_ == code_.size(); }
    Functor functor() {
        const uint32_t symbol = count();
        return bank_.functor(symbol, count());
    }

    // A term is a variable (its number, complemented) or a symbol, a number of arguments and those.
    // Ground subterms are interned at once, so that a pattern holds applications only where a
    // variable is below them.
    Pattern term() {
        Pattern out;
        read_term(out);
        return out;
    }

  private:
    bool read_term(Pattern& out) {  // true if ground
        const int32_t n = number();
        if (n < 0) {
            out.push_back({PatternNode::Kind::Variable, static_cast<uint32_t>(~n)});
            return false;
        }
        const Functor f = bank_.functor(static_cast<uint32_t>(n), count());
        const size_t here = out.size();
        out.push_back({PatternNode::Kind::Application, f});
        bool ground = true;
        for (uint32_t i = 0; i < bank_.arity_of(f); ++i) ground &= read_term(out);
        if (!ground) return false;
        std::vector<Term> arguments;
        for (size_t i = here + 1; i < out.size(); ++i) arguments.push_back(out[i].value);
        out.resize(here);
        out.push_back({PatternNode::Kind::Constant, bank_.make(f, arguments)});
        return true;
    }

    TermBank& bank_;
    std::span<const int32_t> code_;
    size_t at_ = 0;
};

Term substitute_from(TermBank& bank, const Pattern& pattern, size_t& at,
                     std::span<const Term> bindings) {
    const PatternNode node = pattern[at++];
    if (node.kind == PatternNode::Kind::Constant) return node.value;
    if (node.kind == PatternNode::Kind::Variable) return bindings[node.value];
    const uint32_t arity = bank.arity_of(node.value);
    Term few[8];
    std::vector<Term> many;
    Term* arguments = few;
    if (arity > 8) {
        many.resize(arity);
        arguments = many.data();
    }
    for (uint32_t i = 0; i < arity; ++i)
        arguments[i] = substitute_from(bank, pattern, at, bindings);
    return bank.make(node.value, {arguments, arity});
}

}  // namespace

Term substitute(TermBank& bank, const Pattern& pattern, std::span<const Term> bindings) {
    size_t at = 0;
    return substitute_from(bank, pattern, at, bindings);
}

int goal_value(const std::string& text) {
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value >= 0 && value <= 100 && std::to_string(value) == text ? value : -1;
}

Program decode_program(std::vector<std::string> symbols, std::span<const int32_t> code) {
    Program program(std::move(symbols));
    Reader in(program.bank, code);
    for (Functor* word :
         {&program.role, &program.init, &program.truth, &program.next, &program.legal,
          &program.does, &program.goal, &program.terminal, &program.sees})
        *word = in.functor();
    for (uint32_t n = in.count(); n > 0; --n) {
        Stratum stratum{static_cast<Stratum::Stage>(in.count()), {}};
        for (uint32_t k = in.count(); k > 0; --k) stratum.predicates.push_back(in.functor());
        for (Functor f : stratum.predicates) {
            if (program.stratum_of.size() <= f) program.stratum_of.resize(f + 1, -1);
            program.stratum_of[f] = static_cast<int32_t>(program.strata.size());
        }
        program.strata.push_back(std::move(stratum));
    }
    program.rules_of.resize(program.strata.size());
    for (uint32_t n = in.count(); n > 0; --n) {
        Rule rule;
        rule.variables = in.count();
        rule.head = in.term();
        rule.stratum = static_cast<uint32_t>(
            program.stratum_of_functor(head_functor(program.bank, rule.head)));
        for (uint32_t k = in.count(); k > 0; --k) {
            Literal literal{static_cast<Literal::Kind>(in.count()), in.term(), {}};
            if (literal.kind == Literal::Kind::Distinct) literal.other = in.term();
            rule.body.push_back(std::move(literal));
        }
        if (rule.stratum >= program.rules_of.size())
            throw std::invalid_argument("a rule of no stratum in encoded rules");
        program.rules_of[rule.stratum].push_back(static_cast<uint32_t>(program.rules.size()));
        program.rules.push_back(std::move(rule));
    }
    for (uint32_t n = in.count(); n > 0; --n) program.roles.push_back(in.term()[0].value);
    if (!in.done()) throw std::invalid_argument("encoded rules are longer than expected");
    return program;
}

}  // namespace omnilude
