#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/status.h"
#include "vernier/core/error.h"
#include "vernier/core/trial.h"
#include "vernier/vernier.h"

// What the handles of vernier.h are, and what all its calls share.

struct vn_error {
  vn_code code = VN_OK;
  std::string message;
  std::string field;
  std::string reason;
};

struct vn_trials {
  std::string study;  // Of a server; empty: of an ask-tell loop.
  std::vector<vernier::Trial> trials;
  struct Texts {
    std::string parameters;
    std::string metrics;
  };
  std::vector<Texts> texts;  // One for each trial.
};

namespace vernier::c_api {

// Why nothing was done, told to who asked for it.
vn_code Tell(const absl::Status& status, vn_error** error);

// Runs work(), which returns a status, for a call of the interface. No exception gets out.
template <typename Work>
vn_code Run(vn_error** error, Work work) noexcept {
  try {
    return Tell(work(), error);
  } catch (const std::bad_alloc&) {
    return Tell(absl::ResourceExhaustedError("out of memory"), error);
  } catch (const std::exception& exception) {
    return Tell(absl::InternalError(exception.what()), error);
  }
}

// InvalidArgument: the argument of that name is null.
template <typename T>
absl::Status CheckGiven(const T* argument, const char* name) {
  return argument == nullptr ? FieldError(name, "must not be NULL") : absl::OkStatus();
}

std::unique_ptr<vn_trials> NewTrials(std::string study, std::vector<Trial> trials);

}  // namespace vernier::c_api
