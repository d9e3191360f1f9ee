// JSON with every access, pair, reason and fallback. A pair is two indices into "accesses", and an access
// takes one line: a change can put hundreds of thousands of pairs at risk. "schema" grows when a field
// changes meaning.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

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
  if (access.stands_for != 0) json["stands_for"] = access.stands_for;
  if (!access.locks.empty()) json["locks"] = access.locks;
  if (access.impacted) {
    json["rule"] = to_string(access.rule);
    json["cause"] = access.cause;
    json["cause_file"] = access.cause_file;
    json["cause_line"] = access.cause_at.line;
  }
  return json;
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

namespace {

/// Stand for the long lists until those are written, without a line for each number.
constexpr std::string_view kAccesses = "@accesses@", kPairs = "@pairs@", kUncovered = "@uncovered_pairs@";

Json without_long_lists(const SelectionView& view) {
  Json json{{"schema", 2},
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
            {"accesses", kAccesses},
            {"pairs", kPairs},
            {"uncovered_pairs", kUncovered},
            {"unknowns", Json::array()},
            {"fallbacks", Json::array()}};
  for (const Decision& decision : view.selection.decisions)
    json["tests"].push_back(decision_json(view, decision));
  for (const NewTest& test : view.new_tests)
    json["new_tests"].push_back({{"test", test.name}, {"file", test.file}, {"line", test.line}});
  for (const Unknown& unknown : view.impact.unknowns)
    json["unknowns"].push_back({{"what", unknown.what}, {"file", unknown.file}});
  for (const Fallback& fallback : view.fallbacks)
    json["fallbacks"].push_back({{"kind", fallback.kind}, {"text", fallback.text}, {"file", fallback.file}});
  return json;
}

/// A line break never stands inside a JSON string, so only the member itself begins like this.
void fill_in(std::string& text, std::string_view member, std::string_view placeholder,
             const std::string& list) {
  const std::string start = fmt::format("\n  \"{}\": ", member);
  const std::size_t at = text.find(start) + start.size();
  text.replace(at, placeholder.size() + 2, list);
}

}  // namespace

Json why_json(const SelectionView& view, const Decision& decision) {
  Json json = decision_json(view, decision);
  for (std::size_t i = 0; i < decision.reasons.size(); ++i) {
    if (decision.reasons[i].kind != ReasonKind::Pair) continue;
    const AccessPair& pair = view.impact.pairs[decision.reasons[i].pair];
    json["reasons"][i]["first"] = access_json(view, view.impact.accesses[pair.first]);
    json["reasons"][i]["second"] = access_json(view, view.impact.accesses[pair.second]);
  }
  return json;
}

std::string selection_json(const SelectionView& view) {
  std::string accesses, pairs, uncovered;
  for (const SharedAccess& access : view.impact.accesses)
    accesses += (accesses.empty() ? "\n    " : ",\n    ") + access_json(view, access).dump();
  for (const AccessPair& pair : view.impact.pairs)
    fmt::format_to(std::back_inserter(pairs), "{}[{},{}]", pairs.empty() ? "" : ",", pair.first, pair.second);
  for (const std::uint32_t pair : view.selection.uncovered)
    fmt::format_to(std::back_inserter(uncovered), "{}{}", uncovered.empty() ? "" : ",", pair);
  std::string text = without_long_lists(view).dump(2);
  fill_in(text, "uncovered_pairs", kUncovered, "[" + uncovered + "]");
  fill_in(text, "pairs", kPairs, "[" + pairs + "]");
  fill_in(text, "accesses", kAccesses, "[" + accesses + (accesses.empty() ? "]" : "\n  ]"));
  return text + "\n";
}

}  // namespace simrt::report
