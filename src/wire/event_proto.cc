#include "src/wire/event_proto.h"

#include <string>
#include <utility>

#include "nlohmann/json.hpp"
#include "src/codec/event_json.h"
#include "src/core/status.h"
#include "src/wire/time_proto.h"
#include "vernier/core/error.h"

namespace vernier::wire {

void EncodeEvent(const Event& event, v1::StudyEvent* out) {
  out->set_seq(event.seq.value());
  EncodeTime(event.time, out->mutable_time());
  out->set_actor(event.actor);
  out->set_request_id(event.request_id);
  out->set_kind(std::string(EventKind(event.payload)));
  out->set_trial(EventTrial(event.payload).value());
  // Text from outside programs may hold anything; a message carries UTF-8 only.
  out->set_payload_json(
      codec::PayloadToJson(event.payload)
          .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

absl::StatusOr<Event> DecodeEvent(const v1::StudyEvent& proto) {
  // Bad JSON must not throw; it is told of as an error below.
  const auto payload = nlohmann::ordered_json::parse(proto.payload_json(), nullptr, false);
  if (payload.is_discarded()) {
    return DataLoss("event {}: its payload is not JSON", proto.seq());
  }
  VERNIER_ASSIGN_OR_RETURN(EventPayload decoded, codec::PayloadFromJson(proto.kind(), payload));
  return Event{.seq = EventSeq(proto.seq()),
               .time = DecodeTime(proto.time()),
               .actor = proto.actor(),
               .request_id = proto.request_id(),
               .payload = std::move(decoded)};
}

}  // namespace vernier::wire
