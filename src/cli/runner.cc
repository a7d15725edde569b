// `vernier run`. First the store gets the study as the file defines it (Prepare, TakeUp), and only then the study is
// resumed, which lets the engine of this process start its trials (docs/adr/0031-a-run-starts-its-own-study.md). If
// another process owns the store, that one runs the trials. When it ends, this process takes its place if it was
// another run, and waits for its restart if it was a server. Detachment implements the three steps of Ctrl-C.

#include "src/cli/runner.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/app/configuration.h"
#include "src/app/listen_address.h"
#include "src/cli/arguments.h"
#include "src/cli/hint.h"
#include "src/cli/interrupts.h"
#include "src/cli/live_view.h"
#include "src/cli/reconnection.h"
#include "src/cli/resources.h"
#include "src/cli/room_hint.h"
#include "src/cli/run_summary.h"
#include "src/cli/study_text.h"
#include "src/cli/study_update.h"
#include "src/cli/study_warnings.h"
#include "src/codec/spec_changes.h"
#include "src/core/status.h"
#include "src/jobs/reproduction.h"
#include "src/wire/names.h"
#include "src/wire/study_proto.h"

namespace vernier::cli {
namespace {

namespace fs = std::filesystem;
using Stub = Connection::Stub;

// Suffix of a run's socket, beside its store.
constexpr char kSocket[] = ".sock";

// A socket beside the store, if its path is short enough for one.
std::string AddressOfStore(const std::string& store) {
  std::error_code error;
  const std::string path = std::filesystem::absolute(store, error).string() + kSocket;
  return error ? "127.0.0.1:0" : app::SocketOrPort(path);
}

absl::StatusOr<std::string> FreeName(Connection& connection, const std::string& name) {
  VERNIER_ASSIGN_OR_RETURN(const auto studies, ListStudies(connection, {}));
  std::set<std::string> taken;
  for (const v1::Study& study : studies) taken.insert(study.name());
  std::string free = name;
  for (int i = 2; taken.contains(wire::StudyResource(free)); ++i) {
    free = fmt::format("{}-{}", name, i);
  }
  return free;
}

// Says which differences of the file --continue ignores.
void SayIgnored(Context& context, const Study& study, const StudySpec& file) {
  const std::vector<FieldChange> ignored = CompareWithFile(study, file);
  if (ignored.empty()) return;
  context.output().Say(
      fmt::format("--continue: the study goes on as it is stored; the file would change {}",
                  codec::DescribeChanges(ignored)));
}

// Whether one folder is the other or contains it.
bool AreOfOneProject(const fs::path& a, const fs::path& b) {
  // Compared component by component: /data is no part of /database.
  const auto [end_a, end_b] = std::ranges::mismatch(a, b);
  return end_a == a.end() || end_b == b.end();
}

// Refuses a file whose programs run in another folder than the stored study's: it probably is another project whose
// study happens to have the same name. If the old folder is gone, the project was moved.
absl::Status CheckSameProject(const Study& stored, const StudySpec& file) {
  if (!stored.spec.job.has_value() || !file.job.has_value()) return absl::OkStatus();
  std::error_code error;
  const fs::path before = fs::weakly_canonical(stored.spec.job->working_directory, error);
  const fs::path now = fs::weakly_canonical(file.job->working_directory, error);
  if (AreOfOneProject(before, now) || !fs::is_directory(before, error)) return absl::OkStatus();
  return WithHint(
      FailedPrecondition(
          "study '{}' is another one: its programs run in {}, those of this file in {}",
          file.name,
          before.string(),
          now.string()),
      "--name NAME or --new makes a study of this file; `vernier study create FILE --update` gives "
      "the stored study the definition of this file");
}

// Continues a stored study, after updating it to the definition of the file, if there is one.
absl::Status TakeUp(Context& context,
                    Connection& connection,
                    const StudyRecord& existing,
                    const std::optional<StudySpec>& file,
                    const RunOptions& options) {
  const std::string& name = existing.name();
  Study study = existing.study;
  if (file.has_value() && !options.go_on) {
    VERNIER_RETURN_IF_ERROR(CheckSameProject(study, *file));
    absl::StatusOr<StudyUpdate> update = UpdateStudy(connection, existing, *file);
    if (!update.ok()) {
      return WithHint(update.status(),
                      "--new starts a new study under a free name, --continue goes on with the "
                      "stored one as it is");
    }
    if (const std::string text = DescribeUpdate(*update); !text.empty()) {
      context.output().Say(text.substr(0, text.size() - 1));
    }
    study = std::move(update->study);
  }
  if (file.has_value() && options.go_on) SayIgnored(context, study, *file);
  // Whoever goes on with a failed study says that the cause of its failures was removed.
  if (options.go_on && study.state == StudyState::kFailed) {
    VERNIER_ASSIGN_OR_RETURN(study, DeclareFixed(connection, name));
    if (!IsFinished(study.state)) {
      context.output().Say(fmt::format("failures of study '{}' so far no longer count", name));
    }
  }
  if (IsFinished(study.state)) {
    const std::string where = file.has_value() ? options.file : "";
    context.output().Say(fmt::format("{}{}",
                                     DescribeEnd(study, where, "--continue"),
                                     file.has_value() ? "; --new starts it anew" : ""));
    return absl::OkStatus();
  }
  context.output().Say(fmt::format("{} study '{}': {}",
                                   IsFinished(existing.study.state) ? "extending" : "continuing",
                                   name,
                                   DescribeBudget(study)));
  return absl::OkStatus();
}

// A stored study, and its last event before this command changed it: later events are shown.
struct Prepared {
  std::string name;
  EventSeq last_event;
};

// Creates or updates the study.
absl::StatusOr<Prepared> Prepare(Context& context,
                                 Connection& connection,
                                 StudySpec spec,
                                 const RunOptions& options) {
  const auto existing = GetStudy(connection, spec.name);
  if (existing.ok() && !options.anew) {
    VERNIER_RETURN_IF_ERROR(TakeUp(context, connection, *existing, spec, options));
    return Prepared{.name = spec.name, .last_event = existing->study.last_event};
  }
  // Nothing is created unless it is certain that there is no such study.
  if (!existing.ok() && existing.status().code() != absl::StatusCode::kNotFound) {
    return existing.status();
  }
  if (existing.ok()) {
    VERNIER_ASSIGN_OR_RETURN(spec.name, FreeName(connection, spec.name));
  }
  // The number of the last event comes with the answer: a later call might already miss trials that the engine has
  // proposed in between.
  const std::string used_folder = UsedFolderWarning(spec);
  VERNIER_ASSIGN_OR_RETURN(const v1::Study created, CreateStudy(connection, spec));
  PrintWarnings(context, spec);
  if (!used_folder.empty()) PrintWarning(context, used_folder);
  context.output().Say(fmt::format("study '{}' created", spec.name));
  return Prepared{.name = spec.name, .last_event = EventSeq(created.last_event())};
}

std::string TrialsText(std::int64_t count) {
  return count == 1 ? "1 trial" : fmt::format("{} trials", count);
}

// What Ctrl-C does while a study runs: the first pauses it, the second exits. If a server runs the study, the first one
// only ends the display.
class Detachment {
 public:
  // `go_on`: the command that continues the study.
  Detachment(Connection& connection, std::string study, std::string go_on)
      : connection_(connection), study_(std::move(study)), go_on_(std::move(go_on)) {}

