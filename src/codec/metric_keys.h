#pragma once

#include <array>
#include <utility>

#include "vernier/core/study.h"

namespace vernier::codec {

// The key under which a study file gives the text of each kind of metric source. kName has none.
inline constexpr std::array<std::pair<const char*, MetricSourceKind>, 5> kMetricSources = {{
    {"after", MetricSourceKind::kAfter},
    {"json", MetricSourceKind::kJson},
    {"regex", MetricSourceKind::kRegex},
    {"tfevents", MetricSourceKind::kTfevents},
    {"hypertune", MetricSourceKind::kHypertune},
}};

}  // namespace vernier::codec
