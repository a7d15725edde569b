// slurmrestd by a server of the test's own, which notes what it is asked and answers as told.
#include "src/launch/slurm/rest.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/slurm/slurm_sample.h"
#include "tests/support/status_matchers.h"

namespace vernier::launch::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::vernier::testing::IsOk;
using ::vernier::testing::StatusIs;
using Json = nlohmann::json;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::string Answer(int code,
                   const std::string& body,
                   const std::string& header = "Content-Type: application/json") {
  return fmt::format(
      "HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n\r\n{}", code, body.size(), header, body);
}

// Answers each connection's one request with the same bytes; with none, it never answers.
class Server {
 public:
  // On a free port of loopback, or on a socket of that path.
  explicit Server(const std::string& path = "") {
    if (path.empty()) {
      sockaddr_in address = {.sin_family = AF_INET};
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof address;
      fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
      getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
      url_ = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    } else {
      sockaddr_un address = {.sun_family = AF_UNIX};
      path.copy(address.sun_path, sizeof address.sun_path - 1);
      fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      url_ = "unix:" + path;
    }
    EXPECT_EQ(listen(fd_, 8), 0);
    thread_ = std::jthread([this] { Serve(); });
  }
  ~Server() {
    shutdown(fd_, SHUT_RDWR);  // Ends accept.
    thread_.join();
    close(fd_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const { return url_; }
  void Say(std::string answer) {
    absl::MutexLock lock(&mu_);
    answer_ = std::move(answer);
  }
  // Line, headers and body of the last request.
  std::string request() const {
    absl::MutexLock lock(&mu_);
    return request_;
  }

 private:
  void Serve() {
    for (int peer; (peer = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(peer)) {
      const std::string request = ReadRequest(peer);
      std::string answer;
      {
        absl::MutexLock lock(&mu_);
        request_ = request;
        answer = answer_;
      }
      char byte = 0;
      if (answer.empty()) {
        while (recv(peer, &byte, 1, 0) > 0) continue;  // Until the client gives up.
      }
      send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }
  static std::string ReadRequest(int peer) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::string text;
    std::size_t wanted = std::string::npos;
    char bytes[4096];
    for (ssize_t got; text.size() < wanted && (got = recv(peer, bytes, sizeof bytes, 0)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(got));
      const std::size_t head = text.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      wanted = head + 4;
      if (const std::size_t at = text.find(kLength); at < head) {
        std::size_t length = 0;
        const std::size_t begin = at + kLength.size();
        if (absl::SimpleAtoi(text.substr(begin, text.find('\r', begin) - begin), &length)) {
          wanted += length;
        }
      }
    }
    return text;
  }

  int fd_ = -1;
  std::string url_;
  mutable absl::Mutex mu_;
  std::string answer_ ABSL_GUARDED_BY(mu_);
  std::string request_ ABSL_GUARDED_BY(mu_);
  std::jthread thread_;
};

class RestTest : public ::testing::Test {
 protected:
  RestTest() {
    std::string pattern = "/tmp/vrest-XXXXXX";  // Short, for its socket.
    folder_ = mkdtemp(pattern.data());
    WriteToken("secret-1");
    rest_ = Rest(server_.url());
    std::ofstream(folder_ + "/job.sh") << "#!/bin/sh\ntrue\n";
  }
  ~RestTest() override {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  std::string token_file() const { return folder_ + "/token"; }
  void WriteToken(const std::string& content) const {
    std::ofstream(token_file()) << content;
    chmod(token_file().c_str(), 0600);
  }
  std::unique_ptr<Slurm> Rest(const std::string& url) const {
    return NewSlurmRest(
        {.url = url, .user = "ada", .token_file = token_file(), .patience = absl::Seconds(30)});
  }
  BatchJob Job() const {
    return {.name = "a",
            .comment = "vernier /s/it's",
            .script = folder_ + "/job.sh",
            .output = "/s/%j.log",
            .directory = "/s",
            .components = {{.tasks = 1, .cpus = 1.5, .memory_bytes = std::int64_t{3} << 30}},
            .time_limit = absl::Seconds(61),
            .site = {.partition = "gpu"}};
  }

  std::string folder_;
  Server server_;
  std::unique_ptr<Slurm> rest_;
};

TEST_F(RestTest, AJobIsPosted) {
  server_.Say(Answer(200, ::vernier::testing::SlurmSample("rest_accepted_22_05.json")));
  EXPECT_EQ(rest_->Submit(Job()).value(), 1);
  const std::string request = server_.request();
  EXPECT_THAT(request, StartsWith("POST /slurm/v0.0.38/job/submit HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("X-SLURM-USER-NAME: ada\r\n"));
  EXPECT_THAT(request, HasSubstr("X-SLURM-USER-TOKEN: secret-1\r\n"));
  const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
  EXPECT_EQ(body["script"], "#!/bin/sh\ntrue\n");
  const Json& job = body["job"];
  EXPECT_EQ(job["comment"], "vernier /s/it's");
  EXPECT_EQ(job["cpus_per_task"], 2);
  EXPECT_EQ(job["memory_per_cpu"], 1536);
  EXPECT_EQ(job["time_limit"], 2);
  EXPECT_EQ(job["partition"], "gpu");
  EXPECT_EQ(job["no_requeue"], true);
  EXPECT_FALSE(job.contains("requeue"));
  EXPECT_EQ(job["standard_output"], "/s/%%j.log");
  EXPECT_FALSE(job.contains("gpus_per_task"));
  EXPECT_FALSE(job.contains("account"));
}

TEST_F(RestTest, AJobThatHasToWaitIsAccepted) {
  server_.Say(Answer(200, ::vernier::testing::SlurmSample("rest_waits_22_05.json")));
  EXPECT_EQ(rest_->Submit(Job()).value(), 2);
}

TEST_F(RestTest, SaysWhySlurmRefuses) {
  server_.Say(Answer(500, ::vernier::testing::SlurmSample("rest_refused_22_05.json")));
  EXPECT_THAT(rest_->Submit(Job()),
              StatusIs(kInvalidArgument, HasSubstr("Invalid partition name specified")));
  BatchJob job = Job();
  job.site.arguments = {"--nice"};
  EXPECT_THAT(rest_->Submit(job), StatusIs(kInvalidArgument, HasSubstr("'--nice'")));
  EXPECT_THAT(rest_->Test(job), StatusIs(kInvalidArgument, HasSubstr("'--nice'")));
  EXPECT_THAT(rest_->Test(Job()), IsOk());
  job = Job();
  job.script = folder_ + "/none";
  EXPECT_THAT(rest_->Submit(job), StatusIs(kFailedPrecondition, HasSubstr("cannot be read")));
}

TEST_F(RestTest, ListsAreRead) {
  server_.Say(Answer(200, ::vernier::testing::SlurmSample("squeue_22_05.json")));
  EXPECT_THAT(rest_->Jobs().value(), Not(IsEmpty()));
  EXPECT_THAT(server_.request(), StartsWith("GET /slurm/v0.0.38/jobs HTTP/1.1\r\n"));
  server_.Say(Answer(200, ::vernier::testing::SlurmSample("sinfo_22_05.json")));
  EXPECT_EQ(rest_->Nodes().value().size(), 4U);
  EXPECT_THAT(server_.request(), StartsWith("GET /slurm/v0.0.38/nodes HTTP/1.1\r\n"));
}

TEST_F(RestTest, StopsAndCancels) {
  server_.Say(Answer(200, ::vernier::testing::SlurmSample("rest_done_22_05.json")));
  EXPECT_THAT(rest_->Stop(7, Listener::kStep), IsOk());
  EXPECT_THAT(server_.request(), StartsWith("DELETE /slurm/v0.0.38/job/7?signal=URG HTTP"));
  EXPECT_THAT(rest_->Cancel(7), IsOk());
  EXPECT_THAT(server_.request(), StartsWith("DELETE /slurm/v0.0.38/job/7 HTTP"));
  server_.Say(Answer(500, ::vernier::testing::SlurmSample("rest_no_job_22_05.json")));
  EXPECT_THAT(rest_->Stop(9999, Listener::kStep), IsOk());
  EXPECT_THAT(rest_->Cancel(9999), IsOk());
}

TEST_F(RestTest, NothingIsKnownWithoutAnAnswerOfTheController) {
  const auto expect_unavailable = [&](const std::string& answer, const std::string& words) {
    server_.Say(answer);
    EXPECT_THAT(rest_->Jobs(), StatusIs(kUnavailable, HasSubstr(words)));
    EXPECT_THAT(rest_->Nodes(), StatusIs(kUnavailable, HasSubstr(words)));
    EXPECT_THAT(rest_->Submit(Job()), StatusIs(kUnavailable, HasSubstr(words)));
    EXPECT_THAT(rest_->Cancel(1), StatusIs(kUnavailable, HasSubstr(words)));
    EXPECT_THAT(rest_->Jobs(), StatusIs(kUnavailable, Not(HasSubstr("secret"))));
  };
  expect_unavailable(Answer(500, ::vernier::testing::SlurmSample("rest_no_token_22_05.json")),
                     "token is not valid");
  expect_unavailable(Answer(500, ::vernier::testing::SlurmSample("rest_no_controller_22_05.json")),
                     "connect failure");
  expect_unavailable(Answer(401, "Authentication failure"), "refuses user 'ada' and the token");
  expect_unavailable(Answer(502, "<html>Bad Gateway</html>"), "HTTP status 502");
  expect_unavailable(Answer(500, R"({"errors": [], "jobs": [], "nodes": []})"), "HTTP status 500");
  expect_unavailable("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "slurmrestd at http://");
}

TEST_F(RestTest, AnAnswerThatIsNotSlurmsIsAnError) {
  const auto expect_unreadable = [&](const std::string& answer, const std::string& words) {
    server_.Say(answer);
    EXPECT_THAT(rest_->Jobs(), StatusIs(kFailedPrecondition, HasSubstr(words)));
    EXPECT_THAT(rest_->Submit(Job()), StatusIs(kFailedPrecondition, HasSubstr(words)));
    EXPECT_THAT(rest_->Cancel(1), StatusIs(kFailedPrecondition, HasSubstr(words)));
  };
  expect_unreadable(Answer(404, "Unable find requested URL."), "does not have version v0.0.38");
  expect_unreadable(Answer(200, "<html>Log in</html>"), "");
  expect_unreadable(Answer(400, "Unable to parse query."), "HTTP status 400");
  // It is not followed: the token is for one server alone.
  Server other;
  other.Say(Answer(200, R"({"jobs": []})"));
  expect_unreadable(Answer(302, "", "Location: " + other.url() + "/slurm/v0.0.38/jobs"),
                    "HTTP status 302");
  EXPECT_EQ(other.request(), "");
  server_.Say("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{");
  EXPECT_THAT(rest_->Jobs(), StatusIs(kFailedPrecondition, HasSubstr("answered more than")));
  server_.Say(Answer(200, R"({"errors": []})"));
  EXPECT_THAT(rest_->Submit(Job()), StatusIs(kFailedPrecondition, HasSubstr("without a job's id")));
  EXPECT_THAT(rest_->Jobs(), StatusIs(kFailedPrecondition, HasSubstr("no list of jobs")));
}

TEST_F(RestTest, AServerThatDoesNotAnswerIsNotWaitedForLong) {
  const auto hasty = NewSlurmRest({.url = server_.url(), .patience = absl::Milliseconds(50)});
  EXPECT_THAT(hasty->Jobs(), StatusIs(kUnavailable, HasSubstr("imed out")));
}

TEST_F(RestTest, TheTokenIsReadForEachCallAndIsNobodyElses) {
  server_.Say(Answer(200, R"({"jobs": []})"));
  EXPECT_THAT(rest_->Jobs(), IsOk());
  WriteToken("SLURM_JWT=secret-2\n");  // As scontrol prints it.
  EXPECT_THAT(rest_->Jobs(), IsOk());
  EXPECT_THAT(server_.request(), HasSubstr("X-SLURM-USER-TOKEN: secret-2\r\n"));
  const auto expect_refused = [&](const std::string& words) {
    EXPECT_THAT(rest_->Jobs(),
                StatusIs(kUnavailable, AllOf(HasSubstr(words), Not(HasSubstr("secret")))));
  };
  chmod(token_file().c_str(), 0640);
  expect_refused("may be read by others");
  WriteToken("secret\r\nX-Other: 1");
  expect_refused("must hold one line");
  WriteToken("\n");
  expect_refused("must hold one line");
  WriteToken(std::string(20'000, 'a'));
  expect_refused("cannot be read");
  fs::remove(token_file());
  expect_refused("cannot be read");
}

TEST_F(RestTest, ASocketNeedsNoToken) {
  Server local(folder_ + "/rest.sock");
  local.Say(Answer(200, R"({"jobs": []})"));
  const auto rest = NewSlurmRest({.url = local.url()});
  EXPECT_THAT(rest->Jobs(), IsOk());
  EXPECT_THAT(local.request(), Not(HasSubstr("TOKEN")));
  EXPECT_THAT(NewSlurmRest({.url = "unix:" + folder_ + "/none"})->Jobs(), StatusIs(kUnavailable));
}

// A server whose certificate nobody has signed but itself.
TEST_F(RestTest, ACertificateThatIsNotTrustedIsRefused) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const auto* const host = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  ASSERT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.get(), key.get()), 1);

  sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  std::string got;
  std::jthread server([&] {
    const int peer = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
    const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
    SSL_set_fd(session.get(), peer);
    char bytes[4096];
    const int count =
        SSL_accept(session.get()) == 1 ? SSL_read(session.get(), bytes, sizeof bytes) : 0;
    if (count > 0) got.assign(bytes, static_cast<std::size_t>(count));
    close(peer);
  });
  EXPECT_THAT(Rest(fmt::format("https://localhost:{}", ntohs(address.sin_port)))->Jobs(),
              StatusIs(kUnavailable, HasSubstr("certificate")));
  server.join();
  close(fd);
  EXPECT_EQ(got, "");
}

TEST(SubmitBody, HasTheFormOfEachVersion) {
  const BatchJob job{.name = "a",
                     .comment = "vernier /x",
                     .script = "/x/job.sh",
                     .output = "/x/slurm.log",
                     .directory = "/x",
                     .components = {{.cpus = 1.5, .memory_bytes = std::int64_t{3} << 20},
                                    {.tasks = 2, .gpus = 1, .gpu_type = "a100"}},
                     .time_limit = absl::Seconds(61),
                     .site = {.qos = "high"}};
  const auto body = [&](const BatchJob& of, const std::string& version) {
    return Json::parse(SubmitBody(of, "#!/bin/sh\n", version));
  };
  const Json old = body(job, "v0.0.38");
  EXPECT_EQ(old["script"], "#!/bin/sh\n");
  ASSERT_EQ(old["jobs"].size(), 2U);
  EXPECT_EQ(old["jobs"][0]["cpus_per_task"], 2);
  EXPECT_EQ(old["jobs"][0]["memory_per_cpu"], 2);
  EXPECT_EQ(old["jobs"][0]["time_limit"], 2);
  EXPECT_EQ(old["jobs"][0]["standard_output"], "/x/slurm.log");
  EXPECT_TRUE(old["jobs"][0]["environment"].is_object());
  EXPECT_EQ(old["jobs"][1]["gpus_per_task"], "a100:1");
  EXPECT_EQ(old["jobs"][1]["qos"], "high");
  EXPECT_EQ(old["jobs"][1]["no_requeue"], true);
  EXPECT_FALSE(old["jobs"][1].contains("requeue"));
  const Json first = body(job, "v0.0.39");
  EXPECT_EQ(first["script"], "#!/bin/sh\n");
  EXPECT_TRUE(first["jobs"][0]["environment"].is_array());
  EXPECT_EQ(first["jobs"][0]["memory_per_cpu"],
            Json::parse(R"({"set": true, "infinite": false, "number": 2})"));
  EXPECT_EQ(first["jobs"][1]["time_limit"]["number"], 2);
  EXPECT_EQ(first["jobs"][1]["tres_per_task"], "gres:gpu:a100:1");
  EXPECT_EQ(first["jobs"][1]["requeue"], false);
  const Json newer = body(job, "v0.0.41");
  EXPECT_FALSE(newer.contains("script"));
  EXPECT_EQ(newer["jobs"][0]["script"], "#!/bin/sh\n");
  EXPECT_FALSE(newer["jobs"][1].contains("script"));
  EXPECT_EQ(newer["jobs"][1]["tres_per_task"], "gres/gpu:a100:1");
  BatchJob plain = job;
  plain.components.pop_back();
  EXPECT_TRUE(body(plain, "v0.0.38")["job"].is_object());
  EXPECT_EQ(body(plain, "v0.0.42")["job"]["script"], "#!/bin/sh\n");
}

}  // namespace
}  // namespace vernier::launch::slurm
