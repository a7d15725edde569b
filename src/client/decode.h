#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vernier/client.h"
#include "vernier/v1/study_service.pb.h"

// What only the client has to translate.
namespace vernier::client {

ReplaySummary DecodeReplay(const v1::ReplayStudyResponse& response);
PredictedPoint DecodePrediction(const v1::PredictPointsResponse::Prediction& prediction);
ServerStatus DecodeServerInfo(const v1::ServerInfo& info);
TrialLogLine DecodeLogLine(const v1::LogLine& line);
v1::StreamTrialLogsRequest EncodeLogQuery(std::string_view trial, const TrialLogQuery& query);
void EncodeAmendment(const Client::Amendment& change, v1::UpdateStudyRequest* request);
// A measurement to be reported: times that are not set are left for the server to set.
void EncodeReport(const Measurement& measurement, v1::Measurement* out);

// How many rows to ask for, and whether there are enough, if `limit` (0: none) are wanted and `have` are there.
std::int32_t PageSize(std::int64_t limit, std::size_t have);
bool IsFull(std::int64_t limit, std::size_t have);

template <typename Row, typename Protos, typename Decode>
absl::Status AppendDecoded(const Protos& protos, Decode decode, std::vector<Row>* rows) {
  for (const auto& proto : protos) {
    VERNIER_ASSIGN_OR_RETURN(Row row, decode(proto));
    rows->push_back(std::move(row));
  }
  return absl::OkStatus();
}

template <typename Row, typename Protos, typename Decode>
absl::StatusOr<std::vector<Row>> DecodeAll(const Protos& protos, Decode decode) {
  std::vector<Row> rows;
  VERNIER_RETURN_IF_ERROR(AppendDecoded(protos, decode, &rows));
  return rows;
}

}  // namespace vernier::client
