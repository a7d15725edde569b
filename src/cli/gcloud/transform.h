#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/gcloud/key.h"
#include "src/cli/gcloud/moment.h"

// Functions that change the value of a key: "createTime.date(tz=LOCAL)", "trials[].trialId.list()".
namespace vernier::gcloud {

struct Function;

// A call with its arguments.
struct Call {
  const Function* function = nullptr;
  std::vector<std::optional<std::string>> named;  // In the order of the function's parameters.
  std::vector<std::string> others;                // Further arguments of a variadic function.
  int map_depth = 0;  // Number of nested lists whose elements it is applied to.

  std::string Text(std::size_t parameter, std::string fallback = "") const {
    return named[parameter].value_or(std::move(fallback));
  }
};

// A key and the calls that follow it.
struct Expression {
  Key key;
  std::vector<Call> calls;
};

// InvalidArgument: no key, an unknown function, or wrong arguments.
absl::StatusOr<Expression> ReadExpression(Lexer& lexer);

Json Evaluate(const Expression& expression, const Json& resource, const TimeFrame& frame);
// Applies the calls to a value.
Json Apply(const std::vector<Call>& calls, Json value, const TimeFrame& frame);

// A value as gcloud prints it: True and False, six significant digits, nothing for null, JSON for lists and objects.
std::string TextOf(const Json& value);
// A number, or text that is a finite one; nullopt for anything else.
std::optional<double> NumberOf(const Json& value);
// Whether it is null, false, 0 or empty.
bool IsVoid(const Json& value);

}  // namespace vernier::gcloud
