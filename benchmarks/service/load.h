#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

// What the load clients share.
namespace vernier {

// User and system time of a process, seconds; 0 if there is none.
inline double CpuSeconds(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.empty()) return 0;
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t kUserTime = 11;  // Fields 14 and 15, counted from the third.
  if (fields.size() <= kUserTime + 1) return 0;
  return (std::stod(fields[kUserTime]) + std::stod(fields[kUserTime + 1])) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

inline double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace vernier
