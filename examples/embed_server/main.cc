// A server in this program, with a launcher of its own around the local launcher, and a client that uses the server.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "licensed_launcher.h"
#include "vernier/client.h"
#include "vernier/local_launcher.h"
#include "vernier/server.h"
#include "vernier/study_file.h"

namespace {

constexpr char kStudyFile[] = R"(
study: licensed
objective: {minimize: loss}
parameters:
  x: {float: [0, 1]}
algorithm: quasi-random
budget: {trials: 6}
parallel: 3
job:
  command: [sh, -c, "echo loss=$1", train, "{x}"]
)";

absl::Status Run(const std::string& folder) {
  vernier::ServerOptions options;
  options.store = folder + "/studies.db";
  options.listen = {"unix:" + folder + "/server.sock"};
  options.runs_directory = folder + "/runs";
  options.launcher =
      [&](const vernier::Clock& clock) -> absl::StatusOr<std::unique_ptr<vernier::Launcher>> {
    auto local = vernier::NewLocalLauncher(
        {.runs_directory = options.runs_directory, .cpus = 8, .detect_gpus = false}, clock);
    if (!local.ok()) return local.status();
    return std::make_unique<LicensedLauncher>(*std::move(local), /*licences=*/1);
  };
  const auto server = vernier::Server::Start(options);
  if (!server.ok()) return server.status();

  const auto client = vernier::Client::Connect((*server)->addresses().front(), {.name = "example"});
  const auto spec = vernier::ParseStudyFile(kStudyFile);
  if (!spec.ok()) return spec.status();
  if (const auto created = client->CreateStudy(*spec); !created.ok()) return created.status();
  int running = 0;
  int most = 0;
  const auto watched =
      client->WatchStudy("licensed", vernier::EventSeq(), /*follow=*/true, [&](const auto& event) {
        if (const auto* moved = std::get_if<vernier::TrialStateChanged>(&event.payload)) {
          if (moved->to == vernier::TrialState::kRunning) most = std::max(most, ++running);
          if (vernier::IsFinished(moved->to)) --running;
        }
        return true;
      });
  if (!watched.ok()) return watched;
  const auto study = client->GetStudy("licensed");
  if (!study.ok()) return study.status();
  std::printf(
      "%d trials completed, at most %d at once\n", static_cast<int>(study->completed), most);
  return study->completed == 6 && most == 1 ? absl::OkStatus()
                                            : absl::InternalError("not as it should be");
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "embed_server.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const absl::Status status = Run(folder);
  std::filesystem::remove_all(folder);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
