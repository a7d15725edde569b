// Everything here errs on the side of keeping. A folder goes only if it has a name that Vernier gives, belongs to a
// study that the store knows as deleted (or to none, for caches), and nothing in it may still run or was used recently.
// What cannot be read counts as new and in use.
//
// Removal is a rename to ".removed-NAME", then a removal of that: nobody ever finds half an environment, and a clean-up
// that was interrupted is finished by the next one. The server may start trials meanwhile, so caches are checked again
// just before.

#include "src/app/clean_up.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "src/app/paths.h"
#include "src/base/files.h"
#include "src/base/private_folder.h"
#include "src/codec/json_text.h"
#include "src/codec/study_file.h"
#include "src/core/status.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/replica_files.h"
#include "src/storage/sqlite/connection.h"
#include "src/storage/sqlite/inspection.h"
#include "vernier/core/error.h"

namespace vernier::app {
namespace {

namespace fs = std::filesystem;
using service::CleanUpReport;
using service::CleanUpRule;
using service::kLeastUnused;
using service::Leftover;
using Kind = Leftover::Kind;

// Folders and files beside the studies: docs/formats/attempt_directory.md.
constexpr char kStores[] = ".stores";
constexpr char kEnvironments[] = ".environments";
constexpr char kPackages[] = ".packages";
constexpr char kImages[] = ".images";
// Most bytes of the list of stores. A choice: thousands of paths.
constexpr std::int64_t kMostStores = 1 << 20;

std::string Name(const fs::path& path) { return path.filename().string(); }

// Whether the path is a folder, not a link to one.
bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

// The entries of the folder, sorted; empty if it cannot be read.
std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  if (!IsFolder(folder)) return entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

// The time of change; infinitely late if it is not known, so that it never counts as old.
absl::Time ModifiedBy(bool is_known, const struct stat& status) {
  return is_known ? absl::TimeFromTimespec(status.st_mtim) : absl::InfiniteFuture();
}
// The time of change of the path itself, for a link that of the link.
absl::Time Modified(const fs::path& path) {
  struct stat status {};
  return ModifiedBy(lstat(path.c_str(), &status) == 0, status);
}

// Disk usage of a file or folder, and the latest time of change in it.
struct Extent {
  std::int64_t bytes = 0;
  absl::Time modified = absl::InfinitePast();
  bool is_running = false;  // A replica in it runs, or may run.
};

void Measure(const fs::directory_entry& entry, Extent& extent) {
  constexpr std::int64_t kBlock = 512;  // Unit of st_blocks (stat(3type)).
  struct stat status {};
  const bool is_known = lstat(entry.path().c_str(), &status) == 0;
  // A link has no size of its own here, and what it leads to is somebody else's.
  if (is_known && S_ISLNK(status.st_mode)) return;
  extent.modified = std::max(extent.modified, ModifiedBy(is_known, status));
  if (is_known) extent.bytes += kBlock * status.st_blocks;
  if (Name(entry.path()) != launch::kProgramFile) return;
  using Phase = launch::ReplicaObservation::Phase;
  const Phase phase = launch::Observe(entry.path().parent_path().string()).phase;
  // kOrphaned: its records are gone, but programs of it may still run.
  extent.is_running = extent.is_running || phase == Phase::kStarting || phase == Phase::kRunning ||
                      phase == Phase::kOrphaned;
}

Extent Measure(const fs::path& path, const std::stop_token& stop) {
  Extent extent;
  std::error_code error;
  Measure(fs::directory_entry(path, error), extent);
  if (!IsFolder(path)) return extent;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (stop.stop_requested()) break;
    Measure(*entry, extent);
  }
  // The part that was not examined may be in use.
  if (error || stop.stop_requested()) extent.is_running = true;
  return extent;
}

// Prefix of names of what is being removed, perhaps by a server that has ended since.
constexpr std::string_view kDoomed = ".removed-";
bool IsDoomed(const fs::path& path) { return Name(path).starts_with(kDoomed); }

// Removes the folder and everything in it, or the file. Stops with an error on request.
void RemoveAll(const fs::path& path, const std::stop_token& stop, std::error_code& error) {
  if (IsFolder(path)) {
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      // An error ends the loop like any other, and nothing more is removed.
      if (stop.stop_requested()) error = std::make_error_code(std::errc::interrupted);
      if (!error) RemoveAll(entry->path(), stop, error);
      if (error) return;
    }
  }
  if (!error) fs::remove(path, error);
}

