// Findings as a person reads them: what, where on both sides, then the interleaving in columns.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/findings_view.h"
#include "report/wording.h"

namespace simrt::report {
namespace {

constexpr std::size_t kWidth = 118;
constexpr std::size_t kFramesShown = 6;
constexpr std::size_t kMostColumns = 4;

std::string incomplete_text(const CheckView& view) {
  const auto cut = std::count_if(view.tests.begin(), view.tests.end(),
                                 [](const CheckedTestLine& test) { return !test.complete; });
  std::vector<std::string> parts;
  if (view.not_run != 0) parts.push_back(plural(view.not_run, "test") + " not checked");
  if (cut != 0) parts.push_back(plural(static_cast<std::size_t>(cut), "test") + " not to the end");
  return fmt::format("incomplete: {}\n", fmt::join(parts, ", "));
}

/// One line for what is said of several tests: they are often the same few words of many tests.
std::string test_notes_text(const std::vector<CheckedTestLine>& tests) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // in the order of their first test
  for (const CheckedTestLine& test : tests)
    for (const std::string& text : test.notes) {
      auto known =
          std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == text; });
      if (known == notes.end()) known = notes.insert(notes.end(), {text, {}});
      known->second.push_back(test.name);
    }
  std::string out;
  for (const auto& [text, names] : notes) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames));
    out += fmt::format("note: {}", fmt::join(names.begin(), end, ", "));
    if (names.size() > kMostNames) out += fmt::format(" and {} more", names.size() - kMostNames);
    out += fmt::format(": {}\n", text);
  }
  return out;
}

std::string place(const CodeFrame& frame) {
  if (frame.file.empty()) return "?";
  if (frame.line == 0) return frame.file;  // what the compiler added
  return frame.column == 0 ? fmt::format("{}:{}", frame.file, frame.line)
                           : fmt::format("{}:{}:{}", frame.file, frame.line, frame.column);
}

std::string short_place(const CodeFrame& frame) {
  const auto slash = frame.file.rfind('/');
  const std::string name = slash == std::string::npos ? frame.file : frame.file.substr(slash + 1);
  return frame.line == 0 ? name : fmt::format("{}:{}", name, frame.line);
}

std::string stack_lines(const std::vector<CodeFrame>& stack, const std::string& indent) {
  std::string out;
  std::size_t shown = 0;
  for (const CodeFrame& frame : stack) {
    if (!frame.own() && shown != 0) continue;  // a library's inside says nothing once the call is known
    if (shown++ == kFramesShown) return out + indent + "...\n";
    out += fmt::format("{}{}  {}\n", indent, frame.function.empty() ? "?" : frame.function, place(frame));
  }
  return out;
}

std::string side_lines(const FindingSide& side) {
  const CodeFrame* at = own_frame(side.stack);
  std::string out = fmt::format("     {:<12} {}  in {}{}\n", to_string(side.kind), at ? place(*at) : "?",
                                at && !at->function.empty() ? at->function : "?",
                                side.object.empty() ? "" : fmt::format("  ({})", side.object));
  out += fmt::format("       thread   {}\n", side.thread.name);
  if (!side.locks_known) {
    out += "       locks    not known\n";
  } else {
    for (const HeldLock& lock : side.locks) {
      const CodeFrame* taken = own_frame(lock.acquired);
      out += fmt::format("       holds    {}{}, taken at {}\n", lock.name, lock.shared ? " (shared)" : "",
                         taken ? place(*taken) : "?");
    }
    if (side.locks.empty()) out += "       holds    no lock\n";
  }
  if (side.stack.size() > 1) out += stack_lines(side.stack, "         ");
  return out;
}

std::string header(const Finding& finding, std::size_t number) {
  std::string out = number == 0 ? "" : fmt::format("{:>3}. ", number);
  out += fmt::format("{}  [{}", title(finding), to_string(finding.status));
  if (finding.harm != Harm::Unknown) out += fmt::format(", {}", to_string(finding.harm));
  if (finding.status == FindingStatus::Confirmed) out += fmt::format(", {}", to_string(finding.standing));
  return out + "]\n";
}

struct Columns {
  std::map<std::uint32_t, std::size_t> of;
  std::size_t count = 0;
};

Columns columns_of(const std::vector<InterleavingStep>& steps) {
  Columns columns;
  std::vector<std::uint32_t> order;
  for (const bool key : {true, false})  // the threads that take part come first
    for (const InterleavingStep& step : steps)
      if (step.key == key && std::find(order.begin(), order.end(), step.thread) == order.end())
        order.push_back(step.thread);
  columns.count = std::min(order.size(), kMostColumns);
  std::vector<std::uint32_t> own(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(columns.count));
  std::sort(own.begin(), own.end());
  for (std::size_t i = 0; i < own.size(); ++i) columns.of[own[i]] = i;
  for (std::uint32_t thread : order)
    columns.of.try_emplace(thread, columns.count == 0 ? 0 : columns.count - 1);
  return columns;
}