  // False: exit now.
  bool Check(LiveView& view) {
    const int count = interrupts_.count();
    if (count == 0) return true;
    if (!connection_.is_embedded()) {
      view.Say(fmt::format("leaving; the server goes on with study '{}'", study_));
      return false;
    }
    if (!is_pausing_) Pause(view);
    if (count > 1) {
      Abandon(view);
      return false;
    }
    // A paused study starts no trials: when the last has ended, there is nothing to wait for.
    return view.board().running() > 0;
  }

  bool is_wanted() const { return interrupts_.count() > 0; }
  Interrupts& interrupts() { return interrupts_; }
  // Whether the command exits while trials run.
  bool has_abandoned() const { return has_abandoned_; }

 private:
  void Pause(LiveView& view) {
    // Set before the call, so that a call that fails is not repeated at each tick.
    is_pausing_ = true;
    v1::PauseStudyRequest request;
    request.set_name(wire::StudyResource(study_));
    request.set_request_id(NewRequestId());
    const auto paused = connection_.Call(&Stub::PauseStudy, request);
    if (!paused.ok()) {
      view.Say(fmt::format("vernier: {}; Ctrl-C again leaves study '{}' as it is",
                           std::string(paused.status().message()),
                           study_));
      return;
    }
    view.Say(
        fmt::format("no new trials start; waiting for {} to end. Ctrl-C again: exit now, {} in the "
                    "background.\n"
                    "`{}` continues the study in either case.",
                    TrialsText(view.board().running()),
                    view.board().running() == 1 ? "it goes on" : "they go on",
                    go_on_));
  }