// Removes the path; returns why that failed, or an empty text. Renames it first, so that nobody finds a half-removed
// one.
std::string Remove(const fs::path& path, const std::stop_token& stop) {
  std::error_code error;
  fs::path doomed = path;
  if (!IsDoomed(path)) {
    doomed = path.parent_path() / (std::string(kDoomed) + Name(path));
    // A remainder of an earlier removal would be in the way of the rename.
    RemoveAll(doomed, stop, error);
    if (error == std::errc::no_such_file_or_directory) error.clear();
    if (!error) fs::rename(path, doomed, error);
  }
  if (!error) RemoveAll(doomed, stop, error);
  return error ? error.message() : "";
}

bool IsHash(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Vernier's names here are hashes, of the lengths that python/environments.cc, container/command_line.cc and SHA-256
// have. Files with other names are somebody else's.
bool IsEnvironment(const fs::path& path) {
  constexpr std::size_t kDigits = 32;
  return IsFolder(path) && IsHash(Name(path), kDigits);
}
bool IsImage(const fs::path& path) {
  constexpr std::size_t kDigits = 12;
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error)) && path.extension() == ".sif" &&
         IsHash(path.stem().string(), kDigits);
}
// Also the remains of an interrupted upload.
bool IsPackage(const fs::path& path) {
  constexpr std::size_t kDigits = 64;
  std::error_code error;
  const bool is_file = fs::is_regular_file(fs::symlink_status(path, error));
  return (IsFolder(path) && IsHash(Name(path), kDigits)) ||
         (is_file && Name(path).starts_with(".incoming-"));
}

// "trial-7/attempt-1": the part of an attempt's path that does not change if the runs are moved.
std::string Tail(const fs::path& attempt) {
  return Name(attempt.parent_path()) + "/" + Name(attempt);
}

// A single clean-up.
class Search {
 public:
  Search(const StudyReader& studies,
         absl::Time now,
         const RunsFolder& place,
         const CleanUpRule& rule,
         const std::stop_token& stop)
      : studies_(studies),
        now_(now),
        place_(place),
        runs_(place.directory),
        rule_(rule),
        stop_(stop) {}

  absl::StatusOr<CleanUpReport> Run() {
    // What must not be removed is found first; every check below relies on it.
    VERNIER_RETURN_IF_ERROR(ReadStudies());
    report_.kept = WhyAllStays();
    if (!report_.kept.empty() || !IsFolder(runs_)) return std::move(report_);
    report_.kept = WhyRunsStay();
    if (report_.kept.empty()) {
      VERNIER_RETURN_IF_ERROR(FindRuns());
      FindPackages();
    }
    FindCaches();
    if (stop_.stop_requested()) return Cancelled("the clean-up was given up");
    const auto order = [](const Leftover& leftover) {
      return std::pair(leftover.kind, leftover.last_used);
    };
    std::ranges::stable_sort(report_.leftovers, {}, order);
    if (rule_.remove) VERNIER_RETURN_IF_ERROR(RemoveFound());
    return std::move(report_);
  }

 private:
  absl::Status ReadStudies() {
    std::vector<StudyId> open;
    VERNIER_RETURN_IF_ERROR(studies_.ScanStudies(StudyId(0), [&](const Study& study) {
      known_.emplace(study.spec.name, Known{study.id, study.created});
      // All definitions as one text: whether a package is named is then one search, whatever field names it.
      definitions_ += codec::ToText(codec::StudySpecToJson(study.spec)) + "\n";
      if (study.open > 0) open.push_back(study.id);
      return !stop_.stop_requested();
    }));
    // Its packages and runs would look like nobody's.
    if (!studies_.DamagedStudies().empty()) {
      return FailedPrecondition("a study of the store is damaged: what is its cannot be told");
    }
    for (const StudyId study : open) VERNIER_RETURN_IF_ERROR(NoteOpenTrials(study));
    return absl::OkStatus();
  }

