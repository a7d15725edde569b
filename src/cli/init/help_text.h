#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// An option as a program's help describes it.
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
  std::optional<double> lower;          // Bounds of a number.
  std::optional<double> upper;
  std::string obstacle;  // Why it cannot be tuned; empty: it can.
  bool is_required = false;
  std::string about;  // The program's description, one line.
};

struct HelpText {
  std::string library;  // "argparse", "click", "absl", "hydra"; empty: none of these.
  std::vector<ProgramOption> options;
  // Commands such as "train", one of which the program needs before its options.
  std::vector<std::string> commands;
};

// Parses help in the forms of argparse, click, typer, absl, hydra, and programs that print alike. Options that cannot
// be parsed are left out.
HelpText ParseHelp(std::string_view text);

}  // namespace vernier::cli
