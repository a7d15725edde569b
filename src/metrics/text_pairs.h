#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

// Names and numbers in a line of text: "val_acc=0.93", "loss: 0.5", "'epoch': 3".
namespace vernier::metrics {

// Letters, digits and what joins them to one name: "val_acc", "train/loss", "top-1", "val.loss".
bool IsNameChar(char c);

struct NamedValue {
  bool is_there = false;  // The name stands there, with or without a number behind it.
  std::optional<double> value;
};
// The number that follows `text` in the line, not as the end of a longer name; the last one, if there are several.
NamedValue FindAfter(std::string_view line, std::string_view text);

// Numbers behind "NAME=" and "NAME:" in a line, the last one of each kind. A word in front makes another metric of it:
// "loss" in "val loss: 0.4". No such word is a number ("Epoch 3 loss=0.5"), a value ("lr=high loss=0.5"), the level of a
// log ("INFO loss=0.5"), or anything with a separator or two blanks behind it.
struct NamedValues {
  struct Worded {
    std::string_view name;  // "val loss"
    std::string_view head;  // Up to the number: "val loss:".
    double value = 0;
  };
  bool is_there = false;  // The name stands there, with or without a number behind it.
  std::optional<double> bare;
  std::optional<Worded> worded;
};
NamedValues FindNamed(std::string_view line, std::string_view name);

// Calls `visit` for each name of the line with a number behind it. `head`: from the name up to the number.
using PairVisitor = std::function<void(std::string_view name, std::string_view head, double value)>;
void VisitPairs(std::string_view line, const PairVisitor& visit);

// The step that a line of text speaks of: the number of its epoch, step, global_step or iteration, in that order: "epoch=3",
// "Epoch 3/10", "[Epoch 3]", "step: 1200", "'epoch': 1.0"; or of the round that boosting libraries begin a line with.
std::optional<std::int64_t> FindStep(std::string_view line);
// The same of a line that says nothing else: "Epoch 3/10", "===== epoch 3 =====".
std::optional<std::int64_t> FindHeader(std::string_view line);
// How far a progress bar is: 12 in "40%|####      | 12/30 [00:01<00:02, 8.1it/s]" and "12/30 [====>.....]".
std::optional<std::int64_t> FindBarPosition(std::string_view line);

}  // namespace vernier::metrics
