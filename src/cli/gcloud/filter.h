#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cli/gcloud/transform.h"

namespace re2 {
class RE2;
}

// --filter as `gcloud topic filters` documents it, over any JSON resource:
//
//   state:(FAILED CANCELLED)            text contains one of these, in any case
//   jobId:census*                       text begins with this; *census ends with it
//   endTime:*                           has a value
//   state=failed, workerCount>=4        =, !=, <, <=, >, >=: of numbers, times and text
//   createTime>2026-01-01, createTime>-P1D
//   jobId~^hp, jobId!~_test$            regular expressions
//   labels.owner:ann  hyperparameters   a key at any depth; a bare word is looked for in every value
//   NOT a AND (b OR c), -a b            in any case; adjacent terms are joined by AND
//
// OR binds tighter than AND, as in Vernier's other filters; gcloud requires parentheses there. If a resource has no
// value at the key, comparisons are false, except that != and !~ are true.
namespace vernier::gcloud {

enum class Operator {
  kHas,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kMatch,
  kNotMatch
};

// The value that a key is compared with.
struct Operand {
  std::string text;
  std::optional<double> number;
  std::optional<absl::Time> time;
};

struct FilterNode {
  enum class Kind { kAll, kAny, kNot, kCompare, kWord } kind = Kind::kAll;
  std::vector<FilterNode> children;  // Of kAll, kAny and, one, kNot. kAll of nothing holds.
  Expression expression;             // Of kCompare.
  Operator op = Operator::kHas;
  std::vector<Operand> operands;  // At least one must match.
  // Of kMatch and kNotMatch. Shared by copies of the filter.
  std::shared_ptr<const re2::RE2> regex;
  std::string word;  // Of kWord, in lower case.
};

class Filter {
 public:
  // Empty text matches everything.  InvalidArgument: begins with `flag` and names the position.
  static absl::StatusOr<Filter> Parse(std::string_view flag,
                                      std::string_view text,
                                      const TimeFrame& frame,
                                      const Aliases* aliases = nullptr);

  bool Matches(const Json& resource) const;
  // Keys used in comparisons.
  std::vector<Key> Keys() const;
  bool has_words() const;
  const FilterNode& root() const { return root_; }

 private:
  Filter(FilterNode root, const TimeFrame& frame) : root_(std::move(root)), frame_(frame) {}
  FilterNode root_;
  TimeFrame frame_;
};

// Order as -1, 0 or 1: numbers by value, also if they are text; times by time; other values as text. Null is last.
int Compare(const Json& a, const Json& b, const TimeFrame& frame);

}  // namespace vernier::gcloud
