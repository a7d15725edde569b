// What a replica prints: written in segments within a limit, followed from segment to segment.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/launch/log_reader.h"
#include "src/launch/output_cursor.h"
#include "src/launch/output_segments.h"
#include "src/launch/supervisor/output_writer.h"
#include "tests/support/slurp.h"
#include "tests/support/status_matchers.h"
#include "vernier/core/rng.h"

namespace vernier::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::SizeIs;
using testing::Slurp;
using ::testing::StartsWith;

constexpr std::int64_t kLimit = OutputWriter::kLeastKept;

// Line `i` of a program, about a hundred bytes. The times of lines grow.
std::string Line(int i) {
  const absl::Time time = absl::UnixEpoch() + absl::Milliseconds(i);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()) +
         fmt::format(" O line {:07} {}\n", i, std::string(static_cast<std::size_t>(i % 110), '.'));
}

std::string Lines(int begin, int end) {
  std::string lines;
  for (int i = begin; i < end; ++i) lines += Line(i);
  return lines;
}

class OutputTest : public ::testing::Test {
 protected:
  OutputTest() {
    std::string pattern = (fs::temp_directory_path() / "vernier-output-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::create_directory(folder_ + "/chief-0");
    log_ = folder_ + "/chief-0/output.log";
  }
  ~OutputTest() override { fs::remove_all(folder_); }

  std::int64_t KeptBytes() const {
    std::int64_t bytes = 0;
    for (const auto& file : fs::directory_iterator(folder_ + "/chief-0")) {
      bytes += static_cast<std::int64_t>(file.file_size());
    }
    return bytes;
  }

  // Everything from the cursor on; what is missing in between is added to `dropped`.
  static std::string ReadAll(OutputCursor& cursor, std::int64_t* dropped) {
    std::string all;
    for (;;) {
      const auto chunk = cursor.Read(1 << 16).value();
      *dropped += chunk.dropped;
      if (chunk.lines.empty()) return all;
      all += chunk.lines;
    }
  }

  std::vector<std::string> TailTexts(std::int64_t count) const {
    LogReader reader(folder_);
    EXPECT_THAT(reader.SeekTail(count), IsOk());
    return Texts(reader);
  }
  static std::vector<std::string> Texts(LogReader& reader) {
    std::vector<std::string> texts;
    for (;;) {
      const auto lines = reader.Read().value();
      if (lines.empty()) return texts;
      for (const LogLine& line : lines) texts.push_back(line.text);
    }
  }

  std::string folder_;
  std::string log_;
};

TEST_F(OutputTest, WhatIsLittleIsOneFile) {
  OutputWriter writer(log_, kLimit);
  EXPECT_TRUE(fs::exists(log_));
  writer.Write(Lines(0, 100));
  writer.Write(Lines(100, 200));
  EXPECT_EQ(Slurp(log_), Lines(0, 200));
  EXPECT_THAT(ListSegments(log_), ElementsAre(0));
}

TEST_F(OutputTest, WhatIsInARemovedFileIsLost) {
  OutputWriter writer(log_, kLimit);
  writer.Write(Lines(0, 1));
  EXPECT_EQ(writer.error(), 0);
  fs::remove(log_);
  EXPECT_EQ(writer.error(), ENOENT);
}

TEST_F(OutputTest, TimesOfLinesNeverGoBack) {
  static const char* const kTimes[] = {
      "2026-01-01T00:00:02.000000Z", "2026-01-01T00:00:01.000000Z", "2026-01-01T00:00:03.000000Z"};
  static int calls = 0;
  calls = 0;
  OutputWriter writer(
      log_, kLimit, +[] { return std::string(kTimes[calls++]); });
  EXPECT_EQ(writer.Stamp(), kTimes[0]);
  EXPECT_EQ(writer.Stamp(), kTimes[0]);
  EXPECT_EQ(writer.Stamp(), kTimes[2]);
}

TEST_F(OutputTest, TheBeginningAndTheEndAreKeptWithinTheLimit) {
  OutputWriter writer(log_, kLimit);
  std::int64_t total = 0;
  for (int i = 0; i < 40000; i += 100) {
    const std::string lines = Lines(i, i + 100);
    total += static_cast<std::int64_t>(lines.size());
    writer.Write(lines);
    ASSERT_LE(KeptBytes(), kLimit);
  }
  EXPECT_GT(total, 3 * kLimit);
  EXPECT_GT(KeptBytes(), kLimit * 6 / kMostSegments);
  const std::vector<std::int64_t> segments = ListSegments(log_);
  EXPECT_THAT(segments, SizeIs(kMostSegments));
  EXPECT_THAT(Slurp(log_), AllOf(StartsWith(Line(0)), EndsWith("\n")));
  EXPECT_THAT(Slurp(SegmentPath(log_, segments.back())), EndsWith(Line(39999)));
  // Behind the gap each segment begins where the one before it ends, and the last ends where the stream does.
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const auto size = static_cast<std::int64_t>(fs::file_size(SegmentPath(log_, segments[i])));
    EXPECT_EQ(segments[i] + size, i + 1 < segments.size() ? segments[i + 1] : total);
  }
}

