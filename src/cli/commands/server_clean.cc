// The server decides what is unused, since only it knows what its trials need; this command shows its list. Nothing is
// removed without --yes.

#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/connection.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/proto_json.h"
#include "src/cli/terminal/table.h"
#include "src/core/status.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

// Timeout: a tree of a million files takes its time.
constexpr absl::Duration kCleanUpPatience = absl::Hours(1);

// The server's own bound: anything used more recently may still be in use.
constexpr absl::Duration kLeastUnused = absl::Hours(1);

struct CleanArgs {
  std::string unused_for = "7d";
  std::string cache_size;
  bool yes = false;
};

const char* KindName(v1::Leftover::Kind kind) {
  switch (kind) {
    case v1::Leftover::RUNS:
      return "runs";
    case v1::Leftover::ENVIRONMENT:
      return "environment";
    case v1::Leftover::PACKAGE:
      return "package";
    case v1::Leftover::IMAGE:
      return "image";
    default:
      return "?";
  }
}

Table LeftoverTable(const v1::CleanUpResponse& report, absl::Time now) {
  Table table({{.name = "KIND"},
               {.name = "SIZE", .align = Align::kRight},
               {.name = "UNUSED", .align = Align::kRight},
               {.name = "PATH", .flexible = true},
               {.name = "RESULT"}});
  for (const v1::Leftover& leftover : report.leftovers()) {
    const absl::Duration unused = now - wire::DecodeTime(leftover.last_use_time());
    const std::string result = leftover.removed() ? "removed" : leftover.error();
    table.AddRow({{KindName(leftover.kind())},
                  {FormatBytes(leftover.bytes())},
                  {FormatElapsed(unused)},
                  {leftover.path()},
                  {result.empty() ? "-" : result}});
  }
  return table;
}

// "3 items, 1.2 GiB".
std::string Sum(const v1::CleanUpResponse& report, bool removed) {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  for (const v1::Leftover& leftover : report.leftovers()) {
    if (removed && !leftover.removed()) continue;
    ++count;
    bytes += leftover.bytes();
  }
  return fmt::format("{} item{}, {}", count, count == 1 ? "" : "s", FormatBytes(bytes));
}

void Summarise(const v1::CleanUpResponse& report, const CleanArgs& args, Output& output) {
  if (report.leftovers().empty()) {
    output.Say(fmt::format("nothing to remove: what was used within {} stays (--unused-for)",
                           args.unused_for));
  } else if (args.yes) {
    output.Say("removed " + Sum(report, /*removed=*/true));
  } else {
    output.Say(Sum(report, /*removed=*/false) + "; --yes removes them");
  }
  if (!report.kept().empty()) output.Say("kept: " + report.kept());
}

absl::StatusOr<ExitCode> Clean(Context& context, const CleanArgs& args) {
  v1::CleanUpRequest request;
  VERNIER_ASSIGN_OR_RETURN(const absl::Duration unused_for,
                           ParseDurationFlag("--unused-for", args.unused_for));
  if (unused_for < kLeastUnused) {
    return InvalidArgument("--unused-for: must be at least 1h, got '{}'", args.unused_for);
  }
  wire::EncodeDuration(unused_for, request.mutable_unused_for());
  if (!args.cache_size.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const std::int64_t bytes,
                             ParseBytesFlag("--cache-size", args.cache_size));
    request.set_cache_bytes(bytes);
  }
  request.set_remove(args.yes);
  VERNIER_ASSIGN_OR_RETURN(Connection connection, context.Connect());
  VERNIER_ASSIGN_OR_RETURN(const v1::CleanUpResponse report,
                           connection.Call(&Connection::Stub::CleanUp, request, kCleanUpPatience));
  Output& output = context.output();
  if (output.format() == Format::kCsv) {
    output.List(LeftoverTable(report, context.Now()), ProtoToJson(report)["leftovers"]);
  } else if (!output.is_table()) {
    output.Item("", ProtoToJson(report));
  } else {
    if (!report.leftovers().empty()) {
      output.List(LeftoverTable(report, context.Now()), nlohmann::ordered_json::array());
    }
    Summarise(report, args, output);
  }
  for (const v1::Leftover& leftover : report.leftovers()) {
    // Scripts must notice what could not be removed.
    if (!leftover.error().empty()) return ExitCode::kFailed;
  }
  return ExitCode::kOk;
}

}  // namespace

void AddCleanCommand(CLI::App& server, Action& chosen) {
  auto [command, args] =
      AddCommand<CleanArgs>(server,
                            "clean",
                            "List unused files, or remove them with --yes: runs of deleted "
                            "studies, and unused environments, packages and images",
                            &Clean,
                            chosen);
  command
      ->add_option(
          "--unused-for",
          args->unused_for,
          "Only files that were not used for this long, e.g. 30d; at least 1h (default: 7d)")
      ->option_text("DURATION");
  command
      ->add_option("--cache-size",
                   args->cache_size,
                   "Largest total size of environments and images, e.g. 50GiB; the longest unused "
                   "are removed first")
      ->option_text("SIZE");
  command->add_flag("--yes", args->yes, "Remove the files; by default they are only listed");
}

}  // namespace vernier::cli
