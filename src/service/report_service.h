#pragma once

#include "src/service/study_service.h"
#include "vernier/v1/study_service.grpc.pb.h"

namespace vernier::service {

// What programs of attempts may call: ReportMeasurement with the token of their attempt. Everything else is UNIMPLEMENTED,
// so that a program, or a container that sees the socket, can do no more than report. Thread-safe.
class ReportService final
    : public v1::StudyService::WithCallbackMethod_ReportMeasurement<v1::StudyService::Service> {
 public:
  // Not owned; must outlive this.
  explicit ReportService(StudyServiceImpl& studies) : studies_(studies) {}

  grpc::ServerUnaryReactor* ReportMeasurement(grpc::CallbackServerContext* context,
                                              const v1::ReportMeasurementRequest* request,
                                              v1::ReportMeasurementResponse* response) override {
    if (!request->attempt_token().empty()) {
      return studies_.ReportMeasurement(context, request, response);
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::PERMISSION_DENIED, "attempt_token: is needed"});
    return reactor;
  }

 private:
  StudyServiceImpl& studies_;
};

}  // namespace vernier::service