  // Notes the oldest unfinished trial: caches used since its creation may be needed by it.
  absl::Status NoteOpenTrials(StudyId study) {
    TrialScan open;
    for (const TrialState state : kOpenStates) open.states.push_back(state);
    return studies_.ScanTrials(study, open, [&](const Trial& trial) {
      oldest_open_ = std::min(oldest_open_, trial.created);
      // Only the last attempt of an unfinished trial can still run.
      if (!trial.attempts.empty()) ReadPrograms(trial.attempts.back().directory);
      return !stop_.stop_requested();
    });
  }

  // Reads the program files of its replicas, which contain the path of the environment.
  void ReadPrograms(const fs::path& attempt) {
    for (const fs::path& replica : Entries(attempt)) {
      const std::string program = (replica / launch::kProgramFile).string();
      programs_ += launch::ReadWholeFile(program).value_or("");
    }
  }

  bool IsUnused(absl::Time last_used) const {
    // The rule cannot go below kLeastUnused.
    return now_ - last_used >= std::max(rule_.unused_for, kLeastUnused);
  }

  // Why nothing may be removed: runs of another store would look like runs of deleted studies.
  std::string WhyAllStays() const {
    if (!IsFolder(runs_)) return "";
    const std::string file = (runs_ / kStores).string();
    // The file that ClaimRuns writes.
    const auto stores = base::ReadFile(file, kMostStores);
    if (!stores.ok()) return fmt::format("no server has run trials in '{}'", runs_.string());
    std::istringstream lines(*stores);
    for (std::string other; std::getline(lines, other);) {
      if (other.empty() || other == place_.store) continue;
      return fmt::format(
          "store '{}' has its runs in '{}' too; if it is gone for good, remove its line from '{}'",
          other,
          runs_.string(),
          file);
    }
    return "";
  }

  // Why runs and packages stay: somebody who keeps a replaced store may want to go back to it.
  std::string WhyRunsStay() const {
    const fs::path store = place_.store;
    for (const fs::path& path : Entries(store.parent_path())) {
      if (!Name(path).starts_with(Name(store) + ".replaced-")) continue;
      return fmt::format("'{}', which a backup replaced, may need them: remove it first",
                         path.string());
    }
    return "";
  }

  void Add(Kind kind, const fs::path& path, const Extent& extent, absl::Time last_used) {
    report_.leftovers.push_back(
        {.kind = kind, .path = path.string(), .bytes = extent.bytes, .last_used = last_used});
  }

  // Adds the path if nothing in it was changed recently. False: it stays.
  bool AddUnused(Kind kind, const fs::path& path) {
    const Extent extent = Measure(path, stop_);
    const bool may_go = IsDoomed(path) || (!extent.is_running && IsUnused(extent.modified));
    if (may_go) Add(kind, path, extent, extent.modified);
    return may_go;
  }

  absl::Status FindRuns() {
    for (const fs::path& folder : Entries(runs_)) {
      // What is being removed by name is nobody's, whatever study it was of.
      if (IsDoomed(folder)) AddUnused(Kind::kRuns, folder);
      if (Name(folder).starts_with('.') || !IsFolder(folder)) continue;
      if (stop_.stop_requested()) return absl::OkStatus();
      // Only folders of studies that were deleted: others may belong to another store, or to no store.
      if (!place_.deleted.contains(Name(folder))) continue;
      const auto study = known_.find(Name(folder));
      if (study == known_.end()) {
        // A folder with files of somebody else is not removed as a whole, only the attempts in it.
        const bool is_whole = HasNothingButRuns(folder) && AddUnused(Kind::kRuns, folder);
        if (!is_whole) FindRunsIn(folder, {}, absl::InfiniteFuture());
      } else {
        VERNIER_ASSIGN_OR_RETURN(const auto own, DirectoriesOf(study->second.id));
        // A study of that name exists again: only older attempts that are not its own may go.
        FindRunsIn(folder, own, study->second.created);
      }
    }
    return absl::OkStatus();
  }

