// Which lines of an attempt are read, and in what order.
#include "src/launch/log_reader.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/output_segments.h"
#include "src/launch/supervisor/output_writer.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;

std::string Stamped(absl::Time time, char mark, const std::string& text) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()) + " " + mark + " " +
         text + "\n";
}

std::string Stamped(int second, const std::string& text) {
  return Stamped(absl::FromUnixSeconds(second), 'O', text);
}

class LogReaderTest : public ::testing::Test {
 protected:
  LogReaderTest() {
    std::string pattern = (fs::temp_directory_path() / "vernier-logs-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~LogReaderTest() override { fs::remove_all(folder_); }

  void Write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(folder_ + "/" + file).parent_path());
    std::ofstream(folder_ + "/" + file, std::ios::app | std::ios::binary) << text;
  }

  std::string folder_;
};

std::vector<std::string> Texts(const absl::StatusOr<std::vector<LogLine>>& lines) {
  std::vector<std::string> texts;
  for (const LogLine& line : lines.value()) {
    texts.push_back(line.role + std::to_string(line.index) + " " + line.text);
  }
  return texts;
}

// What is left, in small steps.
std::vector<std::string> AllTexts(LogReader& reader) {
  std::vector<std::string> texts;
  do {
    for (std::string& text : Texts(reader.Read(1))) texts.push_back(std::move(text));
  } while (!reader.at_end());
  return texts;
}

TEST_F(LogReaderTest, ALogIsMergedByTimeAndFollowed) {
  Write("chief-0/output.log", Stamped(1, "a") + Stamped(3, "c"));
  Write("worker-1/output.log", Stamped(2, "b") + "1970-01-01T00:00:04.0000");
  Write("gang.json", "{}");
  LogReader reader(folder_);
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("chief0 a", "worker1 b", "chief0 c"));
  EXPECT_THAT(Texts(reader.Read()), IsEmpty());
  Write("worker-1/output.log", "00Z O d\n");
  Write("worker-10/output.log", Stamped(5, "e"));  // Appears later.
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("worker1 d", "worker10 e"));
}

TEST_F(LogReaderTest, ALogIsFilteredByRoleAndIndex) {
  for (const std::string folder : {"chief-0", "worker-0", "worker-1"}) {
    Write(folder + "/output.log", Stamped(1, "x"));
  }
  EXPECT_THAT(Texts(LogReader(folder_, {.role = "worker"}).Read()),
              ElementsAre("worker0 x", "worker1 x"));
  EXPECT_THAT(Texts(LogReader(folder_, {.role = "worker", .index = 1}).Read()),
              ElementsAre("worker1 x"));
  EXPECT_THAT(Texts(LogReader(folder_ + "/none").Read()), IsEmpty());
}

TEST_F(LogReaderTest, ATailIsTheLastLinesOfAllReplicasTogether) {
  Write("chief-0/output.log", Stamped(1, "a") + Stamped(4, "d") + Stamped(5, "e"));
  Write("worker-0/output.log", Stamped(2, "b") + Stamped(3, "c"));
  LogReader reader(folder_);
  ASSERT_THAT(reader.SeekTail(3), IsOk());
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("worker0 c", "chief0 d", "chief0 e"));
  ASSERT_THAT(reader.SeekTail(0), IsOk());
  EXPECT_THAT(Texts(reader.Read()), IsEmpty());
  ASSERT_THAT(reader.SeekTail(100), IsOk());
  EXPECT_THAT(reader.Read().value(), ::testing::SizeIs(5));
}

TEST_F(LogReaderTest, ALogIsFilteredBySeverity) {
  Write("chief-0/output.log",
        Stamped(1, "a") + Stamped(2, R"({"severity":"WARNING","message":"b"})") +
            Stamped(absl::FromUnixSeconds(3), 'E', "c") + Stamped(4, "d"));
  LogReader reader(folder_, {.least = Severity::kWarning});
  EXPECT_THAT(Texts(reader.Read()),
              ElementsAre(R"(chief0 {"severity":"WARNING","message":"b"})", "chief0 c"));
  Write("chief-0/output.log", Stamped(5, "e") + Stamped(6, "ERROR:root:f"));
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("chief0 ERROR:root:f"));
}

TEST_F(LogReaderTest, ATailCountsOnlyLinesThatMatch) {
  for (int second = 1; second < 100; ++second) {
    const std::string text = fmt::format("{}{}", second % 10 == 0 ? "ERROR:root:" : "", second);
    Write(fmt::format("worker-{}/output.log", second % 3), Stamped(second, text));
  }
  LogReader errors(folder_, {.least = Severity::kError});
  ASSERT_THAT(errors.SeekTail(3), IsOk());
  EXPECT_THAT(
      Texts(errors.Read()),
      ElementsAre("worker1 ERROR:root:70", "worker2 ERROR:root:80", "worker0 ERROR:root:90"));
  LogReader early(folder_, {.until = absl::FromUnixSeconds(42), .least = Severity::kError});
  ASSERT_THAT(early.SeekTail(2), IsOk());
  EXPECT_THAT(Texts(early.Read()), ElementsAre("worker0 ERROR:root:30", "worker1 ERROR:root:40"));
  LogReader late(folder_, {.since = absl::FromUnixSeconds(85), .least = Severity::kError});
  ASSERT_THAT(late.SeekTail(2), IsOk());
  EXPECT_THAT(Texts(late.Read()), ElementsAre("worker0 ERROR:root:90"));
}

