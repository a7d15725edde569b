#include "src/wire/training_input_proto.h"

#include <set>
#include <string>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/codec/training_input_json.h"

namespace vernier::wire {
namespace {

// Every field with a value of its own.
constexpr char kEverything[] = R"({
  "scaleTier": "CUSTOM", "masterType": "a", "workerType": "b", "parameterServerType": "c", "evaluatorType": "d",
  "masterConfig": {"acceleratorConfig": {"count": 4, "type": "NVIDIA_TESLA_T4"}, "imageUri": "i",
                   "containerCommand": ["x"], "containerArgs": ["y", "z"],
                   "diskConfig": {"bootDiskSizeGb": 100, "bootDiskType": "pd-ssd"}, "tpuTfVersion": "2.1"},
  "workerConfig": {"imageUri": "j"}, "parameterServerConfig": {"imageUri": "k"}, "evaluatorConfig": {},
  "workerCount": 9, "parameterServerCount": 3, "evaluatorCount": 1, "packageUris": ["p", "q"],
  "pythonModule": "trainer.task", "args": ["--steps", "9"], "region": "us-central1", "jobDir": "out",
  "runtimeVersion": "2.11", "pythonVersion": "3.7",
  "scheduling": {"maxRunningTime": "7200s", "maxWaitTime": "1800.5s", "priority": 10},
  "network": "n", "serviceAccount": "s", "useChiefInTfConfig": true, "encryptionConfig": {"kmsKeyName": "k"},
  "enableWebAccess": true,
  "hyperparameters": {"goal": "MINIMIZE", "hyperparameterMetricTag": "loss", "maxTrials": 30,
    "maxParallelTrials": 2, "maxFailedTrials": 4, "enableTrialEarlyStopping": true,
    "resumePreviousJobId": "before", "algorithm": "RANDOM_SEARCH",
    "params": [{"parameterName": "lr", "type": "DOUBLE", "minValue": 0.0, "maxValue": 0.1,
                "scaleType": "UNIT_LINEAR_SCALE"},
               {"parameterName": "b", "type": "DISCRETE", "discreteValues": [16, 32]},
               {"parameterName": "c", "type": "CATEGORICAL", "categoricalValues": ["u", "v"]}]}})";

TrainingInput Everything() {
  return *codec::ReadTrainingInput(
      nlohmann::ordered_json::parse(kEverything), "trainingInput", codec::UnknownKeys::kRefuse);
}

TEST(TrainingInputProto, KeepsEveryField) {
  v1::TrainingInput proto;
  EncodeTrainingInput(Everything(), &proto);
  EXPECT_EQ(DecodeTrainingInput(proto), Everything());
  EXPECT_EQ(proto.worker_count(), 9);
  EXPECT_EQ(proto.master_config().accelerator_config().type(), "NVIDIA_TESLA_T4");
  EXPECT_TRUE(proto.hyperparameters().params(0).has_min_value());
}

// A field that only one of message and struct has would be lost without a word.
void ExpectAllSet(const google::protobuf::Message& message) {
  const auto* const descriptor = message.GetDescriptor();
  const auto* const reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* const field = descriptor->field(i);
    const bool set = field->is_repeated() ? reflection->FieldSize(message, field) > 0
                                          : reflection->HasField(message, field);
    EXPECT_TRUE(set) << field->full_name();
  }
}

TEST(TrainingInputProto, HasNoFieldThatTheStructLacks) {
  v1::TrainingInput proto;
  EncodeTrainingInput(Everything(), &proto);
  ExpectAllSet(proto);
  ExpectAllSet(proto.master_config());
  ExpectAllSet(proto.master_config().accelerator_config());
  ExpectAllSet(proto.master_config().disk_config());
  ExpectAllSet(proto.scheduling());
  ExpectAllSet(proto.encryption_config());
  ExpectAllSet(proto.hyperparameters());
}

}  // namespace
}  // namespace vernier::wire
