#include "src/jobs/machine_catalogue.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/status_matchers.h"

namespace vernier::jobs {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::IsSupersetOf;
using testing::StatusIs;
using Json = nlohmann::ordered_json;

const MachineCatalogue& Catalogue() { return StandardCatalogue(); }

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

absl::Status Check(const std::string& machine, const std::string& gpu, int count) {
  return CheckGpus(Catalogue(), machine, gpu, count, {"acceleratorConfig"});
}

// The table of AI Platform Training's documentation, «Using GPUs»: which counts go with which machine type.
struct TableRow {
  std::vector<std::string> machines;
  std::map<std::string, std::vector<int>> counts;
};

std::vector<TableRow> DocumentedTable() {
  return {
      {{"n1-standard-4", "n1-standard-8", "n1-highmem-2", "n1-highmem-4", "n1-highmem-8"},
       {{"K80", {1, 2, 4, 8}},
        {"P4", {1, 2, 4}},
        {"P100", {1, 2, 4}},
        {"T4", {1, 2, 4}},
        {"V100", {1, 2, 4, 8}}}},
      {{"n1-standard-16", "n1-highmem-16", "n1-highcpu-16"},
       {{"K80", {2, 4, 8}},
        {"P4", {1, 2, 4}},
        {"P100", {1, 2, 4}},
        {"T4", {1, 2, 4}},
        {"V100", {2, 4, 8}}}},
      {{"n1-standard-32", "n1-highmem-32", "n1-highcpu-32"},
       {{"K80", {4, 8}}, {"P4", {2, 4}}, {"P100", {2, 4}}, {"T4", {2, 4}}, {"V100", {4, 8}}}},
      {{"n1-standard-64", "n1-standard-96", "n1-highmem-64", "n1-highmem-96", "n1-highcpu-96"},
       {{"K80", {}}, {"P4", {4}}, {"P100", {}}, {"T4", {4}}, {"V100", {8}}}},
      {{"n1-highcpu-64"}, {{"K80", {8}}, {"P4", {4}}, {"P100", {4}}, {"T4", {4}}, {"V100", {8}}}}};
}

TEST(MachineCatalogue, AllowsTheDocumentedCountsOfGpusAndNoOthers) {
  for (const TableRow& row : DocumentedTable()) {
    for (const std::string& machine : row.machines) {
      for (const auto& [gpu, counts] : row.counts) {
        for (int count = 0; count <= 17; ++count) {
          const bool allowed = std::ranges::count(counts, count) > 0;
          EXPECT_EQ(Check(machine, "NVIDIA_TESLA_" + gpu, count).ok(), allowed)
              << machine << " with " << count << " " << gpu;
        }
      }
    }
  }
}

TEST(MachineCatalogue, SaysWhatWouldDo) {
  EXPECT_THAT(Check("n1-highcpu-16", "NVIDIA_TESLA_T4", 3),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "acceleratorConfig.count: machine type 'n1-highcpu-16' takes 1 or 2 or 4 of "
                       "NVIDIA_TESLA_T4, got 3"));
  EXPECT_THAT(ErrorOf(Check("n1-standard-32", "NVIDIA_TESLA_V100", 2)), HasSubstr("takes 4 or 8"));
  EXPECT_THAT(ErrorOf(Check("n1-standard-64", "NVIDIA_TESLA_K80", 8)),
              HasSubstr("takes no NVIDIA_TESLA_K80; it takes NVIDIA_TESLA_P4, NVIDIA_TESLA_T4"));
  EXPECT_THAT(ErrorOf(Check("standard", "NVIDIA_TESLA_K80", 1)), HasSubstr("takes none"));
  EXPECT_THAT(ErrorOf(Check("n1-standard-8", "NVIDIA_TESLA_T5", 1)),
              HasSubstr("unknown accelerator 'NVIDIA_TESLA_T5'; did you mean"));
  EXPECT_THAT(ErrorOf(Check("n1-standard-8", "TPU_V2", 8)), HasSubstr("is a TPU"));
}

TEST(MachineCatalogue, GivesA2MachinesTheirOwnNumberOnly) {
  EXPECT_THAT(Check("a2-highgpu-4g", "NVIDIA_TESLA_A100", 4), IsOk());
  EXPECT_THAT(ErrorOf(Check("a2-highgpu-4g", "NVIDIA_TESLA_A100", 2)),
              HasSubstr("has 4 NVIDIA_TESLA_A100, got 2"));
  EXPECT_THAT(ErrorOf(Check("a2-highgpu-4g", "NVIDIA_TESLA_T4", 4)),
              HasSubstr("has NVIDIA_TESLA_A100, got NVIDIA_TESLA_T4"));
  EXPECT_THAT(ErrorOf(Check("n1-standard-8", "NVIDIA_TESLA_A100", 1)), HasSubstr("takes no"));
}

