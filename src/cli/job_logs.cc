// Merges the logs of all trials of a job by time, as the service's log shows them. Each trial has one stream for its
// current attempt, and the line with the least time among the heads of all streams is printed next. A running program
// may be silent, so a stream is read with little patience, and what arrives late from a slow stream is printed late
// rather than holding up the others.

#include "src/cli/job_logs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/log_text.h"
#include "src/cli/replica_choice.h"
#include "src/cli/resources.h"
#include "src/cli/service_log.h"
#include "src/cli/stream.h"
#include "src/cli/terminal/text.h"
#include "src/wire/names.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

using LogStream = Stream<v1::LogLine>;

// How long a stream of an ended attempt may take to give its next line, and how often study and trials are looked at.
constexpr absl::Duration kLogPeriod = absl::Milliseconds(500);
// How long to wait for a line of a running program. A choice: unnoticed by people, and 50 looks a second for a quiet
// trial.
constexpr absl::Duration kLinePatience = absl::Milliseconds(20);

absl::Time TimeOf(const v1::LogLine& line) { return wire::DecodeTime(line.time()); }

// The state of reading one trial: its attempts, one after another.
struct Followed {
  TrialNumber trial;
  std::string name;
  std::vector<AttemptNumber> attempts;  // So far.
  bool is_over = false;                 // No further attempt will come.
  std::size_t opened = 0;               // Number of attempts whose stream was opened.
  // Of the last opened attempt; null once it was read to its end.
  std::unique_ptr<LogStream> stream;
  std::optional<v1::LogLine> line;  // Read, but not yet printed.
  bool is_quiet = false;            // No line came in time.

  bool is_done() const { return is_over && opened == attempts.size() && !stream && !line; }
  // Whether the attempt being read has ended, so that its lines come without delay.
  bool is_settled() const { return is_over || opened < attempts.size(); }
};

nlohmann::ordered_json JobLineToJson(TrialNumber trial, const v1::LogLine& line) {
  nlohmann::ordered_json json = LogLineToJson(line);
  json["task"] = TaskName(line.role(), line.index());
  if (trial.value() != 0) json["trial"] = trial.value();
  return json;
}

class JobLogs {
 public:
  JobLogs(Context& context,
          Connection& connection,
          const JobLogOptions& options,
          Interrupts& interrupts)
      : context_(context),
        connection_(connection),
        options_(options),
        interrupts_(interrupts),
        runs_(options.live || !connection.is_embedded()),
        has_service_(!options.plain && (options.task.empty() || options.task == kServiceTask)) {}

