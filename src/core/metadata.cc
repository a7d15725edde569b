#include "vernier/core/metadata.h"

namespace vernier {

void Merge(const Metadata& values, Metadata& metadata) {
  for (const auto& [key, value] : values) metadata.insert_or_assign(key, value);
}

}  // namespace vernier
