#pragma once

#include <vector>

#include "src/cli/gcloud/format.h"
#include "src/cli/terminal/output.h"

namespace vernier::gcloud {

// How an answer is printed.
struct PrintOptions {
  bool is_list = false;  // Otherwise one resource.
  bool headings = true;
};

// Prints the resources in the format.
// REQUIRES: the format has a name; table and csv have columns.
void Print(const FormatSpec& format,
           const std::vector<Json>& resources,
           const PrintOptions& options,
           const TimeFrame& frame,
           cli::Console& console);

}  // namespace vernier::gcloud