  // The folders of the study's attempts, in the form of Tail.
  absl::StatusOr<std::set<std::string>> DirectoriesOf(StudyId study) const {
    std::set<std::string> directories;
    VERNIER_RETURN_IF_ERROR(studies_.ScanTrials(study, {}, [&](const Trial& trial) {
      for (const Attempt& attempt : trial.attempts) {
        directories.insert(Tail(fs::path(attempt.directory).lexically_normal()));
      }
      return !stop_.stop_requested();
    }));
    return directories;
  }

  // Whether the folder has only what Vernier makes in a study's folder.
  static bool HasNothingButRuns(const fs::path& study) {
    return std::ranges::all_of(Entries(study), [](const fs::path& trial) {
      return IsTrial(trial) && std::ranges::all_of(Entries(trial), [](const fs::path& attempt) {
               return IsAttempt(attempt) || IsDoomed(attempt);
             });
    });
  }
  static bool IsTrial(const fs::path& path) {
    return Name(path).starts_with("trial-") && IsFolder(path);
  }
  static bool IsAttempt(const fs::path& path) {
    return Name(path).starts_with("attempt-") && IsFolder(path);
  }

  // Adds attempts changed before that time, except `own`.
  void FindRunsIn(const fs::path& study, const std::set<std::string>& own, absl::Time before) {
    for (const fs::path& trial : Entries(study)) {
      if (!IsTrial(trial)) continue;
      for (const fs::path& attempt : Entries(trial)) {
        if (stop_.stop_requested()) return;
        const bool is_other = IsAttempt(attempt) && !own.contains(Tail(attempt));
        if (IsDoomed(attempt) || (is_other && Modified(attempt) < before)) {
          AddUnused(Kind::kRuns, attempt);
        }
      }
    }
  }

  // Environments and images. Their own time is set whenever they are used.
  void FindCaches() {
    std::vector<Leftover> kept;
    std::int64_t kept_bytes = 0;
    const auto look = [&](Kind kind, const fs::path& path) {
      if (stop_.stop_requested()) return;
      const absl::Time last_used = Modified(path);
      const Extent extent = Measure(path, stop_);
      // Used since the oldest open trial was created: that trial may have been prepared with it.
      const bool is_free = !extent.is_running && last_used < oldest_open_ &&
                           programs_.find(Name(path)) == std::string::npos;
      if (IsDoomed(path) || (is_free && IsUnused(last_used))) {
        return Add(kind, path, extent, last_used);
      }
      kept_bytes += extent.bytes;
      // It cannot go for its size, either: it is in use, or was a moment ago.
      if (!is_free || now_ - last_used < kLeastUnused) return;
      kept.push_back(
          {.kind = kind, .path = path.string(), .bytes = extent.bytes, .last_used = last_used});
    };
    for (const fs::path& path : Entries(runs_ / kEnvironments)) {
      if (IsEnvironment(path) || IsDoomed(path)) look(Kind::kEnvironment, path);
    }
    for (const fs::path& path : Entries(runs_ / kImages)) {
      if (IsImage(path) || IsDoomed(path)) look(Kind::kImage, path);
    }
    if (!rule_.cache_bytes.has_value()) return;
    std::ranges::sort(kept, {}, &Leftover::last_used);
    for (const Leftover& longest_unused : kept) {
      if (kept_bytes <= *rule_.cache_bytes) return;
      kept_bytes -= longest_unused.bytes;
      report_.leftovers.push_back(longest_unused);
    }
  }

  // Packages, stored as <hash>/<file name>, and remains of interrupted uploads.
  void FindPackages() {
    for (const fs::path& path : Entries(runs_ / kPackages)) {
      const bool is_named = definitions_.find(Name(path)) != std::string::npos;
      if (IsDoomed(path) || (IsPackage(path) && !is_named)) AddUnused(Kind::kPackage, path);
    }
  }

