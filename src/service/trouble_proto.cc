#include "src/service/trouble_proto.h"

#include <string>

#include "src/wire/names.h"
#include "src/wire/time_proto.h"
#include "vernier/core/error.h"

namespace vernier::service {

void EncodeTrouble(const StudyTrouble& trouble, v1::StudyTrouble* out) {
  if (!trouble.name.empty()) out->set_study(wire::StudyResource(trouble.name));
  out->set_error(std::string(trouble.error.message()));
  if (const Reason reason = GetReason(trouble.error); reason != Reason::kNone) {
    out->set_reason(std::string(ReasonName(reason)));
  }
  wire::EncodeTime(trouble.since, out->mutable_since());
  wire::EncodeTime(trouble.next_try, out->mutable_next_try_time());
}

}  // namespace vernier::service
