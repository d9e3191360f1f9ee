// JSON with every side, stack, lock, thread and step. "schema" grows when a field changes meaning.
#include "report/findings_view.h"

namespace simrt::report {
namespace {

using Json = nlohmann::ordered_json;

Json frame_json(const CodeFrame& frame) {
  return {{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"column", frame.column}};
}

Json stack_json(const std::vector<CodeFrame>& stack) {
  Json frames = Json::array();
  for (const CodeFrame& frame : stack) frames.push_back(frame_json(frame));
  return frames;
}

Json side_json(const FindingSide& side) {
  Json json{{"kind", to_string(side.kind)}};
  if (const CodeFrame* at = own_frame(side.stack)) json["at"] = frame_json(*at);
  if (!side.object.empty()) json["object"] = side.object;
  json["stack"] = stack_json(side.stack);
  json["locks_known"] = side.locks_known;
  json["locks"] = Json::array();
  for (const HeldLock& lock : side.locks)
    json["locks"].push_back(
        {{"name", lock.name}, {"shared", lock.shared}, {"acquired", stack_json(lock.acquired)}});
  json["thread"] = {
      {"index", side.thread.index}, {"role", side.thread.name}, {"created", stack_json(side.thread.created)}};
  return json;
}

}  // namespace

Json finding_json(const Finding& finding) {
  Json json{{"finding", fingerprint_text(fingerprint(finding))},
            {"kind", to_string(finding.kind)},
            {"status", to_string(finding.status)},
            {"standing", to_string(finding.standing)},
            {"harm", to_string(finding.harm)},
            {"title", title(finding)},
            {"variable", finding.variable},
            {"memory", finding.memory},
            {"evidence", finding.evidence},
            {"difference", finding.difference},
            {"tests", finding.test_names},
            {"sides", Json::array()}};
  if (finding.kind == FindingKind::Atomicity) json["pattern"] = finding.pattern;
  if (!finding.suppression.empty()) json["suppression"] = finding.suppression;
  for (const FindingSide& side : finding.sides) json["sides"].push_back(side_json(side));
  if (finding.cause)
    json["cause"] = {{"rule", finding.cause->rule},   {"text", finding.cause->text},
                     {"file", finding.cause->file},   {"line", finding.cause->line},
                     {"first", finding.cause->first}, {"second", finding.cause->second}};
  if (!finding.witness.empty()) json["witness"] = finding.witness;
  json["interleaving"] = Json::array();
  for (const InterleavingStep& step : finding.interleaving) {
    json["interleaving"].push_back({{"thread", step.thread},
                                    {"kind", to_string(step.kind)},
                                    {"at", frame_json(step.at)},
                                    {"text", step.text},
                                    {"key", step.key}});
    if (step.skipped > 0) json["interleaving"].back()["skipped"] = step.skipped;
  }
  return json;
}

std::string render_check_json(const CheckView& view) {
  Json json{{"schema", 1},
            {"head", view.head},
            {"base", view.base},
            {"detector", view.detector},
            {"seed", view.seed},
            {"seconds", view.seconds},
            {"complete", view.complete},
            {"new_bugs", view.new_bugs()},
            {"confirmed", view.count(FindingStatus::Confirmed)},
            {"potential", view.count(FindingStatus::Potential)},
            {"outside_the_diff", view.outside},
            {"tests_left_out", view.not_run},
            {"tests", Json::array()},
            {"findings", Json::array()},
            {"fixed", Json::array()},
            {"notes", view.notes}};
  for (const CheckedTestLine& test : view.tests)
    json["tests"].push_back({{"test", test.name},
                             {"executions", test.executions},
                             {"seconds", test.seconds},
                             {"complete", test.complete},
                             {"notes", test.notes}});
  for (const Finding& finding : view.findings) json["findings"].push_back(finding_json(finding));
  for (const FixedFinding& fixed : view.fixed)
    json["fixed"].push_back({{"finding", fixed.finding}, {"title", fixed.title}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace simrt::report
