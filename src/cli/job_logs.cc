#include "src/cli/job_logs.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/cli/log_text.h"
#include "src/cli/resources.h"
#include "src/cli/stream.h"
#include "src/cli/terminal/text.h"
#include "src/wire/names.h"
#include "src/wire/time_proto.h"

namespace vernier::cli {
namespace {

using LogStream = Stream<v1::LogLine>;

constexpr absl::Duration kLook = absl::Milliseconds(500);
constexpr absl::Duration kPatience = absl::Milliseconds(20);

// What the log service calls a replica: "master-replica-0".
std::string TaskName(const v1::LogLine& line) {
  const std::string role = line.role() == "chief" ? "master" : line.role();
  return fmt::format("{}-replica-{}", role, line.index());
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
        runs_(options.live || !connection.is_embedded()) {}

  absl::StatusOr<Study> Run(const std::string& name) {
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const StudyRecord study, GetStudy(connection_, name));
      VERNIER_RETURN_IF_ERROR(FollowNewTrials(study));
      VERNIER_RETURN_IF_ERROR(PrintWhatCame());
      const bool over = IsFinished(study.study.state) || !runs_;
      if (over && followed_.empty()) return study.study;
      if (interrupts_.count() > 0) {
        if (!options_.live) return study.study;
        VERNIER_RETURN_IF_ERROR(BringDown(name));
      }
      interrupts_.Wait(followed_.empty() ? kLook : kPatience);
    }
  }

 private:
  struct Followed {
    TrialNumber trial;
    std::unique_ptr<LogStream> stream;
  };

  // Once; its last words are still to be printed.
  absl::Status BringDown(const std::string& name) {
    if (std::exchange(is_stopping_, true)) return absl::OkStatus();
    return StopStudy(connection_, name, "interrupted");
  }

  absl::Status FollowNewTrials(const StudyRecord& study) {
    VERNIER_ASSIGN_OR_RETURN(const auto trials, ListTrials(connection_, study, {}));
    for (const TrialRecord& trial : trials) {
      if (trial.trial.attempts.empty() || !known_.insert(trial.trial.number).second) continue;
      v1::StreamTrialLogsRequest request;
      request.set_name(trial.message.name());
      request.set_follow(runs_);
      followed_.push_back({trial.trial.number,
                           std::make_unique<LogStream>(
                               [&](grpc::ClientContext* call, grpc::CompletionQueue* queue) {
                                 return connection_.stub().PrepareAsyncStreamTrialLogs(
                                     call, request, queue);
                               })});
    }
    return absl::OkStatus();
  }

  absl::Status PrintWhatCame() {
    for (Followed& followed : followed_) {
      v1::LogLine line;
      while (true) {
        VERNIER_ASSIGN_OR_RETURN(const LogStream::Next next,
                                 followed.stream->Read(kPatience, line));
        if (next == LogStream::Next::kEnd) followed.stream.reset();
        if (next != LogStream::Next::kMessage) break;
        Print(followed.trial, line);
      }
    }
    context_.console().out.flush();
    std::erase_if(followed_, [](const Followed& followed) { return followed.stream == nullptr; });
    return absl::OkStatus();
  }

  void Print(TrialNumber trial, const v1::LogLine& line) {
    if (!options_.task.empty() && options_.task != TaskName(line)) return;
    if (options_.plain) {
      (line.is_stderr() ? context_.console().err : context_.console().out) << line.text() << '\n';
      return;
    }
    const absl::Time time = wire::DecodeTime(line.time());
    const std::string head =
        fmt::format("{:<8} {} {:<20} {:>4}  ",
                    SeverityText(line),
                    absl::FormatTime("%Y-%m-%d %H:%M:%S %z", time, context_.zone()),
                    TaskName(line),
                    trial.value());
    std::string text;
    for (const std::string_view part : MessageLines(line)) {
      if (!text.empty()) text += '\n';
      if (text.empty() || options_.one_line) text += head;
      text += Printable(part);
    }
    context_.output().StreamItem(text, LogLineToJson(line));
  }

  Context& context_;
  Connection& connection_;
  const JobLogOptions& options_;
  Interrupts& interrupts_;
  const bool runs_;  // Somebody runs the job: it will end.
  bool is_stopping_ = false;
  std::set<TrialNumber> known_;
  std::vector<Followed> followed_;
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
