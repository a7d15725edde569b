#include "src/cli/gcloud/transform.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vernier::gcloud {
namespace {

using ::testing::HasSubstr;
using ::vernier::testing::StatusIs;

const char kResource[] = R"({
  "uri": "projects/p/jobs/census", "zone": "https://host/v1/projects/p/zones/us-east1-b",
  "created": "2026-11-20T12:00:00.5Z", "ended": "2026-11-21T13:30:00.5Z", "limit": "7200s",
  "bytes": "3221225472", "seconds": 93784.5, "rate": 0.123456789, "on": true, "off": false, "empty": "",
  "tags": ["b", "a", "c"], "paths": ["x/1", "x/2"], "labels": {"team": "vision", "owner": "ann"},
  "trials": [{"id": "1", "lr": 0.1}, {"id": "2"}], "deep": [["a/b"], ["c/d"]], "word": "aXbXc", "blob": "aGk="})";

TimeFrame TransformFrame() {
  absl::TimeZone zone;
  EXPECT_TRUE(absl::LoadTimeZone("Europe/Zurich", &zone));
  return {.now = absl::FromCivil(absl::CivilSecond(2026, 11, 22, 12, 0, 0), absl::UTCTimeZone()),
          .zone = zone};
}

std::string Evaluated(const std::string& text) {
  Lexer lexer("--format", text);
  const absl::StatusOr<Expression> expression = ReadExpression(lexer);
  if (!expression.ok()) return std::string(expression.status().message());
  return TextOf(Evaluate(*expression, Json::parse(kResource), TransformFrame()));
}

struct TransformCase {
  std::string text;
  std::string value;
};

class TransformTest : public ::testing::TestWithParam<TransformCase> {};

