#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "src/base/keyed_threads.h"
#include "src/base/thread_pool.h"
#include "src/service/attempt_tokens.h"
#include "src/service/call_ids.h"
#include "src/service/call_watch.h"
#include "src/service/log_source.h"
#include "src/service/outcome_book.h"
#include "src/service/server_state.h"
#include "src/service/study_watches.h"
#include "src/service/trial_lists.h"
#include "vernier/core/clock.h"
#include "vernier/engine.h"
#include "vernier/studies.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::service {

// What the service stands on. Nothing is owned; all must outlive it.
struct ServiceParts {
  Studies& studies;
  LogSource& logs;
  ServerState& server;
  const Clock& clock;
  CallWatch& calls;
  CallIds& call_ids;
  // A study was made or changed by a user: whoever keeps studies moving should look. Called from any thread.
  std::function<void()> changed;
  // A client wants the study's job to be run: it was created, given a definition, or resumed. Called from any thread, before
  // `changed`.
  std::function<void(const std::string& study)> wanted = [](const std::string&) {};
  // What the study layer cannot know of a definition: what its job comes to here, whether it can be started and its
  // metrics be read. Returns the definition to store.  InvalidArgument: a FieldError.
  std::function<absl::StatusOr<StudySpec>(StudySpec)> prepare_job;
  // Where packages of training jobs are kept; absolute.
  std::string packages_directory;
  // For GetServerInfo.
  std::string version;
  std::string store;
  // Of attempts whose programs may report. Null: there are none.
  const AttemptTokens* tokens = nullptr;
};

// Calls of those who work on trials hold no thread while they wait for the disk.
using ServiceOfTrials = v1::StudyService::WithCallbackMethod_StopTrial<
    v1::StudyService::WithCallbackMethod_MarkTrialInfeasible<
        v1::StudyService::WithCallbackMethod_FailTrial<
            v1::StudyService::WithCallbackMethod_CompleteTrial<
                v1::StudyService::WithCallbackMethod_ReportMeasurement<
                    v1::StudyService::WithCallbackMethod_HeartbeatTrial<
                        v1::StudyService::WithCallbackMethod_CreateTrial<
                            v1::StudyService::WithCallbackMethod_AddTrials<
                                v1::StudyService::WithCallbackMethod_SuggestTrials<
                                    v1::StudyService::Service>>>>>>>>>;

