#pragma once

#include <string>

#include "src/cli/init/help_text.h"

// What an option of a training program is, guessed from its name, its default
// and its choices.
namespace vernier::cli {

struct Guess {
  enum class Kind {
    kTune,     // A hyperparameter, with a range that is known to serve.
    kOffer,    // A number that may be one; its range is made of its default.
    kFix,      // How long a trial takes, such as epochs.
    kLeaveOut  // Paths, seeds, devices, what is printed.
  };
  Kind kind = Kind::kLeaveOut;
  std::string domain;          // "float: [1e-05, 0.1], scale: log"
  std::string parameter;       // Its name in the study: "batch_size".
  bool takes_default = false;  // Its default lies in the domain.
};

Guess GuessFor(const ProgramOption& option);

// Text as a value of YAML, in quotes where it must be.
std::string YamlText(const std::string& text);

}  // namespace vernier::cli
