// Calls about the server itself.
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

#include "fmt/format.h"
#include "src/service/reply.h"
#include "src/service/resident_memory.h"
#include "src/service/study_service.h"
#include "src/service/trouble_proto.h"
#include "src/wire/time_proto.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

void Encode(const Durations& durations, v1::Durations* out) {
  out->set_count(durations.count);
  wire::EncodeDuration(durations.mean, out->mutable_mean());
  wire::EncodeDuration(durations.longest, out->mutable_longest());
}

void Encode(const DiskUse& disk, v1::Disk* out) {
  for (const std::string& user : disk.users) out->add_users(user);
  out->set_path(disk.path);
  out->set_free_bytes(disk.free_bytes);
  out->set_total_bytes(disk.total_bytes);
}

v1::Leftover::Kind Encode(Leftover::Kind kind) {
  switch (kind) {
    case Leftover::Kind::kRuns:
      return v1::Leftover::RUNS;
    case Leftover::Kind::kEnvironment:
      return v1::Leftover::ENVIRONMENT;
    case Leftover::Kind::kPackage:
      return v1::Leftover::PACKAGE;
    case Leftover::Kind::kImage:
      return v1::Leftover::IMAGE;
  }
  return v1::Leftover::KIND_UNSPECIFIED;
}

void Encode(const Leftover& leftover, v1::Leftover* out) {
  out->set_kind(Encode(leftover.kind));
  out->set_path(leftover.path);
  out->set_bytes(leftover.bytes);
  wire::EncodeTime(leftover.last_used, out->mutable_last_use_time());
  out->set_removed(leftover.removed);
  out->set_error(leftover.error);
}

absl::StatusOr<CleanUpRule> Decode(const v1::CleanUpRequest& request) {
  CleanUpRule rule{.remove = request.remove()};
  if (request.has_unused_for()) rule.unused_for = wire::DecodeDuration(request.unused_for());
  if (rule.unused_for < kLeastUnused) {
    return FieldError(
        "unused_for",
        fmt::format("must be at least an hour, got {} s", absl::ToDoubleSeconds(rule.unused_for)));
  }
  if (request.cache_bytes() < 0) {
    return FieldError("cache_bytes",
                      fmt::format("must not be negative, got {}", request.cache_bytes()));
  }
  if (request.cache_bytes() > 0) rule.cache_bytes = request.cache_bytes();
  return rule;
}

}  // namespace

grpc::Status StudyServiceImpl::GetServerInfo(grpc::ServerContext*,
                                             const v1::GetServerInfoRequest*,
                                             v1::ServerInfo* response) {
  return Reply("GetServerInfo", {}, [&]() -> absl::Status {
    // Counted by a scan, since no totals are stored.
    std::int64_t studies = 0;
    std::int64_t running = 0;
    VERNIER_RETURN_IF_ERROR(parts_.studies.ScanStudies(StudyId(0), [&](const Study& study) {
      ++studies;
      // Trials that are open, whether they run or wait.
      running += study.open;
      return true;
    }));
    response->set_version(parts_.version);
    response->set_store(parts_.store);
    response->set_process_id(getpid());
    wire::EncodeTime(started_, response->mutable_start_time());
    response->set_studies(studies);
    response->set_running_trials(running);
    response->set_resident_bytes(ResidentBytes());
    for (const StudyTrouble& trouble : parts_.server.Troubles()) {
      EncodeTrouble(trouble, response->add_troubles());
    }
    response->set_held(parts_.server.WhyHeld());
    const LoopTimes loop = parts_.server.Loop();
    Encode(loop.steps, response->mutable_steps());
    Encode(loop.delays, response->mutable_step_delays());
    const StudyDurations times = parts_.studies.RecentTimes();
    Encode(times.suggestions, response->mutable_suggestions());
    Encode(times.commits, response->mutable_commits());
    for (const DiskUse& disk : parts_.server.Disks()) Encode(disk, response->add_disks());
    return absl::OkStatus();
  });
}

grpc::Status StudyServiceImpl::CleanUp(grpc::ServerContext* context,
                                       const v1::CleanUpRequest* request,
                                       v1::CleanUpResponse* response) {
  // Removing large folders takes time, and stops when the client goes away.
  const auto work = [&](const std::stop_token& stop) -> absl::Status {
    VERNIER_ASSIGN_OR_RETURN(const CleanUpRule rule, Decode(*request));
    VERNIER_ASSIGN_OR_RETURN(const CleanUpReport report, parts_.server.CleanUp(rule, stop));
    for (const Leftover& leftover : report.leftovers) Encode(leftover, response->add_leftovers());
    response->set_kept(report.kept);
    return absl::OkStatus();
  };
  return ReplyLong(context, "CleanUp", "", work);
}

}  // namespace vernier::service
