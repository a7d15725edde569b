// Commands on the file of a store (src/app): check, backup, restore, compact. They open the file itself and not a
// connection, so they work beside a server, and on a store that no server can open.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "src/app/store_copy.h"
#include "src/app/store_report.h"
#include "src/cli/arguments.h"
#include "src/cli/commands/commands.h"
#include "src/cli/hint.h"
#include "src/cli/terminal/figures.h"
#include "src/cli/terminal/table.h"
#include "src/core/damage.h"
#include "src/core/status.h"
#include "vernier/core/error.h"

namespace vernier::cli {
namespace {

constexpr char kWhatToDo[] =
    "keep a copy of the file, then `vernier server restore BACKUP --force`; "
    "docs/guides/operating.md says what else can be done";

// The file of the store; --server makes no sense here.
absl::StatusOr<std::string> StoreFile(Context& context) {
  if (!context.flags().server.empty()) {
    return InvalidArgument(
        "--server: works on the file of a store, not through {}; use --store on its host",
        context.flags().server);
  }
  std::string store = context.Store();
  if (store == ":memory:") return InvalidArgument("--store: :memory: has no file");
  return store;
}

absl::StatusOr<std::string> ExistingStoreFile(Context& context) {
  VERNIER_ASSIGN_OR_RETURN(std::string store, StoreFile(context));
  VERNIER_RETURN_IF_ERROR(CheckStoreExists(store));
  return store;
}

// Replaces advice to run `server check`, which fits errors of servers but not of this command, by `hint`.
absl::Status Explained(const absl::Status& status, const char* hint) {
  // Errors other than damage come with advice that fits.
  if (!absl::IsDataLoss(status)) return status;
  const std::string message(status.message());
  return WithHint(absl::DataLossError(std::string(WithoutAdvice(message))), hint);
}

std::string Counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string SizeText(std::int64_t bytes, std::int64_t free) {
  if (free == 0) return FormatBytes(bytes);
  return fmt::format("{}, {} of them free", FormatBytes(bytes), FormatBytes(free));
}

// --- check ---

nlohmann::ordered_json JsonOf(const std::string& store, const app::StoreReport& report) {
  auto studies = nlohmann::ordered_json::array();
  for (const study::StudyCheck& study : report.studies) {
    studies.push_back({{"study", study.study.name},
                       {"state", study.state},
                       {"trials", study.trials},
                       {"events", study.events},
                       {"problems", study.problems}});
  }
  return {{"store", store},
          {"bytes", report.bytes},
          {"free_bytes", report.free_bytes},
          {"sound", report.is_sound()},
          {"problems", report.problems},
          {"studies", studies}};
}

Table StoreTable(const app::StoreReport& report) {
  Table table({{.name = "STUDY"},
               {.name = "STATE"},
               {.name = "TRIALS", .align = Align::kRight},
               {.name = "EVENTS", .align = Align::kRight},
               {.name = "RESULT"},
               {.name = "FOUND", .flexible = true, .wraps = true, .least = 24}});
  for (const study::StudyCheck& study : report.studies) {
    const bool is_sound = study.problems.empty();
    std::string found = is_sound ? "" : study.problems.front();
    if (study.problems.size() > 1)
      found += fmt::format(" (and {} more)", study.problems.size() - 1);
    table.AddRow({{study.study.name, Style::kBold},
                  {study.state.empty() ? "-" : study.state},
                  {std::to_string(study.trials)},
                  {std::to_string(study.events)},
                  {is_sound ? "OK" : "DAMAGED", is_sound ? Style::kGreen : Style::kRed},
                  {found}});
  }
  return table;
}

std::string TextOf(const std::string& store,
                   const app::StoreReport& report,
                   const Console& console) {
  std::string text;
  if (!report.studies.empty()) {
    const auto lines = StoreTable(report).Lines(
        {.width = console.width, .color = console.color, .cut = console.is_terminal});
    for (const std::string& line : lines) text += line + "\n";
    text += "\n";
  }
  text += fmt::format("store  {}, {}\n", store, SizeText(report.bytes, report.free_bytes));
  if (report.problems.empty()) text += "pages  OK\n";
  for (const std::string& problem : report.problems) text += fmt::format("pages  {}\n", problem);
  return text;
}

absl::StatusOr<ExitCode> CheckStore(Context& context, const NoArgs&) {
  // The file must exist: opening it would make an empty one, and find it sound.
  VERNIER_ASSIGN_OR_RETURN(const std::string store, ExistingStoreFile(context));
  const absl::StatusOr<app::StoreReport> report = app::ExamineStore(store);
  if (!report.ok()) return Explained(report.status(), kWhatToDo);
  context.output().Item(TextOf(store, *report, context.console()), JsonOf(store, *report));
  if (report->is_sound()) return ExitCode::kOk;
  const auto damaged = std::ranges::count_if(
      report->studies, [](const auto& study) { return !study.problems.empty(); });
  // Told at the end, with an exit status, so that scripts notice; the table above says which.
  return WithHint(DataLoss("store '{}' is damaged: {} of {}, {} in its pages",
                           store,
                           damaged,
                           Counted(std::ssize(report->studies), "study", "studies"),
                           Counted(std::ssize(report->problems), "finding", "findings")),
                  kWhatToDo);
}

// --- backup ---

struct BackupArgs {
  std::string file;
  bool force = false;
  bool incremental = false;
};

std::string TextOf(const BackupArgs& args, const app::BackupReport& report) {
  std::string text = fmt::format("backup   {}, {}\nhas      {}, {} trials, {} events\n",
                                 args.file,
                                 FormatBytes(report.bytes),
                                 Counted(report.studies, "study", "studies"),
                                 report.trials,
                                 report.events);
  if (report.is_incremental) {
    text += fmt::format("added    {}, {} events; {} trials written, {} removed\n",
                        Counted(report.studies_added, "study", "studies"),
                        report.events_added,
                        report.trials_written,
                        Counted(report.studies_removed, "study", "studies"));
  }
  return text + "verified every page, and the number of rows\n";
}

absl::StatusOr<ExitCode> Backup(Context& context, const BackupArgs& args) {
  if (args.force && args.incremental) {
    return InvalidArgument("--force and --incremental: only one of them may be given");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string store, ExistingStoreFile(context));
  app::IfExists if_exists = args.force ? app::IfExists::kReplace : app::IfExists::kRefuse;
  if (args.incremental) if_exists = app::IfExists::kAppend;
  const absl::StatusOr<app::BackupReport> report = app::BackUpStore(store, args.file, if_exists);
  if (absl::IsAlreadyExists(report.status())) {
    return WithHint(report.status(), "--force replaces it, --incremental brings it up to now");
  }
  VERNIER_RETURN_IF_ERROR(report.status());
  context.output().Item(TextOf(args, *report),
                        {{"file", args.file},
                         {"bytes", report->bytes},
                         {"studies", report->studies},
                         {"trials", report->trials},
                         {"events", report->events},
                         {"incremental", report->is_incremental},
                         {"studies_added", report->studies_added},
                         {"studies_removed", report->studies_removed},
                         {"trials_written", report->trials_written},
                         {"events_added", report->events_added}});
  return ExitCode::kOk;
}

// --- restore ---

struct RestoreArgs {
  std::string file;
  bool force = false;
};

absl::StatusOr<ExitCode> Restore(Context& context, const RestoreArgs& args) {
  // The store need not exist: restoring makes it.
  VERNIER_ASSIGN_OR_RETURN(const std::string store, StoreFile(context));
  const auto report = app::RestoreStore(args.file, store, args.force, context.Now());
  if (absl::IsAlreadyExists(report.status())) {
    return WithHint(report.status(),
                    "--force puts the backup in its place and keeps it under another name");
  }
  if (!report.ok()) {
    return Explained(report.status(),
                     "restore an earlier one; `vernier server check --store FILE` tells what is "
                     "damaged in this one");
  }
  std::string text = fmt::format("store    {}\nhas      {}, {} trials, {} events\n",
                                 store,
                                 Counted(report->studies, "study", "studies"),
                                 report->trials,
                                 report->events);
  if (!report->replaced.empty()) text += fmt::format("replaced {}\n", report->replaced);
  context.output().Item(text,
                        {{"store", store},
                         {"studies", report->studies},
                         {"trials", report->trials},
                         {"events", report->events},
                         {"replaced", report->replaced}});
  return ExitCode::kOk;
}

// --- compact ---

absl::StatusOr<ExitCode> Compact(Context& context, const NoArgs&) {
  VERNIER_ASSIGN_OR_RETURN(const std::string store, ExistingStoreFile(context));
  const absl::StatusOr<app::CompactReport> report = app::CompactStore(store);
  // A store of an older version, in use: it must be written anew once, which needs the lock.
  if (absl::IsFailedPrecondition(report.status())) {
    return WithHint(report.status(),
                    "stop the server and run this once; later it can be done while one runs");
  }
  VERNIER_RETURN_IF_ERROR(report.status());
  const std::int64_t freed = std::max<std::int64_t>(0, report->bytes_before - report->bytes_after);
  // A file that is written anew may even grow by a page or two; then nothing was given back.
  context.output().Item(
      freed == 0
          ? fmt::format("store       {}\nsize        {}\ngiven back  nothing: it has no free "
                        "pages\n",
                        store,
                        FormatBytes(report->bytes_after))
          : fmt::format("store       {}\nbefore      {}\nafter       {}\ngiven back  {}\n",
                        store,
                        FormatBytes(report->bytes_before),
                        FormatBytes(report->bytes_after),
                        FormatBytes(freed)),
      {{"store", store},
       {"bytes_before", report->bytes_before},
       {"bytes_after", report->bytes_after},
       {"bytes_given_back", freed}});
  return ExitCode::kOk;
}

}  // namespace

void AddStoreCommands(CLI::App& server, Action& chosen) {
  AddCommand<NoArgs>(server,
                     "check",
                     "Check every page, study and trial of the store, with or without a server; "
                     "nothing is changed",
                     &CheckStore,
                     chosen);
  auto [backup, backup_args] = AddCommand<BackupArgs>(
      server, "backup", "Copy the store to a file while a server writes to it", &Backup, chosen);
  backup->add_option("file", backup_args->file, "File of the backup")->required();
  backup->add_flag("--force", backup_args->force, "Replace the file if it exists");
  backup->add_flag("--incremental",
                   backup_args->incremental,
                   "Update an earlier backup of this store with the changes since then");
  auto [restore, restore_args] =
      AddCommand<RestoreArgs>(server, "restore", "Replace the store by a backup", &Restore, chosen);
  restore->add_option("file", restore_args->file, "File of the backup")->required();
  restore->add_flag(
      "--force", restore_args->force, "Replace an existing store; it is kept under another name");
  AddCommand<NoArgs>(server,
                     "compact",
                     "Return free space of the store's file to the disk, with or without a server",
                     &Compact,
                     chosen);
}

}  // namespace vernier::cli
