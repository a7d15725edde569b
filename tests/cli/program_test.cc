#include "src/cli/program.h"

#include <cctype>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/terminal/text.h"
#include "vernier/core/clock.h"

namespace vernier::cli {
namespace {

using ::testing::HasSubstr;

class EveryCommand : public ::testing::Test {
 protected:
  EveryCommand() { BuildCommandLine(root_, flags_, chosen_); }

  // Calls `look` with each command and the words above it.
  void Visit(const std::function<void(const CLI::App&, const std::string&)>& look) const {
    Visit(root_, "", look);
  }

 private:
  static void Visit(const CLI::App& command,
                    const std::string& above,
                    const std::function<void(const CLI::App&, const std::string&)>& look) {
    look(command, above);
    const std::string path = above + (above.empty() ? "" : " ") + command.get_name();
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
      Visit(*sub, path, look);
    }
  }

  GlobalFlags flags_;
  Action chosen_;
  CLI::App root_;
};

bool IsSentence(const std::string& text) {
  return !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) != 0 &&
         !text.ends_with('.');
}

TEST_F(EveryCommand, SaysFirstWhatItDoes) {
  Visit([](const CLI::App& command, const std::string& above) {
    const std::string help = command.help(above);
    const std::string first = help.substr(0, help.find('\n'));
    EXPECT_FALSE(first.empty()) << above << ' ' << command.get_name();
    EXPECT_NE(std::isupper(static_cast<unsigned char>(first.front())), 0) << first;
  });
}

TEST_F(EveryCommand, HasHelpOf80Columns) {
  Visit([](const CLI::App& command, const std::string& above) {
    std::istringstream help(command.help(above));
    for (std::string line; std::getline(help, line);) {
      EXPECT_LE(DisplayWidth(line), 80) << above << ' ' << command.get_name() << ": " << line;
    }
  });
}

TEST_F(EveryCommand, ExplainsItsOptions) {
  Visit([](const CLI::App& command, const std::string& above) {
    for (const CLI::Option* option : command.get_options()) {
      EXPECT_TRUE(IsSentence(option->get_description()))
          << above << ' ' << command.get_name() << ' ' << option->get_name() << ": "
          << option->get_description();
    }
  });
}

// As of a full disk.
class NoRoom final : public std::streambuf {
 protected:
  int_type overflow(int_type) override { return traits_type::eof(); }
};

TEST(Program, FailsIfItsOutputCannotBeWritten) {
  NoRoom no_room;
  std::ostream out(&no_room);
  std::ostringstream err;
  const auto clock = NewRealClock();
  EXPECT_EQ(RunProgram({"completion", "bash"}, {}, *clock, out, err), ExitCode::kFailed);
  EXPECT_EQ(err.str(), "vernier: standard output could not be written in full\n");
  std::ostringstream room;
  EXPECT_EQ(RunProgram({"completion", "bash"}, {}, *clock, room, err), ExitCode::kOk);
}

TEST(Program, TakesANamedStoreRatherThanTheServerOfTheEnvironment) {
  const std::string store = ::testing::TempDir() + "/no-such-store.db";
  const auto clock = NewRealClock();
  const auto error_of = [&](const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_NE(RunProgram(args, {}, *clock, out, err), ExitCode::kOk);
    return err.str();
  };
  setenv("VERNIER_SERVER", "unix:/no/such/socket", 1);
  EXPECT_THAT(error_of({"--store", store, "study", "list"}), HasSubstr("there is no store at"));
  EXPECT_THAT(error_of({"study", "list"}), HasSubstr("/no/such/socket"));
  const std::vector<std::string> both = {"study", "list", "--store", store, "--server", "host:1"};
  EXPECT_THAT(error_of(both), HasSubstr("--server: a server has its own store"));
  unsetenv("VERNIER_SERVER");
}

}  // namespace
}  // namespace vernier::cli