TEST_F(LogReaderTest, ALogIsReadFromATimeToATime) {
  Write("chief-0/output.log", Stamped(1, "a") + Stamped(3, "c") + Stamped(5, "e"));
  Write("worker-0/output.log", Stamped(2, "b") + Stamped(4, "d"));
  LogReader reader(folder_, {.since = absl::FromUnixSeconds(2), .until = absl::FromUnixSeconds(5)});
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("worker0 b", "chief0 c", "worker0 d"));
  EXPECT_TRUE(reader.at_end());
  Write("worker-0/output.log", Stamped(4, "f") + Stamped(6, "g"));
  Write("worker-1/output.log", Stamped(1, "early") + Stamped(4, "h"));  // Appears later.
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("worker0 f", "worker1 h"));
}

TEST_F(LogReaderTest, FollowsFromATimeThatIsStillToCome) {
  Write("chief-0/output.log", Stamped(1, "a"));
  LogReader reader(folder_, {.since = absl::FromUnixSeconds(3)});
  EXPECT_THAT(Texts(reader.Read()), IsEmpty());
  Write("chief-0/output.log", Stamped(2, "b") + Stamped(3, "c"));
  EXPECT_THAT(Texts(reader.Read()), ElementsAre("chief0 c"));
}

// One prints a lot in a short time, another little in a long one: what is read at once of each has other times.
TEST_F(LogReaderTest, ALogIsInOrderHoweverMuchIsReadAtOnce) {
  std::string burst;
  for (int i = 0; i < 20000; ++i) {
    burst += Stamped(absl::FromUnixMicros(500 * i), 'O', std::string(50, 'x'));
  }
  Write("chief-0/output.log", burst);
  for (int second = 0; second < 1000; ++second) {
    Write("worker-0/output.log", Stamped(second, std::string(500, 'y')));
  }
  LogReader reader(folder_);
  absl::Time last = absl::InfinitePast();
  std::size_t count = 0;
  do {
    const std::vector<LogLine> lines = reader.Read(1 << 16).value();
    for (const LogLine& line : lines) {
      ASSERT_GE(line.time, last);
      last = line.time;
    }
    count += lines.size();
  } while (!reader.at_end());
  EXPECT_EQ(count, 21000U);
}

TEST_F(LogReaderTest, FindsATimeWithoutReadingTheLog) {
  constexpr int kLines = 300000;
  std::string text;
  for (int i = 0; i < kLines; ++i) text += Stamped(i, std::string(30, '.'));
  Write("chief-0/output.log", text);
  const auto bytes_read = [] {
    std::ifstream file("/proc/self/io");
    std::string key;
    std::int64_t value = 0;
    file >> key >> value;
    return value;
  };
  const std::int64_t before = bytes_read();
  LogReader reader(folder_, {.since = absl::FromUnixSeconds(kLines / 3)});
  const std::vector<LogLine> lines = reader.Read(1).value();
  EXPECT_EQ(lines.front().time, absl::FromUnixSeconds(kLines / 3));
  LogReader tail(folder_, {.until = absl::FromUnixSeconds(kLines / 2)});
  ASSERT_THAT(tail.SeekTail(1), IsOk());
  EXPECT_EQ(tail.Read(1).value().front().time, absl::FromUnixSeconds(kLines / 2 - 1));
  EXPECT_LT(bytes_read() - before, std::ssize(text) / 2);
}

// Against a model that reads everything, over replicas that print at different rates into several segments.
TEST_F(LogReaderTest, FindsWhatAModelFinds) {
  struct Printed {
    absl::Time time;
    std::string text;  // As Texts shows it.
    bool is_error = false;
  };
  Rng rng(7);
  const auto pick = [&](int n) {
    return static_cast<int>(rng.UniformInt(static_cast<std::uint64_t>(n)));
  };
  std::vector<Printed> printed;
  for (int replica = 0; replica < 3; ++replica) {
    const std::string folder = fmt::format("{}/worker-{}", folder_, replica);
    fs::create_directories(folder);
    OutputWriter writer(folder + "/output.log", OutputWriter::kLeastKept);
    absl::Time time = absl::UnixEpoch();
    for (int i = 0; i < 1500; ++i) {
      time += absl::Milliseconds(pick(4) * (replica + 1));
      const bool is_error = pick(20) == 0;
      const std::string text =
          fmt::format("{} {}", i, std::string(static_cast<std::size_t>(pick(800)), '.'));
      writer.Write(Stamped(time, is_error ? 'E' : 'O', text));
      printed.push_back({time, fmt::format("worker{} {}", replica, text), is_error});
    }
    ASSERT_GT(ListSegments(folder + "/output.log").size(), 3U);
  }
  std::ranges::stable_sort(printed, {}, &Printed::time);
  const auto some_time = [&] { return absl::UnixEpoch() + absl::Milliseconds(pick(8000)); };
  for (int round = 0; round < 60; ++round) {
    LogFilter filter;
    if (pick(2) == 0) filter.since = some_time();
    if (pick(2) == 0) filter.until = some_time();
    if (pick(2) == 0) filter.least = Severity::kError;
    const auto tail = static_cast<std::size_t>(pick(3) == 0 ? 0 : 1 + pick(300));
    std::vector<std::string> expected;
    for (const Printed& line : printed) {
      const bool matches = line.time >= filter.since && line.time < filter.until &&
                           (line.is_error || filter.least == Severity::kDebug);
      if (matches) expected.push_back(line.text);
    }
    if (tail > 0 && expected.size() > tail) {
      expected.erase(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(tail));
    }
    LogReader reader(folder_, filter);
    if (tail > 0) {
      ASSERT_THAT(reader.SeekTail(static_cast<std::int64_t>(tail)), IsOk());
    }
    ASSERT_EQ(AllTexts(reader), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace vernier::launch