  absl::Status RemoveFound() {
    for (Leftover& leftover : report_.leftovers) {
      if (stop_.stop_requested()) return Cancelled("the clean-up was given up");
      const fs::path path = leftover.path;
      // Measuring took time, and the server may have started a trial with it meanwhile.
      const bool is_cache = leftover.kind == Kind::kEnvironment || leftover.kind == Kind::kImage;
      if (is_cache && Modified(path) != leftover.last_used) {
        leftover.error = "it was used meanwhile";
        continue;
      }
      leftover.error = Remove(path, stop_);
      leftover.removed = leftover.error.empty();
      const bool is_attempt = leftover.kind == Kind::kRuns && path.parent_path() != runs_;
      if (is_attempt) RemoveEmpty(path.parent_path());
    }
    return absl::OkStatus();
  }

  // Removes the folders of the trial and of the study if they are empty.
  static void RemoveEmpty(const fs::path& trial) {
    std::error_code error;
    if (fs::remove(trial, error)) fs::remove(trial.parent_path(), error);
  }

  static constexpr std::array kOpenStates = {TrialState::kRequested,
                                             TrialState::kQueued,
                                             TrialState::kPreparing,
                                             TrialState::kRunning,
                                             TrialState::kPaused,
                                             TrialState::kStopping};

  const StudyReader& studies_;
  const absl::Time now_;
  const RunsFolder& place_;
  const fs::path runs_;
  const CleanUpRule& rule_;
  const std::stop_token& stop_;
  struct Known {
    StudyId id;
    absl::Time created;
  };
  std::map<std::string, Known> known_;
  std::string definitions_;  // Definitions of all studies.
  std::string programs_;     // Program files of unfinished trials.
  absl::Time oldest_open_ = absl::InfiniteFuture();
  CleanUpReport report_;
};

}  // namespace

absl::Status ClaimRuns(const std::string& runs_directory, const std::string& store) {
  const std::string path = runs_directory + "/" + kStores;
  const std::string line = Absolute(store) + "\n";
  const std::string stores = base::ReadFile(path, kMostStores).value_or("");
  // A whole line, so that "/a/store" is not found in "/a/store2" or "/b/a/store".
  if (("\n" + stores).find("\n" + line) != std::string::npos) return absl::OkStatus();
  const std::error_code error = base::MakePrivateFolders(runs_directory);
  if (error) return Unavailable("cannot create folder '{}': {}", runs_directory, error.message());
  // Durable before the first run: a clean-up of another store must find the claim even after a crash.
  if (launch::ReplaceFile(path, stores + line, /*durable=*/true)) return absl::OkStatus();
  return Unavailable("cannot write '{}': {}", path, std::strerror(errno));
}

void DisclaimRuns(const std::string& runs_directory, const std::string& store) {
  const std::string path = runs_directory + "/" + kStores;
  const std::string line = "\n" + Absolute(store) + "\n";
  // A line break in front, so that the first line is found like the others.
  std::string stores = "\n" + base::ReadFile(path, kMostStores).value_or("");
  const std::size_t at = stores.find(line);
  if (at == std::string::npos) return;
  stores.erase(at, line.size() - 1);
  // A claim that stays keeps runs that a clean-up could remove, and its report says so.
  launch::ReplaceFile(path, stores.substr(1), /*durable=*/true);
}

absl::StatusOr<std::set<std::string>> DeletedStudies(const std::string& store) {
  std::set<std::string> names;
  // It has no deletions on record, so nothing counts as deleted.
  if (store == ":memory:") return names;
  VERNIER_ASSIGN_OR_RETURN(const auto inspection, sqlite::Inspection::Open(store));
  sqlite::Statement select(inspection->connection(), "SELECT DISTINCT study FROM deletions");
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return names;
    names.emplace(select.Text(0));
  }
}

absl::StatusOr<CleanUpReport> CleanUp(const StudyReader& studies,
                                      const Clock& clock,
                                      const RunsFolder& runs,
                                      const CleanUpRule& rule,
                                      const std::stop_token& stop) {
  RunsFolder place = runs;
  place.store = Absolute(runs.store);
  return Search(studies, clock.Now(), place, rule, stop).Run();
}

}  // namespace vernier::app
