#include "src/launch/slurm/rest.h"

#include <curl/curl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/core/status.h"
#include "src/launch/replica_files.h"
#include "src/launch/slurm/client_environment.h"
#include "src/launch/slurm/records.h"
#include "vernier/core/error.h"

namespace vernier::launch::slurm {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kUnix = "unix:";
// A choice: tokens of Slurm have some 200 bytes.
constexpr std::int64_t kMostToken = 16384;
constexpr long kGood = 200;  // Of HTTP.

// libcurl's lists and handles.
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;
using Handle = std::unique_ptr<CURL, FreeHandle>;

struct Answer {
  long code = 0;  // Of HTTP.
  std::string body;
};

std::size_t TakeBytes(char* bytes, std::size_t size, std::size_t count, void* text) {
  auto& answer = *static_cast<std::string*>(text);
  // libcurl gives the call up, with CURLE_WRITE_ERROR.
  if (answer.size() + size * count > kMostAnswer) return 0;
  answer.append(bytes, size * count);
  return size * count;
}

std::string UserName() {
  const passwd* const user = getpwuid(geteuid());
  return user == nullptr ? "" : user->pw_name;
}

// Errors are Unavailable: somebody will put a good token there, and trials wait for it. A token that others can read is no
// secret any more.
absl::StatusOr<std::string> ReadSecretToken(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) == 0 && (file.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Unavailable("token file '{}' may be read by others; chmod 600 makes it private", path);
  }
  const absl::StatusOr<std::string> text = base::ReadFile(path, kMostToken);
  if (!text.ok()) {
    return Unavailable("the token cannot be read: {}", std::string(text.status().message()));
  }
  std::string token(absl::StripAsciiWhitespace(*text));
  absl::string_view rest = token;
  if (absl::ConsumePrefix(&rest, "SLURM_JWT="))
    token = std::string(rest);  // As scontrol prints it.
  if (token.empty() || token.find_first_of("\r\n") != std::string::npos) {
    return Unavailable("token file '{}' must hold one line", path);
  }
  return token;
}

// What follows the last dot of the API's version.
int MinorOf(const std::string& version) {
  int minor = 0;
  return absl::SimpleAtoi(version.substr(version.rfind('.') + 1), &minor) ? minor : 0;
}

// From version 39 on, numbers that may be unset are objects, the environment is a list, and a task's GPUs are among its
// trackable resources, whose names begin with "gres/" from Slurm 23.11 on, the first with version 40, and with "gres:" before
// (https://slurm.schedmd.com/rest_api.html, and openapi_release_notes.html there).
constexpr int kFirstOfParsers = 39;
constexpr int kFirstWithSlash = 40;
// From there on the script belongs to the first component.
constexpr int kFirstWithScript = 41;

Json NumberBody(std::int64_t number, int minor) {
  if (minor < kFirstOfParsers) return number;
  return {{"set", true}, {"infinite", false}, {"number", number}};
}

Json EnvironmentBody(int minor) {
  if (minor >= kFirstOfParsers) return ClientEnvironment();
  Json variables = Json::object();
  for (const std::string& variable : ClientEnvironment()) {
    const std::size_t at = variable.find('=');
    variables[variable.substr(0, at)] = variable.substr(at + 1);
  }
  return variables;
}

void AddGpus(const Component& component, int minor, Json& body) {
  const std::string gpus = GpuText(component);
  if (minor < kFirstOfParsers) {
    body["gpus_per_task"] = gpus;
  } else {
    body["tres_per_task"] = (minor < kFirstWithSlash ? "gres:gpu:" : "gres/gpu:") + gpus;
  }
}

Json ComponentBody(const BatchJob& job, const Component& component, int minor) {
  Json body = {{"name", job.name},
               {"comment", job.comment},
               {"current_working_directory", job.directory},
               {"tasks", component.tasks},
               {"cpus_per_task", WholeCpus(component)},
               {"environment", EnvironmentBody(minor)}};
  // Up to version 38, whose keys are sbatch's options, a job is requeued whatever value `requeue` has.
  if (minor < kFirstOfParsers) {
    body["no_requeue"] = true;
  } else {
    body["requeue"] = false;
  }
  if (component.memory_bytes > 0) {
    body["memory_per_cpu"] = NumberBody(MegabytesPerCpu(component), minor);
  }
  if (component.gpus > 0) AddGpus(component, minor, body);
  if (job.time_limit.has_value()) {
    body["time_limit"] = NumberBody(WholeMinutes(*job.time_limit), minor);
  }
  const std::pair<const char*, const std::string*> words[] = {
      {"partition", &job.site.partition},
      {"account", &job.site.account},
      {"qos", &job.site.qos},
      {"constraints", &job.site.constraint},
      {"reservation", &job.site.reservation}};
  for (const auto& [key, value] : words) {
    if (!value->empty()) body[key] = *value;
  }
  return body;
}