  absl::StatusOr<Study> Run(const std::string& name) {
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection_, name));
      VERNIER_RETURN_IF_ERROR(LookForAttempts(study));
      VERNIER_ASSIGN_OR_RETURN(const bool has_more, PrintWhatCame());
      const bool over = IsFinished(study.study.state) || !runs_;
      if (over && IsAllPrinted()) return study.study;
      if (interrupts_.count() > 0) {
        if (!options_.live) return study.study;
        VERNIER_RETURN_IF_ERROR(BringDown(name));
      }
      if (!has_more) interrupts_.Wait(IsAllPrinted() ? kLogPeriod : kLinePatience);
    }
  }

 private:
  // Stops the job, once. The loop continues, so that its last lines are printed.
  absl::Status BringDown(const std::string& name) {
    if (std::exchange(is_stopping_, true)) return absl::OkStatus();
    return StopStudy(connection_, name, "interrupted");
  }

  absl::Status LookForAttempts(const StudyRecord& study) {
    VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection_, study, {}));
    if (has_service_) {
      VERNIER_RETURN_IF_ERROR(service_.Look(connection_, study, trials, context_.Now()));
    }
    for (const TrialRecord& trial : trials) {
      Followed& followed = followed_[trial.trial.number];
      followed.trial = trial.trial.number;
      followed.name = trial.message.name();
      followed.is_over = IsFinished(trial.trial.state) || !runs_;
      followed.attempts.clear();
      for (const Attempt& attempt : trial.trial.attempts) {
        followed.attempts.push_back(attempt.number);
      }
    }
    return absl::OkStatus();
  }

  bool IsAllPrinted() {
    if (!service_.lines().empty()) return false;
    return std::ranges::all_of(followed_, [](const auto& entry) { return entry.second.is_done(); });
  }

  // Prints the lines that have arrived, ordered by time. Returns whether more may follow at once.
  absl::StatusOr<bool> PrintWhatCame() {
    constexpr int kMostLines = 1000;  // A choice: then study and interrupts are looked at again.
    for (auto& [number, followed] : followed_) followed.is_quiet = false;
    bool has_more = true;
    for (int i = 0; has_more && i < kMostLines; ++i) {
      VERNIER_ASSIGN_OR_RETURN(Followed* const next, NextToPrint());
      auto& said = service_.lines();
      const bool is_said_first =
          !said.empty() && (next == nullptr || TimeOf(said.front().second) <= TimeOf(*next->line));
      has_more = is_said_first || next != nullptr;
      if (is_said_first) {
        Print(said.front().first, said.front().second);
        said.pop_front();
      } else if (has_more) {
        Print(next->trial, *std::exchange(next->line, std::nullopt));
      }
    }
    context_.console().out.flush();
    return has_more;
  }

  absl::StatusOr<Followed*> NextToPrint() {
    Followed* first = nullptr;
    for (auto& [number, followed] : followed_) {
      VERNIER_RETURN_IF_ERROR(ReadLine(followed));
      if (!followed.line) continue;
      if (first == nullptr || TimeOf(*followed.line) < TimeOf(*first->line)) first = &followed;
    }
    return first;
  }

  // Reads the next wanted line, from as many attempts as it takes.
  absl::Status ReadLine(Followed& followed) {
    while (!followed.line && !followed.is_quiet) {
      if (followed.stream == nullptr && !OpenNext(followed)) return absl::OkStatus();
      v1::LogLine line;
      VERNIER_ASSIGN_OR_RETURN(
          const LogStream::Next next,
          followed.stream->Read(followed.is_settled() ? kLogPeriod : kLinePatience, line));
      if (next == LogStream::Next::kEnd) followed.stream.reset();
      if (next == LogStream::Next::kQuiet) followed.is_quiet = true;
      if (next == LogStream::Next::kMessage && IsWanted(line)) followed.line = std::move(line);
    }
    return absl::OkStatus();
  }

  // False: no further attempt yet.
  bool OpenNext(Followed& followed) {
    if (followed.opened == followed.attempts.size()) return false;
    v1::StreamTrialLogsRequest request;
    request.set_name(followed.name);
    request.set_attempt(followed.attempts[followed.opened++].value());
    request.set_follow(runs_);
    followed.stream =
        std::make_unique<LogStream>([&](grpc::ClientContext* call, grpc::CompletionQueue* queue) {
          return connection_.stub().PrepareAsyncStreamTrialLogs(call, request, queue);
        });
    return true;
  }

  bool IsWanted(const v1::LogLine& line) const {
    return options_.task.empty() || options_.task == TaskName(line.role(), line.index());
  }

  void Print(TrialNumber trial, const v1::LogLine& line) {
    if (options_.plain) {
      (line.is_stderr() ? context_.console().err : context_.console().out) << line.text() << '\n';
      return;
    }
    const std::string head =
        fmt::format("{:<8} {} {:<20} {:>4}  ",
                    SeverityText(line),
                    absl::FormatTime("%Y-%m-%d %H:%M:%S %z", TimeOf(line), context_.zone()),
                    TaskName(line.role(), line.index()),
                    trial.value() == 0 ? "" : std::to_string(trial.value()));
    std::string text;
    for (const std::string_view part : MessageLines(line)) {
      if (!text.empty()) text += '\n';
      if (text.empty() || options_.one_line) text += head;
      text += ShownText(part);
    }
    context_.output().StreamItem(text, JobLineToJson(trial, line));
  }

  Context& context_;
  Connection& connection_;
  const JobLogOptions& options_;
  Interrupts& interrupts_;
  const bool runs_;         // A server runs the job, so it will end.
  const bool has_service_;  // Whether lines of the service are wanted.
  ServiceLog service_;
  bool is_stopping_ = false;
  std::map<TrialNumber, Followed> followed_;
};

}  // namespace

absl::StatusOr<Study> StreamJobLogs(Context& context,
                                    Connection& connection,
                                    const std::string& study,
                                    const JobLogOptions& options,
                                    Interrupts& interrupts) {
  return JobLogs(context, connection, options, interrupts).Run(study);
}

}  // namespace vernier::cli
