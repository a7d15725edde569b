#pragma once

#include <string_view>

namespace vernier {

// Similarity of the names of two metrics, most similar first. For hints when a metric is missing.
enum class NameLikeness {
  kSame,        // Equal except for case and punctuation: Val-Acc, val_acc.
  kEnd,         // One ends with the other: val_acc, acc.
  kSlip,        // A typing error: val_acc, vla_acc.
  kShortForm,   // One is short for the other: val_acc, val_accuracy.
  kSimilarEnd,  // One last word is short for the other: train_acc, val_accuracy.
  kNone,
};
NameLikeness CompareMetricNames(std::string_view a, std::string_view b);

}  // namespace vernier