  void Abandon(LiveView& view) {
    has_abandoned_ = true;
    const std::int64_t running = view.board().running();
    view.Say(
        fmt::format("leaving; {} on, and what {} is kept.\n"
                    "`{}` continues the study.",
                    running == 1 ? "1 trial goes" : fmt::format("{} trials go", running),
                    running == 1 ? "it reports" : "they report",
                    go_on_));
  }

  Connection& connection_;
  const std::string study_;
  const std::string go_on_;
  // A closed terminal counts, too: docs/guides/cli.md.
  Interrupts interrupts_{Interrupts::Heed::kTerminal};
  bool is_pausing_ = false;
  bool has_abandoned_ = false;
};

// The command that continues the study after `vernier run` has left it.
std::string GoOnCommand(const Context& context,
                        const std::string& study,
                        const RunOptions& options) {
  const bool has_file = !options.file.empty() && options.file != "-";
  return fmt::format("vernier run {}{}{}",
                     has_file ? jobs::ShellQuote(options.file) : "STUDY.yaml",
                     study == options.file_study ? "" : " --name " + study,
                     context.SameStoreFlags());
}

// The event after which lines are printed: all new ones for people and jsonl; none for formats with one document at the
// end.
EventSeq PrintAfter(Context& context, EventSeq last) {
  const Output& output = context.output();
  return output.is_table() || output.format() == Format::kJsonl ? last : EventSeq(INT64_MAX);
}

}  // namespace

void AddCapacityOptions(CLI::App& command, CapacityFlags& flags) {
  command
      .add_option("--config",
                  flags.config,
                  "Server configuration; its host, clusters, regions, machines, runtimes and "
                  "containers apply here")
      ->option_text("FILE")
      ->envname("VERNIER_CONFIG");
  command.add_option("--cpus", flags.cpus, "CPUs that trials may use (default: all)")
      ->check(AboveZero());
  command.add_option(
      "--memory", flags.memory, "Memory that trials may use, e.g. 16GiB (default: all)");
  command
      .add_option("--gpu",
                  flags.gpus,
                  "A GPU that trials may use: TYPE:ID:MEMORY or ID; repeat it for more (default: "
                  "all that are found)")
      ->allow_extra_args(false);
  command
      .add_option("--fitting",
                  flags.fitting,
                  "Trials larger than this host: strict refuses them, scaled shrinks them "
                  "(default: strict)")
      ->check(OneOf({"strict", "scaled"}));
  command.add_option("--runs", flags.runs, "Folder for logs and records (default: STORE.runs)");
  command.add_option("--disk-reserve",
                     flags.disk_reserve,
                     "Start no trial while the disk of the store or of the runs has less free "
                     "space than this, e.g. 1GiB, at least 16 MiB (default: 1 % of the disk, "
                     "from 16 to 256 MiB)");
}

absl::StatusOr<app::ServerOptions> EngineOptionsOf(const std::string& store,
                                                   const CapacityFlags& flags) {
  app::ServerOptions options = {.store = store, .runs_directory = flags.runs};
  if (!flags.config.empty()) {
    VERNIER_ASSIGN_OR_RETURN(const app::Configuration file, app::LoadConfiguration(flags.config));
    absl::Status applied = app::ApplyHost(file, options);
    if (applied.ok()) applied = app::CheckRuntimes(options.runtimes);
    if (!applied.ok()) {
      return absl::Status(applied.code(),
                          fmt::format("{}: {}", flags.config, std::string(applied.message())));
    }
  }
  // Flags replace what the file says.
  if (flags.cpus > 0) options.cpus = flags.cpus;
  if (!flags.memory.empty()) {
    VERNIER_ASSIGN_OR_RETURN(options.memory_bytes, ParseBytesFlag("--memory", flags.memory));
  }
  if (!flags.disk_reserve.empty()) {
    VERNIER_ASSIGN_OR_RETURN(options.disk_reserve,
                             ParseBytesFlag("--disk-reserve", flags.disk_reserve));
    if (*options.disk_reserve < launch::kLeastReserve) {
      return InvalidArgument("--disk-reserve: must be at least {} bytes, got {}",
                             launch::kLeastReserve,
                             *options.disk_reserve);
    }
  }
  // Named GPUs are all that may be used.
  if (!flags.gpus.empty()) {
    options.gpus = flags.gpus;
    options.detect_gpus = false;
  }
  for (const auto& [name, fitting] : app::kFittings) {
    if (name == flags.fitting) options.fitting = fitting;
  }
  return options;
}

absl::StatusOr<Connection> OpenToRun(const Context& context, const CapacityFlags& flags) {
  if (!context.flags().server.empty()) return context.Connect();
  const std::string store = context.Store();
  VERNIER_ASSIGN_OR_RETURN(app::ServerOptions options, EngineOptionsOf(store, flags));
  options.listen = {AddressOfStore(store)};
  // Only the study of this command is run (docs/adr/0031-a-run-starts-its-own-study.md).
  options.run_every_study = false;
  return Connection::OpenWithEngine(options);
}

namespace {

absl::Status CheckHasJob(const StudySpec& spec) {
  if (spec.job) return absl::OkStatus();
  return WithHint(
      InvalidArgument("study '{}' has no job: there is nothing to run its trials with", spec.name),
      "add a job to the file, or create it with `vernier study create` for clients of your own");
}

// Lets the engine, here or in the owner's process, run the study. `if_paused` makes the call harmless for an active
// study; it counts as the client's claim on the study in any case.
absl::Status Begin(Context& context, Connection& connection, const StudyRecord& study) {
  const StudyState state = study.study.state;
  if (IsFinished(state) || state == StudyState::kStopping) return absl::OkStatus();
  v1::ResumeStudyRequest request;
  request.set_name(wire::StudyResource(study.name()));
  request.set_request_id(NewRequestId());
  request.set_if_paused(true);
  VERNIER_RETURN_IF_ERROR(connection.Call(&Stub::ResumeStudy, request).status());
  if (connection.owner().has_value()) {
    context.output().Say(
        fmt::format("process {} has the store open: it runs the trials, in its environment",
                    connection.owner()->process_id));
  }
  const std::string room = RoomHint(connection, study.study.spec);
  if (!room.empty()) context.output().Say(room);
  return absl::OkStatus();
}

// Names other active studies of the store, which this run leaves alone.
void SayOthers(Context& context, Connection& connection, const std::string& name) {
  if (!connection.is_embedded()) return;
  const auto studies = ListStudies(connection, {.filter = "state = ACTIVE"});
  // A hint only, so that an error is passed over.
  if (!studies.ok()) return;
  for (const v1::Study& message : *studies) {
    const absl::StatusOr<Study> study = wire::DecodeStudy(message);
    if (!study.ok() || study->spec.name == name || !study->spec.job.has_value()) continue;
    context.output().Say(fmt::format("study '{0}' is ACTIVE too; `vernier run {0}{1}` runs it",
                                     study->spec.name,
                                     context.SameStoreFlags()));
  }
}

// Continues after the process that ran the trials has ended. If it was a run, whoever opens the store first runs the
// trials from now on. If it was a server, its restart is awaited and the store left free, since a server is responsible
// for everything in it.
absl::StatusOr<Connection> TakeOver(Context& context,
                                    const app::StoreOwner& before,
                                    const CapacityFlags& capacity,
                                    Interrupts& interrupts) {
  const std::string store = context.Store();
  const bool was_run = !before.runs_every_study;
  const absl::Time deadline = context.Now() + kReconnectPatience;
  if (!was_run) {
    context.output().Say(fmt::format("the server (process {}) has ended; waiting for another one",
                                     before.process_id));
  }
  while (interrupts.count() == 0 && context.Now() < deadline) {
    const auto now = app::FindStoreOwner(store);
    // A process without an address uses the store for a moment.
    const bool is_free = !now.has_value() || now->address.empty();
    const bool is_new = !is_free && now->process_id != before.process_id;
    if (is_new || (is_free && was_run)) {
      absl::StatusOr<Connection> connection = OpenToRun(context, capacity);
      // Another process was faster, and will answer soon.
      const bool is_busy = absl::IsUnavailable(connection.status());
      if (connection.ok() && connection->is_embedded()) {
        context.output().Say(
            fmt::format("process {} has ended; this one runs the trials now", before.process_id));
      }
      if (!is_busy) return connection;
    }
    interrupts.Wait(absl::Milliseconds(100));
  }
  return WithHint(Unavailable("the server (process {}) has ended", before.process_id),
                  "running trials go on; the study continues when a server is started, or with "
                  "`vernier run`");
}

// Runs the study and shows it until it ends. `take_over` replaces a connection to another process that has ended.
absl::Status FollowRun(Context& context,
                       Connection& connection,
                       const Prepared& prepared,
                       const RunOptions& options,
                       Detachment& detachment,
                       const std::function<absl::Status(Connection&)>& take_over) {
  const auto begin = [&]() -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection, prepared.name));
    return Begin(context, connection, study);
  };
  const auto on_lost = [&](Connection& lost) -> absl::Status {
    // A server that was named by its address: no process here can take its place.
    if (!lost.owner().has_value()) return Reconnect(context, lost, absl::InfiniteFuture());
    VERNIER_RETURN_IF_ERROR(take_over(lost));
    SayOthers(context, lost, prepared.name);
    const absl::Status begun = begin();
    // The next server has ended as well; Follow will notice, and call on_lost again.
    return IsConnectionLost(begun, lost) ? absl::OkStatus() : begun;
  };
  absl::Status begun = begin();
  if (IsConnectionLost(begun, connection)) begun = on_lost(connection);
  VERNIER_RETURN_IF_ERROR(begun);
  return Follow(context,
                connection,
                prepared.name,
                {.after = PrintAfter(context, prepared.last_event),
                 .detail = DetailOf(options.detail),
                 .on_tick = [&](LiveView& view) { return detachment.Check(view); },
                 .on_lost = on_lost})
      .status();
}

