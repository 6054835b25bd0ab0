// Runs every test, or those whose names contain an argument.
#include <cstdio>
#include <cstring>
#include <exception>

#include "testing.h"

int main(int count, char** arguments) {
    int passed = 0, failed = 0;
    for (const auto& test : omnilude::testing::tests()) {
        bool wanted = count == 1;
        for (int i = 1; i < count; ++i) wanted |= std::strstr(test.name, arguments[i]) != nullptr;
        if (!wanted) continue;
        try {
            test.run();
            ++passed;
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", test.name, error.what());
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
