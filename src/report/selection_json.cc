// JSON with every pair, both accesses, all reasons and fallbacks. "schema" grows when a field changes
// meaning.
#include <nlohmann/json.hpp>

#include "report/selection_formats.h"

namespace simrt::report {
namespace {

using Json = nlohmann::ordered_json;

std::string name_or(const std::unordered_map<FunctionId, std::string>& names, FunctionId id) {
  const auto found = names.find(id);
  return found == names.end() ? "?" : found->second;
}

Json access_json(const SelectionView& view, const SharedAccess& access) {
  const auto variable = view.variable_names.find(access.variable);
  Json json{{"function", name_or(view.function_names, access.function)},
            {"variable", variable == view.variable_names.end() ? "?" : variable->second},
            {"mode", access.mode == AccessMode::Read ? "read" : "write"},
            {"file", access.file},
            {"line", access.at.line},
            {"column", access.at.column},
            {"impacted", access.impacted}};
  if (access.mapped_function != access.function && access.mapped_function)
    json["mapped_to"] = name_or(view.function_names, access.mapped_function);
  if (!access.locks.empty()) json["locks"] = access.locks;
  if (access.impacted) {
    json["rule"] = to_string(access.rule);
    json["cause"] = access.cause;
    json["cause_file"] = access.cause_file;
    json["cause_line"] = access.cause_at.line;
  }
  return json;
}

Json pair_json(const SelectionView& view, std::uint32_t index) {
  const AccessPair& pair = view.impact.pairs[index];
  return {{"pair", index},
          {"first", access_json(view, view.impact.accesses[pair.first])},
          {"second", access_json(view, view.impact.accesses[pair.second])}};
}

Json reason_json(const Reason& reason) {
  Json json{{"kind", to_string(reason.kind)}, {"text", reason.text}};
  if (reason.kind == ReasonKind::Pair) {
    json["pair"] = reason.pair;
    json["threads"] = {reason.first_thread, reason.second_thread};
  }
  return json;
}

}  // namespace

Json decision_json(const SelectionView& view, const Decision& decision) {
  Json json{{"test", test_name(view, decision.test)},
            {"run", decision.run},
            {"rank", decision.rank},
            {"tier", to_string(decision.tier)},
            {"pairs", decision.pairs},
            {"new_pairs", decision.new_pairs},
            {"seconds", decision.seconds},
            {"reasons", Json::array()}};
  for (const Reason& reason : decision.reasons) json["reasons"].push_back(reason_json(reason));
  return json;
}

Json selection_json(const SelectionView& view) {
  Json json{{"schema", 1},
            {"base", view.base},
            {"requested_base", view.requested_base},
            {"head", view.head},
            {"technique", view.technique},
            {"rank", view.ranking},
            {"seed", view.seed},
            {"changed_files", view.changed_files},
            {"changed_functions", view.changed_functions},
            {"parsed_units", view.parsed_units},
            {"total_units", view.total_units},
            {"tests", Json::array()},
            {"new_tests", Json::array()},
            {"pairs", Json::array()},
            {"uncovered_pairs", view.selection.uncovered},
            {"unknowns", Json::array()},
            {"fallbacks", Json::array()}};
  for (const Decision& decision : view.selection.decisions)
    json["tests"].push_back(decision_json(view, decision));
  for (const NewTest& test : view.new_tests)
    json["new_tests"].push_back({{"test", test.name}, {"file", test.file}, {"line", test.line}});
  for (std::uint32_t i = 0; i < view.impact.pairs.size(); ++i) json["pairs"].push_back(pair_json(view, i));
  for (const Unknown& unknown : view.impact.unknowns)
    json["unknowns"].push_back({{"what", unknown.what}, {"file", unknown.file}});
  for (const Fallback& fallback : view.fallbacks)
    json["fallbacks"].push_back({{"kind", fallback.kind}, {"text", fallback.text}, {"file", fallback.file}});
  return json;
}

}  // namespace simrt::report
