// Small programs for the tests, written as text and encoded as the front end would.
#pragma once

#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "datalog/rules.h"

namespace omnilude::testing {

class ProgramText {
  public:
    // Predicates as "name arity"; strata in the order in which they are to be evaluated.
    ProgramText& stratum(int stage, std::initializer_list<std::string> predicates) {
        strata_.push_back(stage);
        strata_.push_back(static_cast<int32_t>(predicates.size()));
        ++stratum_count_;
        for (const auto& predicate : predicates) {
            std::istringstream in(predicate);
            std::string name;
            int arity;
            in >> name >> arity;
            strata_.push_back(symbol(name));
            strata_.push_back(arity);
        }
        return *this;
    }
    void fact(const std::string& head) { rule(head, {}); }
    // A condition is an atom, "-" and an atom that must not hold, or "!" and two terms that differ.
    void rule(const std::string& head, std::initializer_list<std::string> body) {
        std::map<std::string, int32_t> variables;
        std::vector<int32_t> code;
        terms(head, variables, code);
        code.push_back(static_cast<int32_t>(body.size()));
        for (const std::string& literal : body) {
            const int kind = literal[0] == '-' ? 1 : literal[0] == '!' ? 2 : 0;
            code.push_back(kind);
            terms(kind ? literal.substr(1) : literal, variables, code);
        }
        rules_.push_back(static_cast<int32_t>(variables.size()));
        rules_.insert(rules_.end(), code.begin(), code.end());
        ++rule_count_;
    }

    Program program(std::initializer_list<std::string> roles = {}) {
        std::vector<int32_t> code;
        for (auto [word, arity] : {std::pair{"role", 1},
                                   {"init", 1},
                                   {"true", 1},
                                   {"next", 1},
                                   {"legal", 2},
                                   {"does", 2},
                                   {"goal", 2},
                                   {"terminal", 0},
                                   {"sees", 2}}) {
            code.push_back(symbol(word));
            code.push_back(arity);
        }
        code.push_back(stratum_count_);
        code.insert(code.end(), strata_.begin(), strata_.end());
        code.push_back(rule_count_);
        code.insert(code.end(), rules_.begin(), rules_.end());
        code.push_back(static_cast<int32_t>(roles.size()));
        std::map<std::string, int32_t> none;
        for (const auto& role : roles) terms(role, none, code);
        return decode_program(symbols_, code);
    }

  private:
    int32_t symbol(const std::string& name) {
        const auto [at, fresh] = numbers_.emplace(name, static_cast<int32_t>(symbols_.size()));
        if (fresh) symbols_.push_back(name);
        return at->second;
    }

    void terms(const std::string& text, std::map<std::string, int32_t>& variables,
               std::vector<int32_t>& code) {
        for (size_t at = 0; at < text.size(); ++at) term(text, at, variables, code);
    }
    void term(const std::string& text, size_t& at, std::map<std::string, int32_t>& variables,
              std::vector<int32_t>& code) {
        const bool compound = text[at] == '(';
        at += compound;
        const size_t end = text.find_first_of(" )", at);
        const std::string word = text.substr(at, end - at);
        at = std::min(end, text.size());
        if (word[0] == '?') {
            const auto number = static_cast<int32_t>(variables.size());
            code.push_back(~variables.emplace(word, number).first->second);
        } else {
            code.push_back(symbol(word));
            const size_t arity = code.size();
            code.push_back(0);
            while (compound && text[at] == ' ') {
                ++code[arity];
                term(text, ++at, variables, code);
            }
            at += compound;
        }
    }

    std::vector<std::string> symbols_;
    std::map<std::string, int32_t> numbers_;
    std::vector<int32_t> strata_, rules_;
    int32_t stratum_count_ = 0, rule_count_ = 0;
};

}  // namespace omnilude::testing