TEST_F(OutputTest, SaysWhatTheDiskHadNoRoomFor) {
  OutputWriter writer(log_, kLimit);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{.rlim_cur = Lines(0, 10).size() + 5, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  writer.Write(Lines(0, 20));
  writer.Write(Lines(20, 30));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(Slurp(log_), Lines(0, 10));  // No torn line.
  writer.Write(Lines(30, 31));
  writer.Write(Lines(31, 32));
  const std::string rest = Slurp(log_).substr(Lines(0, 10).size());
  const std::size_t lost = Lines(10, 30).size();
  EXPECT_THAT(rest,
              HasSubstr(fmt::format("Z E [vernier] {} bytes of output were lost here: ", lost)));
  EXPECT_THAT(rest, EndsWith(Lines(30, 32)));
  EXPECT_EQ(std::ranges::count(rest, '\n'), 3);
}

TEST_F(OutputTest, AFollowerMissesAndDoublesNothingWhereverSegmentsBegin) {
  OutputWriter writer(log_, kLimit);
  OutputCursor cursor(log_);
  Rng rng(1);
  std::string printed;
  std::string read;
  std::int64_t dropped = 0;
  for (int i = 0; i < 40000;) {
    const int next = i + 1 + static_cast<int>(rng.UniformInt(700));
    const std::string lines = Lines(i, next);
    writer.Write(lines);
    printed += lines;
    if (rng.UniformInt(3) > 0) read += ReadAll(cursor, &dropped);
    i = next;
  }
  read += ReadAll(cursor, &dropped);
  EXPECT_EQ(dropped, 0);
  EXPECT_TRUE(read == printed);
}

TEST_F(OutputTest, APipeInThePlaceOfTheOutputIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(log_.c_str(), 0600), 0);
  OutputCursor cursor(log_);
  std::int64_t dropped = 0;
  EXPECT_EQ(ReadAll(cursor, &dropped), "");
}

TEST_F(OutputTest, ALinkInThePlaceOfTheOutputIsNotFollowed) {
  const std::string secret = folder_ + "/secret";
  std::ofstream(secret) << Lines(0, 1);
  fs::create_symlink(secret, log_);
  OutputCursor cursor(log_);
  std::int64_t dropped = 0;
  EXPECT_EQ(ReadAll(cursor, &dropped), "");
  OutputWriter writer(log_, kLimit);
  writer.Write(Lines(1, 2));
  EXPECT_EQ(writer.error(), ELOOP);
  EXPECT_EQ(fs::file_size(secret), Lines(0, 1).size()) << "nor written through";
}

TEST_F(OutputTest, AFollowerThatFallsBehindGoesOnWithWhatIsKept) {
  OutputWriter writer(log_, kLimit);
  OutputCursor cursor(log_);
  std::int64_t dropped = 0;
  writer.Write(Lines(0, 1500));  // Into the second segment, which will be gone.
  std::string read = ReadAll(cursor, &dropped);
  EXPECT_EQ(dropped, 0);
  for (int i = 1500; i < 40000; i += 100) writer.Write(Lines(i, i + 100));
  const auto chunk = cursor.Read(1).value();
  const std::vector<std::int64_t> segments = ListSegments(log_);
  EXPECT_EQ(chunk.dropped, segments[1] - static_cast<std::int64_t>(read.size()));
  dropped += chunk.dropped;
  const std::string rest = chunk.lines + ReadAll(cursor, &dropped);
  EXPECT_EQ(dropped, chunk.dropped);
  EXPECT_TRUE(Lines(0, 40000).ends_with(rest));
  EXPECT_EQ(Lines(0, 40000).size(), read.size() + static_cast<std::size_t>(dropped) + rest.size());
}

