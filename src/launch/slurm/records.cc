#include "src/launch/slurm/records.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "src/core/status.h"
#include "src/launch/slurm/client_environment.h"

namespace vernier::launch::slurm {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, JobState>, 12> kStates = {{
    {"PENDING", JobState::kPending},
    {"RUNNING", JobState::kRunning},
    {"SUSPENDED", JobState::kSuspended},
    {"COMPLETED", JobState::kCompleted},
    {"CANCELLED", JobState::kCancelled},
    {"FAILED", JobState::kFailed},
    {"TIMEOUT", JobState::kTimeout},
    {"NODE_FAIL", JobState::kNodeFail},
    {"PREEMPTED", JobState::kPreempted},
    {"BOOT_FAIL", JobState::kBootFail},
    {"DEADLINE", JobState::kDeadline},
    {"OUT_OF_MEMORY", JobState::kOutOfMemory},
}};

// States in which a node takes no new job: https://slurm.schedmd.com/sinfo.html, "NODE STATE CODES".
constexpr std::array<std::string_view, 11> kUnusable = {"down",
                                                        "drain",
                                                        "drained",
                                                        "draining",
                                                        "error",
                                                        "fail",
                                                        "future",
                                                        "inval",
                                                        "invalid_reg",
                                                        "maint",
                                                        "unknown"};

// What is read of a job.
constexpr std::array<std::string_view, 11> kJobKeys = {"job_id",
                                                       "het_job_id",
                                                       "comment",
                                                       "job_state",
                                                       "job_state_flags",
                                                       "state_reason",
                                                       "nodes",
                                                       "exit_code",
                                                       "restart_cnt",
                                                       "start_time",
                                                       "end_time"};

// Reads JSON, and passes over those members of the elements of the list `jobs` that nobody reads. An answer of squeue has
// 3.7 kB for every job that the controller remembers, of which a launcher reads a tenth: values of all of it cost 65 ms
// of CPU for 1,000 jobs, each second, and without them 27 ms.
class JobsReader final : public Json::json_sax_t {
 public:
  // Discarded: it is not JSON.
  static Json Read(std::string_view text) {
    JobsReader reader;
    const bool is_json = Json::sax_parse(text.begin(), text.end(), &reader);
    return is_json ? std::move(reader.root_) : Json(Json::value_t::discarded);
  }

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool value) override { return Scalar(value); }
  bool number_integer(std::int64_t value) override { return Scalar(value); }
  bool number_unsigned(std::uint64_t value) override { return Scalar(value); }
  bool number_float(double value, const std::string&) override { return Scalar(value); }
  bool string(std::string& value) override { return Scalar(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

  bool key(std::string& name) override {
    if (skipped_depth_ > 0) return true;
    const bool is_of_job = open_.size() == 3 && open_[1] == jobs_;
    is_next_skipped_ = is_of_job && std::ranges::count(kJobKeys, name) == 0;
    if (is_next_skipped_) return true;
    member_ = &(*open_.back())[name];
    if (open_.size() == 1 && name == "jobs") jobs_ = member_;
    return true;
  }

 private:
  // Whether the value that begins here is passed over.
  bool IsSkipped() { return std::exchange(is_next_skipped_, false) || skipped_depth_ > 0; }

  Json* Add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    *member_ = std::move(value);
    return member_;
  }

  template <typename Value>
  bool Scalar(Value value) {
    if (!IsSkipped()) Add(std::move(value));
    return true;
  }

  bool Open(Json value) {
    if (IsSkipped()) {
      ++skipped_depth_;
    } else {
      open_.push_back(Add(std::move(value)));
    }
    return true;
  }

  bool Close() {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  Json root_;
  // From the root inwards. Their addresses hold: members of an object stay where they are, and a list gets no further
  // element while its last one is open.
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // Of the innermost object: where the next value goes.
  const Json* jobs_ = nullptr;
  bool is_next_skipped_ = false;
  std::size_t skipped_depth_ = 0;
};

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::string Text(const Json& object, const char* key) {
  const Json* const value = Find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// A number, or {set, infinite, number}.
std::optional<std::int64_t> Number(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<std::int64_t>();
  const Json* const set = Find(*value, "set");
  if (set == nullptr || !set->is_boolean() || !set->get<bool>()) return std::nullopt;
  return Number(Find(*value, "number"));
}

std::int64_t NumberOr0(const Json& object, const char* key) {
  return Number(Find(object, key)).value_or(0);
}

std::optional<absl::Time> Time(const Json& object, const char* key) {
  const std::int64_t seconds = NumberOr0(object, key);
  if (seconds <= 0) return std::nullopt;
  return absl::FromUnixSeconds(seconds);
}

// A text, or a list of them.
std::vector<std::string> Words(const Json* value) {
  std::vector<std::string> words;
  if (value == nullptr) return words;
  if (value->is_string()) words.push_back(value->get<std::string>());
  if (value->is_array()) {
    for (const Json& word : *value) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
  }
  return words;
}

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

JobState StateOf(std::string_view name) {
  const auto* const known = std::ranges::find(kStates, name, &decltype(kStates)::value_type::first);
  return known == kStates.end() ? JobState::kUnknown : known->second;
}

// A base state, and among the words of a list flags such as COMPLETING.
void ReadState(const Json& job, JobRecord& record) {
  for (const std::string& word : Words(Find(job, "job_state"))) {
    if (word == "COMPLETING") {
      record.is_completing = true;
    } else if (const JobState state = StateOf(word); state != JobState::kUnknown) {
      record.state = state;
    }
  }
  for (const std::string& word : Words(Find(job, "job_state_flags"))) {
    record.is_completing = record.is_completing || word == "COMPLETING";
  }
}

// The status of wait(2), or {status, return_code, signal: {id}}; the signal's number was called signal_id until 24.05.
void ReadExit(const Json& job, JobRecord& record) {
  const Json* const exit = Find(job, "exit_code");
  if (exit == nullptr) return;
  if (exit->is_number()) {
    const int status = exit->get<int>();
    if (WIFSIGNALED(status)) record.signal = WTERMSIG(status);
    if (WIFEXITED(status)) record.exit_code = WEXITSTATUS(status);
    return;
  }
  record.exit_code = static_cast<int>(NumberOr0(*exit, "return_code"));
  if (const Json* const signal = Find(*exit, "signal")) {
    const Json* const id = Find(*signal, "id");
    record.signal =
        static_cast<int>(Number(id != nullptr ? id : Find(*signal, "signal_id")).value_or(0));
  }
}

JobRecord ReadRecord(const Json& job) {
  JobRecord record;
  record.id = NumberOr0(job, "job_id");
  record.leader = NumberOr0(job, "het_job_id");
  if (record.leader == 0) record.leader = record.id;
  record.comment = Text(job, "comment");
  if (const Json* const comment = Find(job, "comment");
      comment != nullptr && comment->is_object()) {
    record.comment = Text(*comment, "job");
  }
  ReadState(job, record);
  record.reason = Text(job, "state_reason");
  record.nodes = Text(job, "nodes");
  ReadExit(job, record);
  record.restarts = static_cast<std::int32_t>(NumberOr0(job, "restart_cnt"));
  record.started = Time(job, "start_time");
  record.ended = Time(job, "end_time");
  return record;
}

// "gpu:v100:4(S:0-1),gpu:a100:2(IDX:0,1),shard:8": of each type of GPU how many, added up.
std::map<std::string, std::int64_t> CountGpus(std::string_view gres) {
  std::map<std::string, std::int64_t> counts;
  std::string plain;  // Without what stands in brackets, which may hold commas.
  int depth = 0;
  for (const char c : gres) {
    if (c == '(') ++depth;
    if (depth == 0) plain += c;
    if (c == ')') --depth;
  }
  for (const absl::string_view entry : absl::StrSplit(plain, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(entry, ':');
    if (parts.size() < 2 || parts[0] != "gpu") continue;
    std::int64_t count = 0;
    const bool has_count = absl::SimpleAtoi(parts.back(), &count);
    const bool has_type = parts.size() > 2 || !has_count;  // "gpu:v100" is one of it.
    counts[has_type ? std::string(parts[1]) : std::string()] += has_count ? count : 1;
  }
  return counts;
}

NodeRecord ReadNode(const Json& node) {
  NodeRecord record;
  record.name = Text(node, "name");
  std::vector<std::string> states = Words(Find(node, "state"));
  for (std::string& flag : Words(Find(node, "state_flags"))) states.push_back(std::move(flag));
  for (std::string& state : states) {
    state = LowerCase(std::move(state));
    if (std::ranges::count(kUnusable, state) > 0) record.is_usable = false;
  }
  if (!states.empty()) record.state = states.front();
  record.cpus = NumberOr0(node, "cpus");
  record.free_cpus = record.cpus - NumberOr0(node, "alloc_cpus");
  record.memory_bytes = NumberOr0(node, "real_memory") * kMegabyte;
  record.free_memory_bytes = record.memory_bytes - NumberOr0(node, "alloc_memory") * kMegabyte;
  record.reason = Text(node, "reason");
  record.partitions = Words(Find(node, "partitions"));
  for (const auto& [type, count] : CountGpus(Text(node, "gres"))) record.gpus[type].count = count;
  for (const auto& [type, count] : CountGpus(Text(node, "gres_used"))) {
    if (const auto known = record.gpus.find(type); known != record.gpus.end()) {
      known->second.used = count;
    }
  }
  return record;
}

// What an error says: its description, and Slurm's word for it if that is not part of it.
std::string WordsOf(const Json& error) {
  if (error.is_string()) return error.get<std::string>();
  std::string words = Text(error, "description");
  const std::string name = Text(error, "error");
  if (words.find(name) == std::string::npos) words += (words.empty() ? "" : ": ") + name;
  return words.empty() ? error.dump() : words;
}

// What the errors of the answer say; empty: it has none.
std::string ErrorsOf(const Json& answer) {
  const Json* const errors = Find(answer, "errors");
  if (errors == nullptr || !errors->is_array()) return "";
  std::string text;
  for (const Json& error : *errors) text += (text.empty() ? "" : "; ") + WordsOf(error);
  return text;
}

// Whether they mean that the controller did not answer. "Unspecified error" is all that some of Slurm's programs say of a
// controller that is down, and slurmrestd of a token that is not valid; later versions have words for the token
// (src/common/slurm_errno.c of Slurm).
bool MeansNoAnswer(const std::string& errors) {
  constexpr std::array<std::string_view, 5> kNotLetIn = {"Unspecified error",
                                                         "nvalid authentication credential",
                                                         "uthentication credential invalid",
                                                         "uthentication credential expired",
                                                         "uthentication failure"};
  return SaysNoAnswer(errors) || SaysAny(errors, kNotLetIn);
}

template <typename Record>
absl::StatusOr<std::vector<Record>> ReadList(const Json& answer,
                                             const char* key,
                                             Record (*read)(const Json&)) {
  if (answer.is_discarded()) return FailedPrecondition("Slurm's answer is not JSON");
  if (const std::string errors = ErrorsOf(answer); !errors.empty()) {
    if (MeansNoAnswer(errors)) return Unavailable("Slurm answered: {}", errors);
    return FailedPrecondition("Slurm answered: {}", errors);
  }
  const Json* const list = Find(answer, key);
  if (list == nullptr || !list->is_array()) {
    return FailedPrecondition("Slurm's answer has no list of {}", key);
  }
  std::vector<Record> records;
  records.reserve(list->size());
  for (const Json& entry : *list) records.push_back(read(entry));
  return records;
}

}  // namespace

const char* JobStateName(JobState state) {
  const auto* const known =
      std::ranges::find(kStates, state, &decltype(kStates)::value_type::second);
  return known == kStates.end() ? "UNKNOWN" : known->first.data();
}

bool IsOver(JobState state) {
  return state != JobState::kPending && state != JobState::kRunning &&
         state != JobState::kSuspended && state != JobState::kUnknown;
}

absl::Status ErrorsIn(std::string_view json) {
  const std::string errors = ErrorsOf(Json::parse(json, nullptr, /*allow_exceptions=*/false));
  if (errors.empty()) return absl::OkStatus();
  return MeansNoAnswer(errors) ? Unavailable("{}", errors) : InvalidArgument("{}", errors);
}

absl::StatusOr<std::vector<JobRecord>> ParseJobs(std::string_view json) {
  return ReadList<JobRecord>(JobsReader::Read(json), "jobs", &ReadRecord);
}

absl::StatusOr<std::vector<NodeRecord>> ParseNodes(std::string_view json) {
  return ReadList<NodeRecord>(
      Json::parse(json, nullptr, /*allow_exceptions=*/false), "nodes", &ReadNode);
}

}  // namespace vernier::launch::slurm