TEST(MachineCatalogue, KnowsOlderNamesAsWhatTheyWere) {
  const MachineType& large = Catalogue().machines.at("large_model");
  EXPECT_EQ(large.cpus, 8);
  EXPECT_EQ(large.memory_bytes, std::int64_t{52} << 30);
  EXPECT_TRUE(large.legacy);
  const MachineType& with_gpus = Catalogue().machines.at("complex_model_m_gpu");
  EXPECT_EQ(with_gpus.gpus, 4);
  EXPECT_EQ(with_gpus.gpu, "NVIDIA_TESLA_K80");
}

TEST(MachineCatalogue, FindsWhatUsersMayChoose) {
  EXPECT_THAT(FindMachine(Catalogue(), "n1-standard-4", "masterType").status(), IsOk());
  EXPECT_THAT(
      FindMachine(Catalogue(), "n1-standard-5", "masterType").status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("masterType: unknown machine type 'n1-standard-5'; did you mean")));
  EXPECT_FALSE(FindMachine(Catalogue(), "n1-highcpu-8", "masterType").ok());
  EXPECT_THAT(ErrorOf(FindMachine(Catalogue(), "cloud_tpu", "workerType").status()),
              HasSubstr("is a TPU"));
}

TEST(MachineCatalogue, WantsAllGpusOfAJobInOneZone) {
  EXPECT_THAT(CheckRegion(Catalogue(), "us-central1", {"NVIDIA_TESLA_T4"}, "region"), IsOk());
  EXPECT_THAT(CheckRegion(Catalogue(),
                          "us-central1",
                          {"NVIDIA_TESLA_T4", "NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100"},
                          "region"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "region: no zone of region 'us-central1' has all of NVIDIA_TESLA_K80, "
                       "NVIDIA_TESLA_P100, NVIDIA_TESLA_T4"));
  EXPECT_THAT(ErrorOf(CheckRegion(Catalogue(), "us-central2", {"NVIDIA_TESLA_T4"}, "region")),
              HasSubstr("region 'us-central2' has no GPUs; did you mean 'us-central1'?"));
  EXPECT_THAT(CheckRegion(Catalogue(), "us-central2", {}, "region"), IsOk());
  EXPECT_THAT(CheckRegion(Catalogue(), "", {"NVIDIA_TESLA_T4"}, "region"), IsOk());
}

TEST(MachineCatalogue, HasTheDocumentedGpuRegions) {
  std::vector<std::string> with_gpus;
  for (const auto& [name, region] : Catalogue().regions) {
    if (region.gpus) with_gpus.push_back(name);
  }
  EXPECT_EQ(with_gpus.size(), 16u);
  EXPECT_THAT(with_gpus, IsSupersetOf({"us-west1", "europe-west4", "australia-southeast1"}));
}

TEST(MachineCatalogue, TakesWhatAServerAdds) {
  const auto extended = Extend(Catalogue(),
                               Json::parse(R"({
      "machines": {"big": {"cpus": 128, "memory_gb": 1024, "gpus": 8, "gpu": "H200"},
                   "grand": {"same_as": "big"}},
      "gpus": {"H200": {"counts": [1, 2, 4, 8], "built_in": true}},
      "tiers": {"HUGE": {"master": {"machine": "big"}, "worker": {"count": 3, "machine": "big"}}},
      "regions": {"cellar": {"zones": {"left": ["H200"], "right": ["NVIDIA_TESLA_T4"]}}}})"),
                               "machines");
  ASSERT_THAT(extended.status(), IsOk());
  EXPECT_EQ(extended->tiers.at("HUGE").at(Role::kWorker).count, 3);
  EXPECT_TRUE(extended->machines.at("grand").legacy);
  EXPECT_THAT(CheckGpus(*extended, "big", "H200", 8, {"a"}), IsOk());
  EXPECT_THAT(CheckRegion(*extended, "cellar", {"H200"}, "region"), IsOk());
  EXPECT_THAT(ErrorOf(CheckRegion(*extended, "cellar", {"H200", "NVIDIA_TESLA_T4"}, "region")),
              HasSubstr("no zone of region 'cellar' has all of"));
  EXPECT_TRUE(extended->machines.contains("n1-standard-4"));
}

struct BadDocument {
  std::string name, text, error;
};
class BadCatalogueTest : public ::testing::TestWithParam<BadDocument> {};