absl::StatusOr<StudyRecord> SumUpNow(Context& context,
                                     Connection& connection,
                                     const std::string& name,
                                     const RunOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(StudyRecord after, GetStudy(connection, name));
  VERNIER_RETURN_IF_ERROR(SumUp(context, connection, after, options.plot));
  return after;
}

// Shows the study until it ends, then prints a summary. If the other process that ran the trials ends between the two,
// the summary comes from its successor.
absl::StatusOr<ExitCode> SeeThrough(Context& context,
                                    Connection& connection,
                                    const Prepared& prepared,
                                    const RunOptions& options) {
  SayOthers(context, connection, prepared.name);
  const std::string go_on = GoOnCommand(context, prepared.name, options);
  Detachment detachment(connection, prepared.name, go_on);
  const auto take_over = [&](Connection& lost) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(
        lost, TakeOver(context, *lost.owner(), options.capacity, detachment.interrupts()));
    return absl::OkStatus();
  };
  VERNIER_RETURN_IF_ERROR(FollowRun(context, connection, prepared, options, detachment, take_over));
  if (detachment.has_abandoned()) return ExitCode::kInterrupted;
  absl::StatusOr<StudyRecord> after = SumUpNow(context, connection, prepared.name, options);
  while (IsConnectionLost(after.status(), connection) && connection.owner().has_value()) {
    VERNIER_RETURN_IF_ERROR(take_over(connection));
    after = SumUpNow(context, connection, prepared.name, options);
  }
  VERNIER_RETURN_IF_ERROR(after.status());
  if (!detachment.is_wanted()) return ExitCodeOf(after->study.state);
  // Said before, but many lines ago.
  if (after->study.state == StudyState::kPaused) {
    context.output().Say(fmt::format("\n`{}` continues the study", go_on));
  }
  return ExitCode::kInterrupted;
}

}  // namespace

absl::StatusOr<ExitCode> RunStudy(Context& context,
                                  Connection& connection,
                                  StudySpec spec,
                                  const RunOptions& options) {
  VERNIER_RETURN_IF_ERROR(CheckHasJob(spec));
  VERNIER_ASSIGN_OR_RETURN(const Prepared prepared,
                           Prepare(context, connection, std::move(spec), options));
  return SeeThrough(context, connection, prepared, options);
}

absl::StatusOr<ExitCode> RunStoredStudy(Context& context,
                                        Connection& connection,
                                        const StudyRecord& study,
                                        const RunOptions& options) {
  VERNIER_RETURN_IF_ERROR(CheckHasJob(study.study.spec));
  VERNIER_RETURN_IF_ERROR(TakeUp(context, connection, study, std::nullopt, options));
  return SeeThrough(
      context, connection, {.name = study.name(), .last_event = study.study.last_event}, options);
}

}  // namespace vernier::cli
