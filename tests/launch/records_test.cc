#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/output_line.h"
#include "src/launch/gang/gang_records.h"
#include "src/launch/gang/replica_records.h"
#include "src/launch/local/host_inventory.h"
#include "src/launch/local/port_book.h"
#include "src/launch/replica_files.h"
#include "src/launch/supervisor/output_capture.h"
#include "tests/support/status_matchers.h"

// The small parts of the local launcher: what they write and what they read.
namespace vernier::launch {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

class RecordsTest : public ::testing::Test {
 protected:
  RecordsTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "vernier-records-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~RecordsTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + file).parent_path());
    std::ofstream(folder_ + "/" + file, std::ios::app | std::ios::binary) << text;
  }

  std::string folder_;
};

TEST_F(RecordsTest, ARecordThatIsALinkIsNotRead) {
  Write("secret", "told");
  const std::string link = folder_ + "/record";
  std::filesystem::create_symlink(folder_ + "/secret", link);
  EXPECT_EQ(ReadWholeFile(link), std::nullopt);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(ReadWholeFile(link, kMostRecord, OpenFile::Link::kFollow), "told");
}

TEST(ProgramFile, ReadsBackWhateverItHolds) {
  const SupervisedProgram program{.argv = {"sh", "", "a\nb \"'$"},
                                  .env = {{"A", "x=y"}, {"B", ""}},
                                  .secrets = {{"KEY", "/run/a key"}},
                                  .directory = "/some where",
                                  .grace_ms = 1234,
                                  .output_bytes = std::int64_t{1} << 40,
                                  .restarts = 5,
                                  .lenient = true,
                                  .share = {.cpu_millis = 1500, .memory_bytes = 7},
                                  .control_groups = {"/sys/fs/cgroup/a", "/b"},
                                  .container = {.within_client = true,
                                                .inspect = {"podman", "inspect", "x y"},
                                                .remove = {"podman", ""}},
                                  .setup = {"tar", "x"}};
  EXPECT_EQ(DecodeProgram(EncodeProgram(program)), program);
}

TEST(ProgramFile, OfTheOlderFormIsRead) {
  using namespace std::string_literals;
  const auto program =
      DecodeProgram("vernier-program-2\0/some where\0001234\00099\0002\0sh\0-c\0001\0A\0x=y\0"s);
  EXPECT_EQ(program,
            (SupervisedProgram{.argv = {"sh", "-c"},
                               .env = {{"A", "x=y"}},
                               .directory = "/some where",
                               .grace_ms = 1234,
                               .output_bytes = 99}));
}

TEST(ProgramFile, OfTheFormWithoutContainersIsRead) {
  using namespace std::string_literals;
  const auto program = DecodeProgram(
      "vernier-program-4\0/d\0001234\00099\0005\0001\0001\0sh\0000\0001500\0007\0001\0/g\0"s);
  EXPECT_EQ(program,
            (SupervisedProgram{.argv = {"sh"},
                               .directory = "/d",
                               .grace_ms = 1234,
                               .output_bytes = 99,
                               .restarts = 5,
                               .lenient = true,
                               .share = {.cpu_millis = 1500, .memory_bytes = 7},
                               .control_groups = {"/g"}}));
}

TEST(ProgramFile, OfTheFormWithoutSecretsIsRead) {
  using namespace std::string_literals;
  const auto program = DecodeProgram(
      "vernier-program-6\0/d\0001234\00099\0005\0001\0001\0sh\0000\0001500\0007\0000\0000\0000\0000\0001\0tar\0"s);
  EXPECT_EQ(program,
            (SupervisedProgram{.argv = {"sh"},
                               .directory = "/d",
                               .grace_ms = 1234,
                               .output_bytes = 99,
                               .restarts = 5,
                               .lenient = true,
                               .share = {.cpu_millis = 1500, .memory_bytes = 7},
                               .setup = {"tar"}}));
}