TEST_F(OutputTest, ALineStandsWhereOutputWasDropped) {
  {
    OutputWriter writer(log_, kLimit);
    for (int i = 0; i < 40000; i += 100) writer.Write(Lines(i, i + 100));
  }
  LogReader reader(folder_);
  const std::vector<std::string> texts = Texts(reader);
  const std::int64_t gap = ListSegments(log_)[1] - static_cast<std::int64_t>(fs::file_size(log_));
  const std::string notice = fmt::format("[vernier] {} bytes of output were dropped here", gap);
  const auto at = std::ranges::find_if(texts, [&](const auto& t) { return t.starts_with(notice); });
  ASSERT_NE(at, texts.end());
  EXPECT_EQ(at - texts.begin(), std::ranges::count(Slurp(log_), '\n'));
  EXPECT_EQ(std::ranges::count_if(texts, [](const auto& t) { return t.starts_with("[vernier]"); }),
            1);
  EXPECT_TRUE(std::ranges::is_sorted(at + 1, texts.end()));
  EXPECT_THAT(texts.back(), StartsWith("line 0039999"));
}

TEST_F(OutputTest, ATailIsFoundAcrossSegments) {
  OutputWriter writer(log_, kLimit);
  writer.Write(Lines(0, 9000));
  ASSERT_GT(ListSegments(log_).size(), 3U);
  for (const std::int64_t count : {1, 2, 700, 1400, 4000, 9000, 20000}) {
    const std::vector<std::string> texts = TailTexts(count);
    ASSERT_THAT(texts, SizeIs(static_cast<std::size_t>(std::min<std::int64_t>(count, 9000))));
    EXPECT_THAT(texts.front(), StartsWith(fmt::format("line {:07}", 9000 - texts.size())));
    EXPECT_THAT(texts.back(), StartsWith("line 0008999"));
  }
}

TEST_F(OutputTest, ATailIsFollowedIntoTheNextSegment) {
  OutputWriter writer(log_, kLimit);
  writer.Write(Lines(0, 100));
  LogReader reader(folder_);
  ASSERT_THAT(reader.SeekTail(1), IsOk());
  writer.Write(Lines(100, 3000));
  ASSERT_GT(ListSegments(log_).size(), 1U);
  const std::vector<std::string> texts = Texts(reader);
  ASSERT_THAT(texts, SizeIs(2901));
  EXPECT_THAT(texts.front(), StartsWith("line 0000099"));
}

// A terabyte of nothing: whoever read it all would not come back.
TEST_F(OutputTest, ATailReadsNoMoreOfALogThanItTakes) {
  std::ofstream(log_) << "";
  fs::resize_file(log_, std::uintmax_t{1} << 40);
  std::ofstream(log_, std::ios::app | std::ios::binary) << "\n" << Lines(0, 5) << "1970-01";
  EXPECT_THAT(TailTexts(2), ElementsAre(StartsWith("line 0000003"), StartsWith("line 0000004")));
}

TEST_F(OutputTest, ATailIsFoundWhereverItsLinesCrossTheBlocksOfTheSearch) {
  const std::string blank = "1970-01-01T00:00:01.000000Z O ";
  for (const int length : {0, 1, 65535, 65536}) {
    for (int before = 65530; before < 65542; ++before) {
      std::ofstream file(log_, std::ios::trunc | std::ios::binary);
      file << blank << std::string(static_cast<std::size_t>(before), 'a') << "\n"
           << blank << std::string(static_cast<std::size_t>(length), 'b') << "\n"
           << blank << "c\n";
      file.close();
      const std::vector<std::string> texts = TailTexts(2);
      ASSERT_THAT(texts, ElementsAre(std::string(static_cast<std::size_t>(length), 'b'), "c"));
    }
  }
}

TEST_F(OutputTest, OtherFilesAreNoSegments) {
  for (const std::string name : {"output.log",
                                 "output.log.000000000012",
                                 "output.log.12",
                                 "output.log.",
                                 "output.log.x",
                                 "output.log.1x",
                                 "output.log.-3",
                                 "output.logs",
                                 "exit.json"}) {
    std::ofstream(folder_ + "/chief-0/" + name) << "x\n";
  }
  EXPECT_THAT(ListSegments(log_), ElementsAre(0, 12));
  EXPECT_EQ(SegmentPath(log_, 0), log_);
  EXPECT_EQ(SegmentPath(log_, 33554432), log_ + ".000033554432");
  EXPECT_THAT(ListSegments(folder_ + "/none/output.log"), SizeIs(0));
}

}  // namespace
}  // namespace vernier::launch