std::string cut(std::string text, std::size_t width) {
  if (text.size() > width) text = text.substr(0, width > 2 ? width - 2 : 0) + "..";
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

std::size_t CheckView::count(FindingStatus status) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) {
        return finding.status == status && finding.standing != Standing::Suppressed;
      }));
}

std::size_t CheckView::new_bugs() const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.status == FindingStatus::Confirmed && finding.standing == Standing::New;
  }));
}

std::string interleaving_text(const std::vector<InterleavingStep>& steps, const std::string& indent) {
  if (steps.empty()) return {};
  const Columns columns = columns_of(steps);
  const std::size_t width = (kWidth - indent.size() - 3 * (columns.count - 1)) / columns.count;
  std::vector<std::string> heads(columns.count);
  for (const auto& [thread, column] : columns.of)
    heads[column] += fmt::format("{}{}", heads[column].empty() ? "thread " : ", ", thread);
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string line = indent;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : " | ") + cut(cells[i], width);
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = row(heads) + indent;
  for (std::size_t i = 0; i < columns.count; ++i) out += (i == 0 ? "" : "-+-") + std::string(width, '-');
  out += "\n";
  for (const InterleavingStep& step : steps) {
    if (step.skipped > 0) out += fmt::format("{}  ... {} steps\n", indent, step.skipped);
    std::vector<std::string> cells(columns.count);
    // One line may read, be overtaken, and write: the kind tells its steps apart.
    const std::string what = step.text.empty() ? std::string() : "  " + step.text;
    cells[columns.of.at(step.thread)] =
        fmt::format("{}{} {}{}", step.key ? "> " : "  ", short_place(step.at), to_string(step.kind), what);
    out += row(cells);
  }
  return out;
}

std::string finding_text(const Finding& finding, std::size_t number) {
  std::string out = header(finding, number);
  for (const FindingSide& side : finding.sides) out += side_lines(side);
  if (!finding.memory.empty()) out += fmt::format("     memory: {}\n", finding.memory);
  out += fmt::format("     {}: {}\n", finding.status == FindingStatus::Confirmed ? "proof" : "not proven",
                     finding.evidence);
  if (!finding.difference.empty()) out += fmt::format("     harm: {}\n", finding.difference);
  if (finding.cause) {
    out += fmt::format("     why: {}: {} ({}:{})\n", finding.cause->rule, finding.cause->text,
                       finding.cause->file, finding.cause->line);
    if (!finding.cause->first.empty())
      out += fmt::format("     pair: {}  with  {}\n", finding.cause->first, finding.cause->second);
  }
  out += fmt::format("     {}: {}\n", finding.test_names.size() == 1 ? "test" : "tests",
                     fmt::join(finding.test_names, ", "));
  if (!finding.suppression.empty()) out += fmt::format("     suppressed: {}\n", finding.suppression);
  if (!finding.witness.empty()) out += fmt::format("     again: simrt replay {}\n", finding.witness);
  if (!finding.interleaving.empty()) out += "\n" + interleaving_text(finding.interleaving, "       ");
  return out;
}

std::string render_check_text(const CheckView& view) {
  std::uint64_t executions = 0;
  for (const CheckedTestLine& test : view.tests) executions += test.executions;
  std::string out = fmt::format(
      "{}: {} checked, {} in {:.1f} s (detector {}, seed {})\n",
      view.base.empty() ? "whole program" : short_revision(view.base) + " -> " + short_revision(view.head),
      plural(view.tests.size(), "test"), plural(executions, "execution"), view.seconds, view.detector,
      view.seed);
  std::size_t number = 0;
  constexpr std::size_t kMostPotential = 20;  // a test too slow to be followed up may hint at hundreds
  std::size_t potential = 0;
  for (const FindingStatus status : {FindingStatus::Confirmed, FindingStatus::Potential}) {
    bool first = true;
    for (const Finding& finding : view.findings) {
      if (finding.status != status) continue;
      if (first && status == FindingStatus::Potential)
        out += "\npotential (predicted, not witnessed within the bounds; not counted as bugs):\n";
      first = false;
      if (status == FindingStatus::Potential && ++potential > kMostPotential) continue;
      out += "\n" + finding_text(finding, ++number);
    }
  }
  if (potential > kMostPotential)
    out += fmt::format("\n  ... and {} more (--format json lists all)\n", potential - kMostPotential);
  if (!view.fixed.empty()) out += "\nno longer seen:\n";
  for (const FixedFinding& fixed : view.fixed) out += fmt::format("  {}\n", fixed.title);
  out += fmt::format("\n{} new, {} confirmed in all, {} potential, {} no longer seen\n",
                     plural(view.new_bugs(), "bug"), view.count(FindingStatus::Confirmed),
                     view.count(FindingStatus::Potential), view.fixed.size());
  if (view.outside != 0)
    out += fmt::format("{} outside what the change touches: not followed (--all looks at everything)\n",
                       plural(view.outside, "hint"));
  if (!view.complete) out += incomplete_text(view);
  out += test_notes_text(view.tests);
  for (const std::string& note : view.notes) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace simrt::report