class SlurmRest final : public Slurm {
 public:
  explicit SlurmRest(RestOptions options) : options_(std::move(options)) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(started);
    if (options_.user.empty()) options_.user = UserName();
  }

  absl::StatusOr<std::int64_t> Submit(const BatchJob& job) override {
    VERNIER_RETURN_IF_ERROR(Test(job));
    const std::optional<std::string> script = ReadWholeFile(job.script);
    if (!script.has_value()) {
      return FailedPrecondition("'{}' cannot be read: {}", job.script, std::strerror(errno));
    }
    VERNIER_ASSIGN_OR_RETURN(
        const Answer answer,
        Call("POST", "/job/submit", SubmitBody(job, *script, options_.version)));
    // A job that is accepted and has to wait has an id, and some versions list why it waits as an error: "Requested partition
    // configuration not available now". Whoever took that for a refusal would leave the job in the queue.
    const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
    const auto id = json.is_object() ? json.find("job_id") : json.end();
    if (id != json.end() && id->is_number_integer() && id->get<std::int64_t>() > 0) {
      return id->get<std::int64_t>();
    }
    VERNIER_RETURN_IF_ERROR(Judge(answer));
    return FailedPrecondition("slurmrestd answered without a job's id");
  }

  absl::Status Test(const BatchJob& job) override {
    if (job.site.arguments.empty()) return absl::OkStatus();
    return InvalidArgument("'{}' is an argument of sbatch; slurmrestd takes none",
                           job.site.arguments.front());
  }

  absl::StatusOr<std::vector<JobRecord>> Jobs() override { return List("/jobs", &ParseJobs); }

  // slurmrestd tells the script, which hands it on to the tasks (WaitForStep).
  absl::Status Stop(std::int64_t id, Listener) override {
    return Delete(fmt::format("/job/{}?signal={}", id, kStopSignal));
  }

  absl::Status Cancel(std::int64_t id) override { return Delete(fmt::format("/job/{}", id)); }

  absl::StatusOr<std::vector<NodeRecord>> Nodes() override { return List("/nodes", &ParseNodes); }

 private:
  template <typename Records>
  Records List(const char* path, Records (*parse)(std::string_view)) const {
    VERNIER_ASSIGN_OR_RETURN(const Answer answer, Call("GET", path, ""));
    // A list in an answer that is not good says nothing: slurmrestd has an empty one beside its errors.
    Records records = FailedPrecondition("slurmrestd answered without a list");
    if (answer.code == kGood) records = parse(answer.body);
    if (!records.ok()) VERNIER_RETURN_IF_ERROR(Judge(answer));
    return records;
  }

  absl::Status Delete(const std::string& path) const {
    VERNIER_ASSIGN_OR_RETURN(const Answer answer, Call("DELETE", path, ""));
    const absl::Status judged = Judge(answer);
    const bool is_gone =
        absl::IsInvalidArgument(judged) && SaysNoJob(std::string(judged.message()));
    return is_gone ? absl::OkStatus() : judged;
  }

  absl::StatusOr<Headers> MakeHeaders() const {
    std::vector<std::string> lines = {"Content-Type: application/json",
                                      "X-SLURM-USER-NAME: " + options_.user};
    if (!options_.token_file.empty()) {
      VERNIER_ASSIGN_OR_RETURN(const std::string token, ReadSecretToken(options_.token_file));
      lines.push_back("X-SLURM-USER-TOKEN: " + token);
    }
    curl_slist* list = nullptr;
    for (const std::string& line : lines) list = curl_slist_append(list, line.c_str());
    return Headers(list);
  }

  absl::StatusOr<Answer> Call(const char* method,
                              const std::string& path,
                              const std::string& body) const {
    VERNIER_ASSIGN_OR_RETURN(const Headers headers, MakeHeaders());
    const Handle handle(curl_easy_init());
    if (handle == nullptr) return FailedPrecondition("libcurl cannot be used");
    std::string base = options_.url;
    if (base.starts_with(kUnix)) {
      curl_easy_setopt(handle.get(), CURLOPT_UNIX_SOCKET_PATH, base.substr(kUnix.size()).c_str());
      base = "http://localhost";
    }
    const std::string url = fmt::format("{}/slurm/{}{}", base, options_.version, path);
    Answer answer;
    char problem[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle.get(),
                     CURLOPT_TIMEOUT_MS,
                     static_cast<long>(absl::ToInt64Milliseconds(options_.patience)));
    curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    // The token is for this server alone.
    curl_easy_setopt(handle.get(), CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(handle.get(), CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(kMostAnswer));
    curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, problem);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &TakeBytes);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &answer.body);
    if (!body.empty()) {
      curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, body.c_str());
      curl_easy_setopt(
          handle.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    }
    const CURLcode done = curl_easy_perform(handle.get());
    if (done == CURLE_WRITE_ERROR || done == CURLE_FILESIZE_EXCEEDED) {
      return FailedPrecondition(
          "slurmrestd at {} answered more than {} bytes", options_.url, kMostAnswer);
    }
    if (done != CURLE_OK) {
      return Unavailable("slurmrestd at {}: {}",
                         options_.url,
                         *problem != '\0' ? problem : curl_easy_strerror(done));
    }
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &answer.code);
    return answer;
  }

  // What an answer means that may be none of Slurm's.
  absl::Status Judge(const Answer& answer) const {
    constexpr std::array<long, 2> kRefused = {401, 403};
    if (std::ranges::count(kRefused, answer.code) > 0) {
      return Unavailable("slurmrestd refuses user '{}'{}",
                         options_.user,
                         options_.token_file.empty() ? ": name a token_file" : " and the token");
    }
    const absl::Status errors = ErrorsIn(answer.body);
    const std::string words(errors.message());
    if (errors.ok()) return JudgeCode(answer.code, /*is_json=*/Json::accept(answer.body));
    if (absl::IsUnavailable(errors)) {
      return Unavailable(
          "slurmrestd: {}; the controller does not answer, or the token is not valid", words);
    }
    return InvalidArgument("slurmrestd: {}", words);
  }

  // Of an answer in which Slurm lists no errors.
  absl::Status JudgeCode(long code, bool is_json) const {
    if (code == kGood && is_json) return absl::OkStatus();
    constexpr long kNotFound = 404;
    if (code == kNotFound) {
      return FailedPrecondition(
          "slurmrestd at {} does not have version {} of the API", options_.url, options_.version);
    }
    // Of slurmrestd or of a proxy before it: the request timed out, there are too many, or the server cannot.
    constexpr std::array<long, 2> kLater = {408, 429};
    constexpr long kServer = 500;
    if (code >= kServer || std::ranges::count(kLater, code) > 0) {
      return Unavailable("slurmrestd at {}: HTTP status {}", options_.url, code);
    }
    return FailedPrecondition(
        "'{}' answered HTTP status {} and nothing of Slurm's: is it slurmrestd's address?",
        options_.url,
        code);
  }

  RestOptions options_;
};

}  // namespace

