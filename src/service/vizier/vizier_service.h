#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/server_context.h"
#include "src/base/thread_pool.h"
#include "src/service/call_ids.h"
#include "src/service/call_watch.h"
#include "src/service/vizier/names.h"
#include "src/service/vizier/operations.h"
#include "src/service/vizier/trials.h"
#include "vernier/core/clock.h"
#include "vernier/studies.h"
#include "vizier/vizier_service.grpc.pb.h"

namespace vernier::vizier {

// What the service stands on. Nothing is owned; all must outlive it.
struct ServiceParts {
  Studies& studies;
  const Clock& clock;
  service::CallWatch& calls;
  service::CallIds& call_ids;
  // A study was made or changed by a user. Called from any thread.
  std::function<void()> changed;
};

// vizier.VizierService, for clients of open-source Vizier: decode, call Studies, encode. What each call comes to, and where
// that differs from Vizier's own server, is in docs/guides/coming-from-vizier.md. Thread-safe.
//
// The actor of a change is the client's id where the request or the trial has one, else "vizier".
//
// CreateTrial and CompleteTrial, which a loop of trials waits for most, hold no thread while the disk is written: they are
// answered by whoever learns that their change is durable. All others are served synchronously.
class VizierServiceImpl final : public ::vizier::VizierService::WithCallbackMethod_CreateTrial<
                                    ::vizier::VizierService::WithCallbackMethod_CompleteTrial<
                                        ::vizier::VizierService::Service>> {
 public:
  explicit VizierServiceImpl(ServiceParts parts) : parts_(std::move(parts)) {}

  // --- study_calls.cc ---
  grpc::Status CreateStudy(grpc::ServerContext* context,
                           const ::vizier::CreateStudyRequest* request,
                           ::vizier::Study* response) override;
  grpc::Status GetStudy(grpc::ServerContext* context,
                        const ::vizier::GetStudyRequest* request,
                        ::vizier::Study* response) override;
  grpc::Status ListStudies(grpc::ServerContext* context,
                           const ::vizier::ListStudiesRequest* request,
                           ::vizier::ListStudiesResponse* response) override;
  grpc::Status DeleteStudy(grpc::ServerContext* context,
                           const ::vizier::DeleteStudyRequest* request,
                           google::protobuf::Empty* response) override;
  grpc::Status SetStudyState(grpc::ServerContext* context,
                             const ::vizier::SetStudyStateRequest* request,
                             ::vizier::Study* response) override;
  grpc::Status UpdateMetadata(grpc::ServerContext* context,
                              const ::vizier::UpdateMetadataRequest* request,
                              ::vizier::UpdateMetadataResponse* response) override;

  // --- trial_calls.cc ---
  grpc::Status SuggestTrials(grpc::ServerContext* context,
                             const ::vizier::SuggestTrialsRequest* request,
                             google::longrunning::Operation* response) override;
  // One of the last kOperations suggestions, unless its study was deleted.
  grpc::Status GetOperation(grpc::ServerContext* context,
                            const google::longrunning::GetOperationRequest* request,
                            google::longrunning::Operation* response) override;
  grpc::ServerUnaryReactor* CreateTrial(grpc::CallbackServerContext* context,
                                        const ::vizier::CreateTrialRequest* request,
                                        ::vizier::Trial* response) override;
  grpc::Status GetTrial(grpc::ServerContext* context,
                        const ::vizier::GetTrialRequest* request,
                        ::vizier::Trial* response) override;
  grpc::Status ListTrials(grpc::ServerContext* context,
                          const ::vizier::ListTrialsRequest* request,
                          ::vizier::ListTrialsResponse* response) override;
  grpc::Status AddTrialMeasurement(grpc::ServerContext* context,
                                   const ::vizier::AddTrialMeasurementRequest* request,
                                   ::vizier::Trial* response) override;
  grpc::ServerUnaryReactor* CompleteTrial(grpc::CallbackServerContext* context,
                                          const ::vizier::CompleteTrialRequest* request,
                                          ::vizier::Trial* response) override;
  grpc::Status DeleteTrial(grpc::ServerContext* context,
                           const ::vizier::DeleteTrialRequest* request,
                           google::protobuf::Empty* response) override;
  grpc::Status CheckTrialEarlyStoppingState(
      grpc::ServerContext* context,
      const ::vizier::CheckTrialEarlyStoppingStateRequest* request,
      ::vizier::CheckTrialEarlyStoppingStateResponse* response) override;
  grpc::Status StopTrial(grpc::ServerContext* context,
                         const ::vizier::StopTrialRequest* request,
                         ::vizier::Trial* response) override;
  grpc::Status ListOptimalTrials(grpc::ServerContext* context,
                                 const ::vizier::ListOptimalTrialsRequest* request,
                                 ::vizier::ListOptimalTrialsResponse* response) override;

 private:
  static constexpr std::size_t kOperations = 1000;
  static constexpr std::size_t kClients = 100000;
  static constexpr std::size_t kKnown = 1000;

  // A study, as far as its trials' calls need it.
  struct Known {
    StudyId id;
    // Shared with calls in flight. Null only from FindAtHand.
    std::shared_ptr<const TrialCodec> codec;
  };
  // A trial and its study.
  struct Found {
    Known study;
    Trial trial;
    TrialId id() const { return {study.id, trial.number}; }
  };
  absl::StatusOr<Study> FindStudy(std::string_view field, const std::string& resource) const;
  // Without copying the study, or waiting for what others change of it.
  absl::StatusOr<Known> FindKnown(std::string_view field, const std::string& resource);
  absl::StatusOr<Known> FindKnown(const StudyName& name);
  // Without loading the study: if that is needed, without its codec.
  absl::StatusOr<Known> FindAtHand(const StudyName& name);
  absl::StatusOr<Found> FindTrial(std::string_view field, const std::string& resource);
  // FailedPrecondition: the study has ended or is paused.
  absl::StatusOr<Found> FindTrialToChange(std::string_view field, const std::string& resource);
  // With one objective all trials that tie, without any all that completed.
  absl::StatusOr<std::vector<TrialNumber>> ListOptimal(StudyId id) const;
  // With its measurements.
  absl::Status EncodeTrial(const Known& study, const Trial& trial, ::vizier::Trial* out) const;
  // Runs `work` and turns what it returns into what the client sees: reply.h.
  template <typename Work>
  grpc::Status Reply(std::string_view method, Work work) const;
  grpc::Status ReplyOf(const absl::Status& status, std::string_view method) const;
  // To be called once, from any thread.
  using Answer = std::function<void(const absl::Status&)>;
  // Runs `work(known, answer)`, which calls `answer`, or has it called, unless it returns an error: on the thread that gRPC
  // lent if the study is at hand, elsewhere if it must be loaded.
  template <typename Work>
  grpc::ServerUnaryReactor* ReplyLater(grpc::CallbackServerContext* context,
                                       std::string_view method,
                                       const absl::StatusOr<StudyName>& name,
                                       Work work);
  // As EncodeTrial; on a thread of its own if measurements must be read.
  void AnswerTrial(const Known& study,
                   const absl::StatusOr<Trial>& trial,
                   ::vizier::Trial* response,
                   const Answer& answer);
  absl::StatusOr<Study> SetState(const Study& study,
                                 ::vizier::Study::State state,
                                 const Caller& caller);

  const ServiceParts parts_;
  absl::Mutex mu_;
  // Of the studies last called for; a study's number is never used again.
  absl::flat_hash_map<StudyId, std::shared_ptr<const TrialCodec>> codecs_ ABSL_GUARDED_BY(mu_);
  Operations operations_{kOperations, kClients};
  static constexpr int kMostSideThreads = 64;
  base::ThreadPool side_threads_{
      kMostSideThreads};  // Goes first: what it runs uses all of the above.
};

}  // namespace vernier::vizier
