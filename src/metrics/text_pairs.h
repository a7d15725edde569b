#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

// Finds names and numbers in a line of text: "val_acc=0.93", "loss: 0.5", "'epoch': 3".
namespace vernier::metrics {

// Whether the character can be part of a name: "val_acc", "train/loss", "top-1", "val.loss".
bool IsNameChar(char c);

struct NamedValue {
  bool is_there = false;  // The name occurs, with or without a number after it.
  std::optional<double> value;
};
// Finds the number after `text` in the line, unless `text` is the end of a longer name; the last one if there are
// several.
NamedValue FindAfter(std::string_view line, std::string_view text);

// Finds the numbers after "NAME=" and "NAME:" in a line, the last one of each kind. A word in front makes it another
// metric: "loss" in "val loss: 0.4". Exceptions: a number ("Epoch 3 loss=0.5"), a value ("lr=high loss=0.5"), the level
// of a log ("INFO loss=0.5"), and words followed by a separator or two blanks.
struct NamedValues {
  struct QualifiedName {
    std::string_view name;  // "val loss"
    std::string_view head;  // Text up to the number: "val loss:".
    double value = 0;
  };
  bool is_there = false;  // The name occurs, with or without a number after it.
  std::optional<double> bare;
  std::optional<QualifiedName> qualified;
};
NamedValues FindNamed(std::string_view line, std::string_view name);

// Calls `visit` for each name in the line that has a number after it. `head`: the text from the name up to the number.
using PairVisitor = std::function<void(std::string_view name, std::string_view head, double value)>;
void VisitPairs(std::string_view line, const PairVisitor& visit);

// The step stated in a line: the number of its epoch, step, global_step or iteration, in this order of preference:
// "epoch=3", "Epoch 3/10", "[Epoch 3]", "step: 1200", "'epoch': 1.0"; or the round at the start of a line of boosting
// libraries.
std::optional<std::int64_t> FindStep(std::string_view line);
// Whether the line states a part of an epoch or step: "'epoch': 0.25". A line with a whole step as well is not asked.
bool StatesFraction(std::string_view line);
// The same for a line with nothing else: "Epoch 3/10", "===== epoch 3 =====".
std::optional<std::int64_t> FindHeader(std::string_view line);
// The position of a progress bar: 12 in "40%|####      | 12/30 [00:01<00:02, 8.1it/s]" and "12/30 [====>.....]".
std::optional<std::int64_t> FindBarPosition(std::string_view line);

}  // namespace vernier::metrics
