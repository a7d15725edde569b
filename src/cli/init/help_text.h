#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a program says of its options when it is asked for help.
namespace vernier::cli {

struct ProgramOption {
  enum class Kind {
    kValue,       // --lr 0.1
    kFlag,        // --nesterov
    kPair,        // --bias, --no-bias
    kPositional,  // DATA
    kAssignment,  // lr=0.1
  };
  enum class Type { kUnknown, kBool, kInt, kFloat, kText };

  std::string name;      // "--lr", "-l" if there is no long one, "data", "optimizer.lr".
  std::string negative;  // Of a pair: "--no-bias".
  Kind kind = Kind::kValue;
  Type type = Type::kUnknown;
  std::vector<std::string> choices;
  std::optional<std::string> fallback;  // Its default, as text.
  std::optional<double> lower;          // Of a number.
  std::optional<double> upper;
  std::string obstacle;  // Why it cannot be tuned; empty: it can.
  bool is_required = false;
  std::string about;  // What the program says of it, one line.
};

struct HelpText {
  std::string library;  // "argparse", "click", "absl", "hydra"; empty: none of these.
  std::vector<ProgramOption> options;
  // The program needs a command such as "train" before it has options of its
  // own.
  std::vector<std::string> commands;
};

// Reads the help of argparse, click, absl and hydra, and what is written like
// it. Options that cannot be read are left out.
HelpText ParseHelp(std::string_view text);

}  // namespace vernier::cli
