// The least that a test needs: TEST registers a function, CHECK ends it with the place of a
// failure.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace omnilude::testing {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Registration {
    Registration(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace omnilude::testing

#define TEST(name)                                                               \
    static void name();                                                          \
    static const ::omnilude::testing::Registration register_##name(#name, name); \
    static void name()

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition))                                                                     \
            throw ::omnilude::testing::Failure(std::string(__FILE__) + ":" +                  \
                                               std::to_string(__LINE__) + ": " + #condition); \
    } while (false)
