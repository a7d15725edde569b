#pragma once

#include <vector>

#include "src/cli/gcloud/format.h"
#include "src/cli/terminal/output.h"

namespace vernier::gcloud {

// Prints rows, one value for each column of the format, as a table: sorted, aligned, and in a box if the format has
// one.
void PrintTable(const FormatSpec& format,
                std::vector<std::vector<Json>> rows,
                bool headings,
                cli::Console& console);

}  // namespace vernier::gcloud
