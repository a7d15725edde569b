#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/study_file.h"
#include "src/import/imported_study.h"
#include "tests/support/status_matchers.h"

namespace vernier::imports {

// Files that the tools wrote, made by the scripts beside them.
inline std::string DataPath(const std::string& name) {
  const char* const root = std::getenv("VERNIER_ROOT");
  return std::string(root == nullptr ? "." : root) + "/tests/import/data/" + name;
}

// What the tool itself says of its study, written by the same script.
inline nlohmann::json Said(const std::string& name) {
  std::ifstream file(DataPath(name));
  return nlohmann::json::parse(file);
}

// A folder of a test, for files of any content.
class ImportTest : public ::testing::Test {
 protected:
  ImportTest() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string(info->test_suite_name()) + "." + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view content) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static nlohmann::ordered_json Definition(const ImportedStudy& study) {
    return codec::StudySpecToJson(study.spec);
  }
  // The parameter as in a study file, on one line.
  static std::string ParameterOf(const ImportedStudy& study, const std::string& name) {
    return Definition(study)["parameters"][name].dump();
  }

  std::filesystem::path folder_;
};

}  // namespace vernier::imports
