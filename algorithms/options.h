#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "vernier/core/study.h"

namespace vernier {

// Reads the options of an algorithm or stopping rule, each with its default and bounds. Read every option once.
//
//   OptionReader reader("algorithm", choice);
//   options.shuffle = reader.Bool("shuffle", false);
//   options.restarts = reader.Int("restarts", 4, 1, 100);
//   VERNIER_RETURN_IF_ERROR(reader.Check());
//   options_json_ = reader.Json();
//
// For an illegal value, a getter returns the default, and Check returns the error; so callers handle errors in one
// place. Integers and whole floats are interchangeable, since users of a study file do not distinguish 5 and 5.0.
class OptionReader {
 public:
  // `field`: the field of the choice in the study file, "algorithm" or "stopping". `choice` must outlive the reader.
  OptionReader(std::string_view field, const Choice& choice);

  bool Bool(std::string_view name, bool fallback);
  std::int64_t Int(std::string_view name,
                   std::int64_t fallback,
                   std::int64_t lower,
                   std::int64_t upper);
  // nullopt if the user did not set it; Json then has null.
  std::optional<std::int64_t> OptionalInt(std::string_view name,
                                          std::int64_t lower,
                                          std::int64_t upper);
  // Finite, in [lower, upper].
  double Float(std::string_view name, double fallback, double lower, double upper);
  // In (above, upper].
  double FloatAbove(std::string_view name, double fallback, double above, double upper);
  // One of `known`.
  std::string Text(std::string_view name,
                   std::string_view fallback,
                   const std::vector<std::string>& known);

  // Call it after all options were read.
  // InvalidArgument: a FieldError with path "field.name" about the first illegal option, or the first one that was not
  // read.
  absl::Status Check() const;
  // Returns the options in force, defaults included, as JSON with sorted keys (Optimizer::options).
  std::string Json() const;

 private:
  const ParameterValue* Take(std::string_view name);
  // The given value if it is a number that `is_legal` holds for, else the default; `bounds` describes the legal ones.
  double TakeFloat(std::string_view name,
                   double fallback,
                   absl::FunctionRef<bool(double)> is_legal,
                   std::string_view bounds);
  void Refuse(std::string_view name, std::string_view message);
  std::optional<std::int64_t> TakeInt(std::string_view name,
                                      std::int64_t lower,
                                      std::int64_t upper);

  std::string field_;
  const Choice& choice_;
  std::vector<std::string> known_;
  std::map<std::string, std::optional<ParameterValue>> in_force_;
  absl::Status error_;
};

}  // namespace vernier