// vernier.v1.StudyService: decode, call Studies, encode. Thread-safe.
//
// The actor of a change is the request's client_id, or else the call's metadata "x-vernier-actor", or else "user".
class StudyServiceImpl final
    : public v1::StudyService::WithCallbackMethod_WatchStudy<ServiceOfTrials> {
 public:
  explicit StudyServiceImpl(ServiceParts parts);

  // Ends the calls that wait for events, and those that come later.
  void EndWatches() { watches_.Shutdown(); }

  // --- study_calls.cc, server_calls.cc ---
  grpc::Status CreateStudy(grpc::ServerContext* context,
                           const v1::CreateStudyRequest* request,
                           v1::Study* response) override;
  grpc::Status GetStudy(grpc::ServerContext* context,
                        const v1::GetStudyRequest* request,
                        v1::Study* response) override;
  grpc::Status ListStudies(grpc::ServerContext* context,
                           const v1::ListStudiesRequest* request,
                           v1::ListStudiesResponse* response) override;
  grpc::Status UpdateStudy(grpc::ServerContext* context,
                           const v1::UpdateStudyRequest* request,
                           v1::Study* response) override;
  grpc::Status DeleteStudy(grpc::ServerContext* context,
                           const v1::DeleteStudyRequest* request,
                           google::protobuf::Empty* response) override;
  grpc::Status PauseStudy(grpc::ServerContext* context,
                          const v1::PauseStudyRequest* request,
                          v1::Study* response) override;
  grpc::Status ResumeStudy(grpc::ServerContext* context,
                           const v1::ResumeStudyRequest* request,
                           v1::Study* response) override;
  grpc::Status StopStudy(grpc::ServerContext* context,
                         const v1::StopStudyRequest* request,
                         v1::Study* response) override;
  grpc::Status FinishStudy(grpc::ServerContext* context,
                           const v1::FinishStudyRequest* request,
                           v1::Study* response) override;
  grpc::Status ReplayStudy(grpc::ServerContext* context,
                           const v1::ReplayStudyRequest* request,
                           v1::ReplayStudyResponse* response) override;
  grpc::Status GetServerInfo(grpc::ServerContext* context,
                             const v1::GetServerInfoRequest* request,
                             v1::ServerInfo* response) override;
  grpc::Status CleanUp(grpc::ServerContext* context,
                       const v1::CleanUpRequest* request,
                       v1::CleanUpResponse* response) override;

  // --- trial_calls.cc ---
  grpc::Status GetTrial(grpc::ServerContext* context,
                        const v1::GetTrialRequest* request,
                        v1::Trial* response) override;
  grpc::Status ListTrials(grpc::ServerContext* context,
                          const v1::ListTrialsRequest* request,
                          v1::ListTrialsResponse* response) override;
  grpc::Status ListMeasurements(grpc::ServerContext* context,
                                const v1::ListMeasurementsRequest* request,
                                v1::ListMeasurementsResponse* response) override;
  grpc::ServerUnaryReactor* CreateTrial(grpc::CallbackServerContext* context,
                                        const v1::CreateTrialRequest* request,
                                        v1::Trial* response) override;
  grpc::ServerUnaryReactor* AddTrials(grpc::CallbackServerContext* context,
                                      const v1::AddTrialsRequest* request,
                                      v1::AddTrialsResponse* response) override;
  grpc::ServerUnaryReactor* SuggestTrials(grpc::CallbackServerContext* context,
                                          const v1::SuggestTrialsRequest* request,
                                          v1::SuggestTrialsResponse* response) override;
  grpc::Status PredictPoints(grpc::ServerContext* context,
                             const v1::PredictPointsRequest* request,
                             v1::PredictPointsResponse* response) override;
  grpc::ServerUnaryReactor* HeartbeatTrial(grpc::CallbackServerContext* context,
                                           const v1::HeartbeatTrialRequest* request,
                                           v1::Trial* response) override;
  grpc::Status EndLease(grpc::ServerContext* context,
                        const v1::EndLeaseRequest* request,
                        v1::Trial* response) override;
  grpc::ServerUnaryReactor* ReportMeasurement(grpc::CallbackServerContext* context,
                                              const v1::ReportMeasurementRequest* request,
                                              v1::ReportMeasurementResponse* response) override;
  grpc::ServerUnaryReactor* CompleteTrial(grpc::CallbackServerContext* context,
                                          const v1::CompleteTrialRequest* request,
                                          v1::Trial* response) override;
  grpc::ServerUnaryReactor* FailTrial(grpc::CallbackServerContext* context,
                                      const v1::FailTrialRequest* request,
                                      v1::Trial* response) override;
  grpc::ServerUnaryReactor* MarkTrialInfeasible(grpc::CallbackServerContext* context,
                                                const v1::MarkTrialInfeasibleRequest* request,
                                                v1::Trial* response) override;
  grpc::ServerUnaryReactor* StopTrial(grpc::CallbackServerContext* context,
                                      const v1::StopTrialRequest* request,
                                      v1::Trial* response) override;
  grpc::Status DeleteTrial(grpc::ServerContext* context,
                           const v1::DeleteTrialRequest* request,
                           google::protobuf::Empty* response) override;

  // --- stream_calls.cc ---
  StudyWatches::Reactor* WatchStudy(grpc::CallbackServerContext* context,
                                    const v1::WatchStudyRequest* request) override;
  grpc::Status StreamTrialLogs(grpc::ServerContext* context,
                               const v1::StreamTrialLogsRequest* request,
                               grpc::ServerWriter<v1::LogLine>* writer) override;

  // --- package_calls.cc ---
  grpc::Status UploadPackage(grpc::ServerContext* context,
                             grpc::ServerReader<v1::UploadPackageRequest>* requests,
                             v1::UploadedPackage* response) override;

 private:
  // A trial of a study, as a request names it.
  struct Named {
    std::string study;
    TrialId id;
  };
  absl::StatusOr<StudyId> FindStudy(std::string_view field, const std::string& name) const;
  // Checks the definition or the job that the change brings, and fills in what follows from it.
  absl::Status PrepareAmendment(StudyId id, Amendment& change) const;
  absl::StatusOr<Named> FindTrial(std::string_view field, const std::string& name) const;
  // The study that a trial is to be created in; the trial has no number yet.
  absl::StatusOr<Named> FindParent(const std::string& parent) const;
  // By whoever may: the client with the lease, or a program with the token of its attempt.
  absl::Status Report(const TrialId& id,
                      std::vector<Measurement> measurements,
                      const v1::ReportMeasurementRequest& request,
                      const Caller& caller,
                      Trials::OnReported reported) const;
  // PermissionDenied: it is none of the trial's.
  absl::StatusOr<AttemptId> CheckToken(const TrialId& id, const std::string& token) const;
  // The trial as clients see it, how far it keeps the outcome constraints included.
  void EncodeTrial(std::string_view study, StudyId id, const Trial& trial, v1::Trial* out);
  // Runs `work` and turns what it returns into what the client sees.
  template <typename Work>
  grpc::Status Reply(std::string_view method, std::string_view request_id, Work work);
  // As Reply, for a change of what the request names, without waiting for it: work(named, answer) has `answer` called once
  // with how it ended, or returns an error. It runs in another thread if it may have to read from the store.
  using Answer = std::function<void(const absl::Status&)>;
  template <typename Work>
  grpc::ServerUnaryReactor* ReplyLater(grpc::CallbackServerContext* context,
                                       std::string_view method,
                                       const std::string& request_id,
                                       const absl::StatusOr<Named>& named,
                                       Work work);
  // Has `answer` called with the trial in the response.
  Trials::OnTrial AnswerWith(const Named& named, v1::Trial* response, Answer answer);
  // Studies::Resume; with `if_paused`, of a study that is ACTIVE nothing.
  absl::StatusOr<Study> ResumeOne(StudyId id, bool if_paused, const Caller& caller);
  // Changes the study that the request names by change(id, caller), and answers with it.
  template <typename Request, typename Change>
  grpc::Status SteerStudy(grpc::ServerContext* context,
                          std::string_view method,
                          const Request& request,
                          v1::Study* response,
                          Change change);
  // As Reply, for work that takes its time: not run if nobody waits for its answer any more (which other calls do not ask:
  // gRPC takes a while to say), and it gets a token that fires when the client goes away, the deadline passes or the server
  // shuts down.
  template <typename Work>
  grpc::Status ReplyLong(grpc::ServerContext* context,
                         std::string_view method,
                         std::string_view request_id,
                         Work work);
  // The status of a call; of one that was given up, by whom, which its stop token does not say.
  absl::Status WhyGivenUp(const absl::Status& status) const {
    return absl::IsCancelled(status) ? parts_.calls.Stopped() : status;
  }

  absl::Status ReadStudies(const v1::ListStudiesRequest& request,
                           const wire::PageToken& begin,
                           const std::function<bool(const Study&)>& take) const;
  absl::StatusOr<StudyWatches::Subscription> DecodeWatch(const v1::WatchStudyRequest& request);

  const ServiceParts parts_;
  const absl::Time started_;
  OutcomeBook outcomes_;
  TrialLists lists_;
  StudyWatches watches_;
  // Studies whose suggestions are computed at once; the clients of each wait in line.
  static constexpr int kMostSuggesting = 64;
  // Go first: what they run uses all of the above.
  base::ThreadPool side_threads_{4};  // For changes of studies that are not in memory.
  base::KeyedThreads suggesting_threads_{kMostSuggesting};
};

}  // namespace vernier::service