TEST_P(TransformTest, ChangesTheValue) {
  EXPECT_EQ(Evaluated(GetParam().text), GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Table,
                         TransformTest,
                         ::testing::ValuesIn(std::vector<TransformCase>{
                             {"uri.basename()", "census"},
                             {"paths.basename()", R"(["1","2"])"},
                             {"none.basename(undefined=-)", "-"},
                             {"none.basename('?')", "?"},
                             {"uri.segment()", "census"},
                             {"uri.segment(1)", "p"},
                             {"uri.segment(-2)", "jobs"},
                             {"uri.segment(9,undefined=x)", "x"},
                             {"zone.scope()", "us-east1-b"},
                             {"zone.scope(projects)", "p/zones/us-east1-b"},
                             {"zone.scope(none)", "us-east1-b"},
                             {"created.date()", "2026-11-20T12:00:00"},
                             {"created.date('%d.%m.%Y %H:%M', tz=LOCAL)", "20.11.2026 13:00"},
                             {"created.date(tz=Asia/Tokyo)", "2026-11-20T21:00:00"},
                             {"created.date(format=\"%Y-%m-%d\")", "2026-11-20"},
                             {"created.iso()", "2026-11-20T12:00:00.500+00:00"},
                             {"none.date(undefined=never)", "never"},
                             {"word.date()", ""},
                             {"limit.duration()", "PT2H"},
                             {"seconds.duration()", "P1DT2H3M"},
                             {"seconds.duration(parts=9)", "P1DT2H3M4.5S"},
                             {"seconds.duration(calendar=false)", "PT26H3M4.5S"},
                             {"duration(start=created,end=ended)", "P1DT1H30M"},
                             {"duration(start=created)", "P1DT23H59M"},
                             {"ended.duration()", "PT22H29M59.5S"},
                             {"word.duration(undefined=-)", "-"},
                             {"bytes.size()", "3 GiB"},
                             {"bytes.size(units_out=M)", "3072.0"},
                             {"none.size()", "0"},
                             {"tags.len()", "3"},
                             {"word.len()", "5"},
                             {"none.len()", "0"},
                             {"tags.list()", "b,a,c"},
                             {"tags.list(separator=' ')", "b a c"},
                             {"labels.list()", "owner=ann,team=vision"},
                             {"labels.list(show=keys)", "owner,team"},
                             {"labels.list(show=values)", "ann,vision"},
                             {"trials[].id.list()", "1,2"},
                             {"trials.id.list()", "1,2"},
                             {"deep.flatten()", "a/b,c/d"},
                             {"tags.join('+')", "b+a+c"},
                             {"tags.sort().join('')", "abc"},
                             {"trials.sort(attr=lr).len()", "2"},
                             {"tags.slice(1:).join()", "a/c"},
                             {"tags.slice(:1).join()", "b"},
                             {"tags.slice(-1:).join()", "c"},
                             {"tags.slice(1).join()", "a"},
                             {"uri.split().slice(0).join()", "projects"},
                             {"word.split('X').join('-')", "a-b-c"},
                             {"word.lower()", "axbxc"},
                             {"word.upper()", "AXBXC"},
                             {"word.sub('x', '.')", "a.b.c"},
                             {"word.sub(x, ., 1)", "a.bXc"},
                             {"word.sub(x, ., ignorecase=false)", "aXbXc"},
                             {"word.regex('^a', yes, no)", "yes"},
                             {"word.regex('^b', yes, no)", "no"},
                             {"word.trailoff(6)", "aXbXc"},
                             {"uri.trailoff(8)", "proje..."},
                             {"on.yesno(yes=yes, no=no)", "yes"},
                             {"off.yesno(yes=yes, no=no)", "no"},
                             {"none.yesno()", "No"},
                             {"empty.yesno(no='-')", "-"},
                             {"on", "True"},
                             {"off", "False"},
                             {"rate", "0.123457"},
                             {"rate.float(3)", "0.123"},
                             {"rate.float(2,f)", "0.12"},
                             {"format('{0}/{1}', labels.team, uri.nothing)", "vision/"},
                             {"word.format('<{}>')", "<aXbXc>"},
                             {"tags.format('{1}{0}')", "ab"},
                             {"firstof(none, word)", "aXbXc"},
                             {"extract(word, none, uri)", R"(["aXbXc","projects/p/jobs/census"])"},
                             {"tags.count()", R"({"b":1,"a":1,"c":1})"},
                             {"trials[].lr.notnull().len()", "1"},
                             {"deep.map(2).basename().flatten()", "b,d"},
                             {"paths.*segment(0).list()", "x,x"},
                             {"blob.decode(base64)", "hi"},
                             {"word.encode(base64)", "YVhiWGM="},
                             {"uri.always().basename()", "census"},
                             {"zone.uri()", "https://host/v1/projects/p/zones/us-east1-b"},
                             {"none.uri()", "."},
                         }),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(Transform, SaysWhatIsWrong) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"a.basname()", "--format: there is no function 'basname'; did you mean 'basename'?"},
           {"a.zzzzzzzzzz()", "known: always, basename"},
           {"a.len(3)", "len() takes no arguments, got '3'"},
           {"a.basename(1, 2)", "basename() takes undefined, got '2'"},
           {"a.regex()", "regex() needs expression"},
           {"a.sub('(', x)", "'(' is no regular expression"},
           {"a.format('{0:f.1}')", "format() knows {0}, {1}, …, got '{0:f.1}'"},
           {"a.len().b", "expected a function after '.'"},
           {"a.len(", "expected an argument"},
           {"a.len(,)", "expected an argument"},
           {"[0](x)", "expected the name of a function"}}) {
    EXPECT_THAT(Evaluated(text), HasSubstr(error)) << text;
  }
}

TEST(TextOf, IsWhatGcloudPrints) {
  EXPECT_EQ(TextOf(Json(3.0)), "3.0");
  EXPECT_EQ(TextOf(Json(12345678.25)), "12345678.2");
  EXPECT_EQ(TextOf(Json(1e-7)), "1e-07");
  EXPECT_EQ(TextOf(Json(1234567890123LL)), "1234567890123");
  EXPECT_EQ(TextOf(Json()), "");
  EXPECT_EQ(TextOf(Json::parse(R"({"a": [1]})")), R"({"a":[1]})");
}

}  // namespace
}  // namespace vernier::gcloud
