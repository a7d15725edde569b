#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vernier/core/study.h"

namespace vernier {

// Reads the options of a chosen algorithm or stopping rule, each once, with its default and bounds.
//
//   OptionReader reader("algorithm", choice);
//   options.shuffle = reader.Bool("shuffle", false);
//   options.restarts = reader.Int("restarts", 4, 1, 100);
//   VERNIER_RETURN_IF_ERROR(reader.Finish());
//   options_json_ = reader.Json();
//
// A bad value yields the default and is reported by Finish, so that callers have one place for errors. Whole floats are
// taken for integers and integers for floats, since "5" and "5.0" are the same to whoever wrote the study file.
class OptionReader {
 public:
  // `field` is where the choice stands in the study file: "algorithm" or "stopping". `choice` must outlive the reader.
  OptionReader(std::string_view field, const Choice& choice);

  bool Bool(std::string_view name, bool fallback);
  std::int64_t Int(std::string_view name,
                   std::int64_t fallback,
                   std::int64_t lower,
                   std::int64_t upper);
  // Unset where the user said nothing; Json then shows null.
  std::optional<std::int64_t> OptionalInt(std::string_view name,
                                          std::int64_t lower,
                                          std::int64_t upper);
  // Finite, in [lower, upper].
  double Float(std::string_view name, double fallback, double lower, double upper);
  // One of `known`.
  std::string Text(std::string_view name,
                   std::string_view fallback,
                   const std::vector<std::string>& known);

  // InvalidArgument: a FieldError about the first option that was illegal or that nobody read, with path "field.name".
  // Call it after every option was read.
  absl::Status Finish() const;
  // The options in force, defaults filled in, as JSON with sorted keys.
  std::string Json() const;

 private:
  const ParameterValue* Take(std::string_view name);
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
