#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include "nanobind/nanobind.h"

// The global interpreter lock. While the interpreter exits, Python ends each other thread that waits for it, by unwinding its
// stack, which functions that must not throw turn into the end of the process. These guards make such a thread wait for
// the process to end instead, as Python 3.14 does.
namespace vernier::python {

[[noreturn]] inline void AwaitExit() {
  while (true) pause();
}

// Calls `call`, which may run Python code.
template <typename Call>
auto HangAtExit(const Call& call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    AwaitExit();
  }
}

// Holds the lock.
class WithGil {
 public:
  WithGil() : state_(HangAtExit([] { return PyGILState_Ensure(); })) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  const PyGILState_STATE state_;
};

// Gives the lock up. REQUIRES: this thread holds it.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    HangAtExit([this] { PyEval_RestoreThread(thread_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const thread_;
};

}  // namespace vernier::python
