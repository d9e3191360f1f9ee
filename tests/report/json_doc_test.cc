// docs/json.md names every key that the reports have.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "report/explore_view.h"
#include "report/findings_view.h"
#include "report/selection_view.h"

namespace simrt::report {
namespace {

using Json = nlohmann::ordered_json;

std::string doc() {
  std::ifstream in(SIMRT_SOURCE_DIR "/docs/json.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Keys of `json`, at any depth, that the text does not have.
void missing(const Json& json, const std::string& text, std::string& result) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (text.find("`" + key + "`") == std::string::npos) result += key + " ";
      missing(value, text, result);
    }
  } else if (json.is_array()) {
    for (const Json& each : json) missing(each, text, result);
  }
}

std::string missing(const std::string& report) {
  std::string result;
  missing(Json::parse(report), doc(), result);
  return result;
}

/// One that has all there is to say.
Finding full_finding() {
  CodeFrame frame;
  frame.file = "a.cc";
  FindingSide side;
  side.object = "mutex";
  side.stack = {frame};
  side.locks.resize(1);
  side.locks[0].acquired = {frame};
  side.thread.created = {frame};
  Finding finding;
  finding.kind = FindingKind::Atomicity;
  finding.pattern = 4;
  finding.sides = {side, side};
  finding.suppression = "known";
  finding.cause = FindingCause{};
  finding.witness = "1";
  finding.interleaving.resize(1);
  finding.interleaving[0].skipped = 3;
  return finding;
}

TEST(JsonDoc, NamesTheKeysOfACheck) {
  CheckView view;
  view.tests.resize(1);
  view.findings = {full_finding()};
  view.fixed.resize(1);
  EXPECT_EQ(missing(render_check_json(view)), "");
}

TEST(JsonDoc, NamesTheKeysOfAnExploration) {
  ExploredTest test;
  test.failure_kinds = {FailureKind{}};
  test.growth = {CoverageStep{}};
  test.nondeterminism.emplace().inputs.resize(1);
  ExploreView view;
  view.tests = {test};
  view.findings = {full_finding()};
  EXPECT_EQ(missing(render_explore_json(view)), "");
}

TEST(JsonDoc, NamesTheKeysOfASelection) {
  SelectionView view;
  SharedAccess access;
  access.impacted = true;
  access.stands_for = 2;
  access.mapped_function = FunctionId{7};
  access.locks = {"m"};
  view.impact.accesses = {access, access};
  view.impact.pairs = {{0, 1}};
  view.impact.unknowns = {Unknown{}};
  Decision decision;
  decision.reasons = {Reason{}};
  view.selection.decisions = {decision};
  view.new_tests = {NewTest{}};
  view.fallbacks = {Fallback{}};
  const std::string report = render_selection(view, Format::Json);
  EXPECT_EQ(missing(report), "");
  EXPECT_NE(report.find("stands_for"), std::string::npos);
  EXPECT_NE(report.find("mapped_to"), std::string::npos);
}

TEST(JsonDoc, AKeyThatIsNotNamedIsSeen) {
  std::string result;
  missing(Json{{"tests", Json::array({{{"nobody_has_this_key", 1}}})}}, doc(), result);
  EXPECT_EQ(result, "nobody_has_this_key ");
}

// One that could not be started does not undo what another one showed.
TEST(CheckView, NothingWasCheckedWhereNoProgramTookPart) {
  CheckView view;
  EXPECT_FALSE(view.nothing_checked()) << "nothing was selected";
  view.without_part = 2;
  EXPECT_TRUE(view.nothing_checked());
  view.with_part = 1;
  EXPECT_FALSE(view.nothing_checked());
}

}  // namespace
}  // namespace simrt::report
