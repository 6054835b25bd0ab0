#include "base/large_stack.h"

#include <pthread.h>

#include <exception>
#include <stdexcept>

namespace omnilude {

namespace {

constexpr size_t stack_bytes = size_t{256} << 20;

struct Task {
    const std::function<void()>* work;
    std::exception_ptr failure;
};

void* run_task(void* argument) {
    auto* task = static_cast<Task*>(argument);
    try {
        (*task->work)();
    } catch (...) {
        task->failure = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void run_with_large_stack(const std::function<void()>& work) {
    Task task{&work, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread;
    const int failed = pthread_create(&thread, &attributes, run_task, &task);
    pthread_attr_destroy(&attributes);
    if (failed) throw std::runtime_error("no thread with a large stack could be started");
    pthread_join(thread, nullptr);
    if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace omnilude