absl::Status CheckRestOptions(const RestOptions& options, const std::string& path) {
  const bool is_http = options.url.starts_with("http://") || options.url.starts_with("https://");
  // Messages have the address.
  if (is_http && options.url.find('@') != std::string::npos) {
    return FieldError(path + ".url",
                      "must have no user and no password; write `user` and `token_file`");
  }
  const bool is_url = is_http || options.url.starts_with("unix:/");
  if (!is_url || options.url.find_first_of(" \r\n") != std::string::npos ||
      options.url.ends_with('/')) {
    return FieldError(
        path + ".url",
        fmt::format("must be http://HOST:PORT, https://HOST:PORT or unix:/PATH, got '{}'",
                    options.url));
  }
  int minor = 0;
  constexpr std::string_view kPrefix = "v0.0.";
  const bool is_version = options.version.starts_with(kPrefix) &&
                          absl::SimpleAtoi(options.version.substr(kPrefix.size()), &minor) &&
                          minor > 0;
  if (!is_version) {
    return FieldError(path + ".version",
                      fmt::format("must be a version such as v0.0.38, got '{}'", options.version));
  }
  if (options.user.find_first_of("\r\n") != std::string::npos) {
    return FieldError(path + ".user", "must be one line");
  }
  return absl::OkStatus();
}

std::string SubmitBody(const BatchJob& job, const std::string& script, const std::string& version) {
  const int minor = MinorOf(version);
  std::vector<Json> components;
  for (const Component& component : job.components) {
    components.push_back(ComponentBody(job, component, minor));
  }
  components.front()["standard_output"] = absl::StrReplaceAll(job.output, {{"%", "%%"}});
  Json body = Json::object();
  (minor < kFirstWithScript ? body : components.front())["script"] = script;
  if (components.size() == 1) {
    body["job"] = components.front();
  } else {
    body["jobs"] = components;
  }
  // Folders and arguments of users may hold bytes that are no UTF-8.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unique_ptr<Slurm> NewSlurmRest(RestOptions options) {
  return std::make_unique<SlurmRest>(std::move(options));
}

}  // namespace vernier::launch::slurm