TEST_P(BadCatalogueTest, IsRefusedWithASentence) {
  EXPECT_EQ(ErrorOf(Extend(Catalogue(), Json::parse(GetParam().text), "machines").status()),
            GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    BadCatalogueTest,
    ::testing::ValuesIn(std::vector<BadDocument>{
        {"UnknownKey",
         R"({"machine": {}})",
         "machines.machine: unknown key; did you mean 'machines'?"},
        {"NoCpus",
         R"({"machines": {"m": {"memory_gb": 1}}})",
         "machines.machines.m.cpus: is missing"},
        {"NoMemory",
         R"({"machines": {"m": {"cpus": 1, "memory_gb": 0}}})",
         "machines.machines.m.memory_gb: must be above 0"},
        {"NoSuchOther",
         R"({"machines": {"m": {"same_as": "x"}}})",
         "machines.machines.m.same_as: there is no machine 'x'"},
        {"NoSuchMachine",
         R"({"tiers": {"T": {"master": {"machine": "x"}}}})",
         "machines.tiers.T.master.machine: there is no machine 'x'"},
        {"NoMaster",
         R"({"tiers": {"T": {"worker": {"machine": "standard"}}}})",
         "machines.tiers.T.master: is missing"},
        {"NegativeMaster",
         R"({"tiers": {"T": {"master": {"machine": "standard", "count": -3}}}})",
         "machines.tiers.T.master.count: must be 1, got -3"},
        {"TwoMasters",
         R"({"tiers": {"T": {"master": {"machine": "standard", "count": 2}}}})",
         "machines.tiers.T.master.count: must be 1, got 2"},
        {"NegativeWorkers",
         R"({"tiers": {"T": {"master": {"machine": "standard"},
                                                  "worker": {"machine": "standard", "count": -1}}}})",
         "machines.tiers.T.worker.count: must be from 1 to 10000, got -1"},
        {"TierGpusWithoutGpu",
         R"({"tiers": {"T": {"master": {"machine": "standard", "gpus": 2}}}})",
         "machines.tiers.T.master.gpu: is missing; gpus is 2"},
        {"TierGpu",
         R"({"tiers": {"T": {"master": {"machine": "standard", "gpus": 2,
                                                             "gpu": "NVIDIA_TESLA_T40"}}}})",
         "machines.tiers.T.master.gpu: there is no GPU 'NVIDIA_TESLA_T40'; did "
         "you mean 'NVIDIA_TESLA_T4'?"},
        {"NegativeGpus",
         R"({"machines": {"m": {"cpus": 1, "memory_gb": 1, "gpus": -1}}})",
         "machines.machines.m.gpus: must be at least 0, got -1"},
        {"MachineGpu",
         R"({"machines": {"m": {"cpus": 1, "memory_gb": 1, "gpus": 1,
                                                     "gpu": "NVIDIA_TESLA_V10"}}})",
         "machines.machines.m.gpu: there is no GPU 'NVIDIA_TESLA_V10'; did you "
         "mean 'NVIDIA_TESLA_V100'?"},
        {"GpuWithoutNumber",
         R"({"machines": {"m": {"cpus": 1, "memory_gb": 1,
                                                     "gpu": "NVIDIA_TESLA_T4"}}})",
         "machines.machines.m.gpus: must be at least 1, since gpu is "
         "'NVIDIA_TESLA_T4'"},
        {"AllowedGpu",
         R"({"machines": {"m": {"cpus": 1, "memory_gb": 1,
                                                     "allowed": {"NVIDIA_TESLA_T": [1]}}}})",
         "machines.machines.m.allowed: there is no GPU 'NVIDIA_TESLA_T'; did "
         "you mean 'NVIDIA_TESLA_T4'?"},
        {"ZoneGpu",
         R"({"regions": {"r": {"zones": {"a": ["NVIDIA_TESLA_T40"]}}}})",
         "machines.regions.r.zones.a: there is no GPU 'NVIDIA_TESLA_T40'; did "
         "you mean 'NVIDIA_TESLA_T4'?"},
        {"CountOfZero",
         R"({"gpus": {"H200": {"counts": [0, -1]}}})",
         "machines.gpus.H200.counts[0]: must be at least 1, got 0"},
        {"NoCounts",
         R"({"gpus": {"H200": {"counts": []}}})",
         "machines.gpus.H200.counts: must name a number of GPUs, got []"},
        {"EmptyName",
         R"({"machines": {"": {"cpus": 1, "memory_gb": 1}}})",
         "machines.machines: a name must not be empty"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(DeviceType, IsTheShortNameOfDocumentedGpus) {
  EXPECT_EQ(DeviceType("NVIDIA_TESLA_T4"), "T4");
  EXPECT_EQ(DeviceType("NVIDIA_H200"), "H200");
  EXPECT_EQ(DeviceType("NVIDIA_RTX_3090"), "RTX-3090");
  EXPECT_EQ(DeviceType("H200"), "H200");
  EXPECT_EQ(DeviceType("my_gpu"), "my_gpu");
}

}  // namespace
}  // namespace vernier::jobs
