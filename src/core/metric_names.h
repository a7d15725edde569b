#pragma once

#include <string_view>

namespace vernier {

// How much alike the names of two metrics are; the first is the most alike.
enum class NameLikeness {
  kSame,        // But for capitals and punctuation: Val-Acc, val_acc.
  kEnd,         // One ends with the other: val_acc, acc.
  kSlip,        // A slip of the typist: val_acc, vla_acc.
  kShortForm,   // One is short for the other: val_acc, val_accuracy.
  kSimilarEnd,  // Their last words are alike: train_acc, val_accuracy.
  kNone,
};
NameLikeness CompareMetricNames(std::string_view a, std::string_view b);

}  // namespace vernier
