#pragma once

#include <string>

#include "src/cli/init/help_text.h"

// A guess about an option of a training program, by its name, default and choices.
namespace vernier::cli {

struct Guess {
  enum class Kind {
    kTune,     // A hyperparameter, with a range that usually works.
    kOffer,    // A number that may be one, with a range around its default.
    kFix,      // The length of a trial, such as epochs.
    kLeaveOut  // Paths, seeds, devices, what is printed.
  };
  Kind kind = Kind::kLeaveOut;
  std::string domain;          // "float: [1e-05, 0.1], scale: log"
  std::string parameter;       // Its name in the study: "batch_size".
  bool takes_default = false;  // The domain contains its default.
};

Guess GuessFor(const ProgramOption& option);

// Text as a YAML value, quoted where necessary.
std::string YamlText(const std::string& text);

}  // namespace vernier::cli
