// The list as a person reads it: what was compared, the tests in order with the best reason of each,
// then the pairs nobody reaches and every fallback.
#include <fmt/format.h>

#include <algorithm>

#include "report/selection_formats.h"
#include "report/wording.h"

namespace simrt::report {
namespace {

constexpr std::size_t kUncoveredShown = 10;

std::string access_line(const SelectionView& view, const SharedAccess& access, const std::string& thread) {
  const auto function = view.function_names.find(access.function);
  const auto variable = view.variable_names.find(access.variable);
  if (access.stands_for != 0)
    return fmt::format("{:<5} one of {} accesses that may be the same memory, as {} at {}",
                       access.mode == AccessMode::Read ? "read" : "write", access.stands_for,
                       variable == view.variable_names.end() ? "?" : variable->second,
                       access_location(access));
  return fmt::format("{:<5} {} at {} in {}{}", access.mode == AccessMode::Read ? "read" : "write",
                     variable == view.variable_names.end() ? "?" : variable->second, access_location(access),
                     function == view.function_names.end() ? "?" : function->second,
                     thread.empty() ? "" : fmt::format("  [{}]", thread));
}

std::string cause_line(const SharedAccess& access) {
  return fmt::format("{}: {} ({}:{})", to_string(access.rule), access.cause, access.cause_file,
                     access.cause_at.line);
}

std::string pair_lines(const SelectionView& view, const Reason& reason, const std::string& indent) {
  const AccessPair& pair = view.impact.pairs[reason.pair];
  const SharedAccess& first = view.impact.accesses[pair.first];
  const SharedAccess& second = view.impact.accesses[pair.second];
  std::string out = indent + access_line(view, first, reason.first_thread) + "\n";
  out += indent + access_line(view, second, reason.second_thread) + "\n";
  out += indent + "why:  " + cause_line(first.impacted ? first : second) + "\n";
  return out;
}

std::string decision_lines(const SelectionView& view, const Decision& decision) {
  std::string out = fmt::format(
      "{:>3}. {}  ({}, {:.2f} s)\n", decision.rank, test_name(view, decision.test),
      decision.pairs ? fmt::format("{}, {} new", plural(decision.pairs, "pair"), decision.new_pairs)
                     : to_string(decision.tier),
      decision.seconds);
  const auto pair_reason = std::find_if(decision.reasons.begin(), decision.reasons.end(),
                                        [](const Reason& reason) { return reason.kind == ReasonKind::Pair; });
  for (const Reason& reason : decision.reasons)
    if (reason.kind != ReasonKind::Pair)
      out += fmt::format("     {}: {}\n", to_string(reason.kind), reason.text);
  if (pair_reason != decision.reasons.end()) out += pair_lines(view, *pair_reason, "     ");
  return out;
}

std::string uncovered_lines(const SelectionView& view) {
  const auto& uncovered = view.selection.uncovered;
  if (uncovered.empty()) return {};
  std::string out = fmt::format("\nno recorded test reaches {} with two threads:\n",
                                plural(uncovered.size(), "impacted pair"));
  for (std::size_t i = 0; i < std::min(uncovered.size(), kUncoveredShown); ++i) {
    const AccessPair& pair = view.impact.pairs[uncovered[i]];
    out += "  - " + access_line(view, view.impact.accesses[pair.first], "") + "\n";
    out += "    " + access_line(view, view.impact.accesses[pair.second], "") + "\n";
  }
  if (uncovered.size() > kUncoveredShown)
    out += fmt::format("  ... and {} more (--format json lists all)\n", uncovered.size() - kUncoveredShown);
  return out;
}

std::string summary_lines(const SelectionView& view, std::size_t running) {
  std::string out =
      fmt::format("{} -> {}: {} changed, {} changed, {} of {} units parsed\n", short_revision(view.base),
                  short_revision(view.head), plural(view.changed_files, "file"),
                  plural(view.changed_functions, "function"), view.parsed_units, view.total_units);
  out +=
      fmt::format("{}; {} of {} selected (technique {}, rank {}, seed {})\n",
                  plural(view.impact.pairs.size(), "impacted pair"), running,
                  plural(view.selection.decisions.size(), "test"), view.technique, view.ranking, view.seed);
  return out;
}

}  // namespace

std::string render_text(const SelectionView& view) {
  std::vector<const Decision*> list;
  std::size_t running = 0, over_budget = 0;
  for (const Decision& decision : view.selection.decisions) {
    running += decision.run;
    over_budget += !decision.run && decision.tier == Tier::Selected;
    if (decision.rank != 0) list.push_back(&decision);
  }
  std::string out = summary_lines(view, running);
  if (over_budget != 0)
    out += fmt::format("{} more did not fit the time budget\n", plural(over_budget, "selected test"));
  if (!list.empty() || !view.new_tests.empty()) out += "\n";
  for (const NewTest& test : view.new_tests)
    out += fmt::format("  +  {}  new test at {}:{}\n", test.name, test.file, test.line);
  Tier tier = Tier::Selected;
  for (const Decision* decision : list) {
    if (decision->tier != tier)
      out += fmt::format("  -- the rest: {} --\n", to_string(tier = decision->tier));
    out += decision_lines(view, *decision);
  }
  out += uncovered_lines(view);
  if (!view.impact.unknowns.empty() || !view.fallbacks.empty()) out += "\n";
  for (const Unknown& unknown : view.impact.unknowns)
    out +=
        fmt::format("unknown: {}{}\n", unknown.what, unknown.file.empty() ? "" : " (" + unknown.file + ")");
  for (const Fallback& fallback : view.fallbacks)
    out += fmt::format("note: [{}] {}\n", fallback.kind, fallback.text);
  return out;
}

std::string render_why(const SelectionView& view, TestId test, const std::vector<std::string>& skip_details,
                       Format format) {
  const auto found = std::find_if(view.selection.decisions.begin(), view.selection.decisions.end(),
                                  [&](const Decision& decision) { return decision.test == test; });
  if (found == view.selection.decisions.end()) return {};
  if (format == Format::Json) {
    auto json = why_json(view, *found);
    json["details"] = skip_details;
    return json.dump(2) + "\n";
  }
  std::string out = fmt::format("{}: {}\n", test_name(view, test),
                                found->run ? fmt::format("selected, rank {}", found->rank) : "not selected");
  for (const Reason& reason : found->reasons) {
    if (reason.kind == ReasonKind::Pair)
      out += pair_lines(view, reason, "  ") + "\n";
    else
      out += fmt::format("  {}: {}\n", to_string(reason.kind), reason.text);
  }
  for (const std::string& line : skip_details) out += "  " + line + "\n";
  return out;
}

}  // namespace simrt::report