TEST(ProgramFile, EveryCutIsRefused) {
  const std::string whole =
      EncodeProgram({.argv = {"sh", "-c"}, .env = {{"A", "b"}}, .secrets = {{"B", "/c"}}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(DecodeProgram(whole.substr(0, length)), std::nullopt) << length;
  }
  EXPECT_EQ(DecodeProgram(whole + "x"), std::nullopt);
}

TEST(NotWritten, AFullDiskIsWorthTryingAgain) {
  EXPECT_THAT(NotWritten("cannot write", "/runs/gang.json", ENOSPC),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/runs/gang.json")));
  EXPECT_THAT(NotWritten("cannot write", "/runs", EDQUOT),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(NotWritten("cannot write", "/runs", EACCES),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(RecordsTest, AMarkerIsCreatedOnce) {
  EXPECT_TRUE(CreateMarker(folder_ + "/started"));
  EXPECT_FALSE(CreateMarker(folder_ + "/started"));
  EXPECT_EQ(errno, EEXIST);
}

TEST(ProcessStartTime, TellsOneProcessFromAnother) {
  EXPECT_TRUE(ProcessStartTime(getpid()).has_value());
  EXPECT_EQ(ProcessStartTime(getpid()), ProcessStartTime(getpid()));
  EXPECT_FALSE(ProcessStartTime(-5).has_value());
}

TEST(LineCutter, CutsAtNewlinesWhereverTheBytesAreCut) {
  const std::string text = "one\n\ntwo\nthree";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineCutter cutter('E');
    std::string lines;
    cutter.Feed(text.substr(0, cut), "T", lines);
    cutter.Feed(text.substr(cut), "T", lines);
    cutter.Finish("T", lines);
    EXPECT_EQ(lines, "T E one\nT E \nT E two\nT E three\n") << cut;
  }
}

// A progress bar is seen as it moves, however long its line goes on.
TEST(LineCutter, ACarriageReturnEndsALineAndStaysInIt) {
  LineCutter cutter('O');
  std::string lines;
  cutter.Feed("\r 0%", "T", lines);
  EXPECT_EQ(lines, "");
  cutter.Feed("\r50%\r", "T", lines);
  EXPECT_EQ(lines, "T O  0%\r\nT O 50%\r\n");
  lines.clear();
  cutter.Feed("\r100%\nloss=1\r\n", "T", lines);
  EXPECT_EQ(lines, "T O 100%\nT O loss=1\n");
}

TEST(LineCutter, AReturnAndANewlineAreOneEndWhereverTheBytesAreCut) {
  const std::string text = "one\r\ntwo\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineCutter cutter('O');
    std::string lines;
    cutter.Feed(text.substr(0, cut), "T", lines);
    cutter.Feed(text.substr(cut), "T", lines);
    cutter.Finish("T", lines);
    std::erase(lines, '\r');
    EXPECT_EQ(lines, "T O one\nT O two\n") << cut;
  }
}

TEST(LineCutter, CutsOnlyLinesThatAreTooLong) {
  LineCutter cutter('O');
  std::string lines;
  cutter.Feed(std::string(kLongestLine, 'a'), "T", lines);
  cutter.Feed("\n", "T", lines);
  EXPECT_EQ(lines.size(), kLongestLine + 5);
  lines.clear();
  cutter.Feed(std::string(kLongestLine + 1, 'b') + "\n", "T", lines);
  EXPECT_THAT(lines, ::testing::EndsWith("b\nT O b\n"));
}

struct OutputLineCase {
  std::string line;
  bool parses;
};
TEST(OutputLine, ParsesItsOwnFormOnly) {
  const std::vector<OutputLineCase> cases = {
      {"2026-11-21T04:12:13.123456Z O text", true},
      {"2026-11-21T04:12:13.123456Z E ", true},
      {"2026-11-21T04:12:13.123456Z X text", false},
      {"2026-11-21T04:12:13.123456Z O", false},
      {"2026-11-21T04:12:13.12", false},
      {"2026-21-21T04:12:13.123456Z O text", false},
      {"", false},
  };
  for (const OutputLineCase& c : cases) {
    EXPECT_EQ(base::ParseOutputLine(c.line).has_value(), c.parses) << c.line;
  }
  const auto line = base::ParseOutputLine("1970-01-01T00:00:01.500000Z E a b");
  EXPECT_EQ(line->time, absl::UnixEpoch() + absl::Milliseconds(1500));
  EXPECT_TRUE(line->is_error);
  EXPECT_EQ(line->text, "a b");
}

TEST_F(RecordsTest, GangAndVerdictReadBack) {
  EXPECT_THAT(ReadGangRecord(folder_).value(), Eq(std::nullopt));
  EXPECT_THAT(ReadGangEnd(folder_).value(), Eq(std::nullopt));
  const GangRecord record{
      .time_limit = absl::Minutes(30), .grace = absl::Seconds(10), .lenient = true};
  ASSERT_THAT(WriteGangRecord(folder_, record), IsOk());
  EXPECT_EQ(ReadGangRecord(folder_).value(), record);
  const GangEnd gang_end{.state = AttemptState::kLost,
                         .failure = FailureClass::kNodeLost,
                         .transient = true,
                         .message = "gone \xff",
                         .time = absl::FromUnixSeconds(1'800'000'000)};
  ASSERT_THAT(WriteGangEnd(folder_, gang_end), IsOk());
  const std::optional<GangEnd> read = ReadGangEnd(folder_).value();
  EXPECT_EQ(read->state, gang_end.state);
  EXPECT_EQ(read->failure, gang_end.failure);
  EXPECT_EQ(read->transient, gang_end.transient);
  EXPECT_EQ(read->time, gang_end.time);
  EXPECT_THAT(read->message, HasSubstr("gone"));
}

TEST_F(RecordsTest, ADamagedRecordCountsAsNone) {
  Write("verdict.json", "{\"state\":");
  Write("gang.json", "");
  EXPECT_THAT(ReadGangEnd(folder_).value(), Eq(std::nullopt));
  EXPECT_THAT(ReadGangRecord(folder_).value(), Eq(std::nullopt));
}

TEST_F(RecordsTest, AnEndWithoutAStatusIsAnError) {
  Write("started", "");
  Write("exit.json", "{\"exit_code\":null,\"signal\":null}");
  const ReplicaObservation replica = Observe(folder_);
  EXPECT_EQ(replica.phase, ReplicaObservation::Phase::kEnded);
  EXPECT_EQ(replica.exit.error, "the record of its end is damaged");
}

TEST_F(RecordsTest, AnEndWithoutItsStartIsWhatIsLeftOfRemovedRecords) {
  Write("exit.json", R"({"exit_code":0})");
  EXPECT_EQ(Observe(folder_).phase, ReplicaObservation::Phase::kNotStarted);
  EXPECT_TRUE(HasNoRecords(folder_));
}

TEST_F(RecordsTest, EveryRunOfAReplicaIsRead) {
  Write("started", "");
  Write("exit-1.json", R"({"signal":9,"started":"2026-11-21T04:00:00Z","cpu_seconds":1.5})");
  Write("exit-2.json", R"({"exit_code":143,"cpu_seconds":-3,"peak_memory_bytes":"much"})");
  Write("exit.json", R"({"exit_code":0,"cpu_seconds":0.25,"peak_memory_bytes":4096})");
  const ReplicaObservation replica = Observe(folder_);
  EXPECT_EQ(replica.exit.exit_code, 0);
  ASSERT_THAT(replica.earlier, ::testing::SizeIs(2));
  EXPECT_EQ(replica.earlier[0].exit.signal, 9);
  EXPECT_EQ(replica.earlier[0].started, absl::FromUnixSeconds(1'795'233'600));
  EXPECT_EQ(replica.earlier[1].exit.exit_code, 143);
  EXPECT_EQ(replica.cpu_time, absl::Milliseconds(250));
  EXPECT_EQ(replica.peak_memory_bytes, 4096);
  EXPECT_EQ(replica.earlier[0].cpu_time, absl::Milliseconds(1500));
  EXPECT_EQ(replica.earlier[1].cpu_time, absl::ZeroDuration());
  EXPECT_EQ(replica.earlier[1].peak_memory_bytes, 0);
}

TEST_F(RecordsTest, AFencedReplicaIsGoneAndAStartedOneCannotBeFenced) {
  EXPECT_EQ(Observe(folder_).phase, ReplicaObservation::Phase::kNotStarted);
  EXPECT_TRUE(Fence(folder_));
  EXPECT_EQ(Observe(folder_).phase, ReplicaObservation::Phase::kGone);
  EXPECT_FALSE(Fence(folder_));
}

TEST(PortBook, NeverHandsOutAPortTwice) {
  PortBook book;
  ASSERT_OK_AND_ASSIGN(const std::vector<std::int32_t> first, book.Reserve(5));
  for (const std::int32_t port : first) book.Unbind(port);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::int32_t> second, book.Reserve(5));
  for (const std::int32_t port : second)
    EXPECT_THAT(first, ::testing::Not(::testing::Contains(port)));
  EXPECT_THAT(book.Reserve(1'000'000), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(book.Reserve(5), IsOk());  // The refused call kept none.
}

TEST(PortBook, BeginsWhereItIsTold) {
  std::int32_t first = 0;
  {
    PortBook any;
    first = any.Reserve(1)->front();
  }
  PortBook book(first);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::int32_t> ports, book.Reserve(3));
  EXPECT_GE(ports[0], first);
  EXPECT_LT(ports[0], ports[1]);
  EXPECT_LT(ports[1], ports[2]);
  PortBook last(65535);
  EXPECT_THAT(last.Reserve(2),
              StatusIs(absl::StatusCode::kResourceExhausted, "needs 2 ports, there are 1"));
}

TEST(PortBook, LeavesPortsThatAnotherHolds) {
  PortBook one;
  PortBook other;  // Starts at the same place.
  ASSERT_OK_AND_ASSIGN(const std::vector<std::int32_t> first, one.Reserve(3));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::int32_t> second, other.Reserve(3));
  for (const std::int32_t port : second)
    EXPECT_THAT(first, ::testing::Not(::testing::Contains(port)));
}

TEST(Host, HasCpusAndMemory) {
  const HostCapacity host = DetectHost();
  EXPECT_GT(host.cpus, 0);
  EXPECT_GT(host.memory_bytes, std::int64_t{1} << 20);
}

TEST_F(RecordsTest, AReservedFileIsWrittenWhereItsRoomIs) {
  const std::string path = folder_ + "/exit.json";
  ASSERT_TRUE(ReserveFile(path));
  struct stat reserved {};
  ASSERT_EQ(stat((path + ".new").c_str(), &reserved), 0);
  EXPECT_GE(reserved.st_blocks * 512, kReservedBytes);
  ASSERT_TRUE(ReplaceFile(path, "{}\n", /*durable=*/true));
  struct stat written {};
  ASSERT_EQ(stat(path.c_str(), &written), 0);
  EXPECT_EQ(written.st_ino, reserved.st_ino);
  EXPECT_EQ(ReadWholeFile(path), "{}\n");
}

TEST_F(RecordsTest, APipeInThePlaceOfARecordIsNotWaitedFor) {
  const std::string path = folder_ + "/exit.json";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadWholeFile(path), std::nullopt);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(mkfifo((path + ".new").c_str(), 0600), 0);
  ASSERT_TRUE(ReplaceFile(path, "{}\n", /*durable=*/true));
  EXPECT_EQ(ReadWholeFile(path), "{}\n");
}

TEST_F(RecordsTest, ALinkInThePlaceOfARecordIsNotWrittenThrough) {
  const std::string path = folder_ + "/exit.json";
  Write("other", "kept");
  std::filesystem::create_symlink(folder_ + "/other", path + ".new");
  ASSERT_TRUE(ReplaceFile(path, "{}\n", /*durable=*/true));
  EXPECT_EQ(ReadWholeFile(path), "{}\n");
  EXPECT_EQ(ReadWholeFile(folder_ + "/other"), "kept");
}

TEST_F(RecordsTest, AFolderInThePlaceOfARecordIsSetAsideWithWhatIsInIt) {
  const std::string path = folder_ + "/exit.json";
  for (int i = 1; i <= 2; ++i) {
    for (const std::string& planted : {path, path + ".new"}) {
      std::filesystem::remove(planted);
      std::filesystem::create_directory(planted);
      std::ofstream(planted + "/kept") << i;
    }
    ASSERT_TRUE(ReplaceFile(path, "{}\n", /*durable=*/true));
    EXPECT_EQ(ReadWholeFile(path), "{}\n");
    for (const std::string& planted : {path, path + ".new"}) {
      EXPECT_EQ(ReadWholeFile(planted + "~" + std::to_string(i) + "/kept"), std::to_string(i));
    }
  }
}

TEST_F(RecordsTest, WhatIsNoFileCountsAsNoRecord) {
  std::filesystem::create_directory(folder_ + "/verdict.json");
  std::filesystem::create_symlink("gang.json", folder_ + "/gang.json");
  EXPECT_THAT(ReadGangEnd(folder_).value(), Eq(std::nullopt));
  EXPECT_THAT(ReadGangRecord(folder_).value(), Eq(std::nullopt));
}

TEST_F(RecordsTest, NoMoreIsReadThanARecordMayHave) {
  Write("large", "12345");
  EXPECT_EQ(ReadWholeFile(folder_ + "/large", 5), "12345");
  EXPECT_EQ(ReadWholeFile(folder_ + "/large", 4), std::nullopt);
  EXPECT_EQ(errno, EFBIG);
}

}  // namespace
}  // namespace vernier::launch
