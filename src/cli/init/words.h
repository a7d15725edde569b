#pragma once

#include <string>
#include <string_view>
#include <vector>

// Small steps in texts that programs print.
namespace vernier::cli {

std::string_view Stripped(std::string_view text);
std::string Lower(std::string_view text);
// The parts between separators, stripped; empty ones are left out.
std::vector<std::string> SplitAt(std::string_view text, std::string_view separators);
std::vector<std::string_view> LinesOf(std::string_view text);
bool Has(std::string_view text, std::string_view part);

}  // namespace vernier::cli
