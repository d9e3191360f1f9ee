#include "select/evidence.h"

#include <fmt/format.h>

#include <algorithm>

namespace simrt::select {
namespace {

constexpr std::size_t kUnknownsShown = 5;

bool enters(const TestCoverage& coverage, const BlockSet& blocks) {
  return coverage.several.intersect(blocks) ||
         std::any_of(coverage.single.begin(), coverage.single.end(),
                     [&](const ThreadCoverage& thread) { return thread.blocks.intersect(blocks); });
}

std::uint64_t count_entered(const TestCoverage& coverage, const BlockSet& blocks) {
  std::uint64_t count = coverage.several.and_cardinality(blocks);
  for (const ThreadCoverage& thread : coverage.single) count += thread.blocks.and_cardinality(blocks);
  return count;
}

Reason reason(ReasonKind kind, std::string text) { return {kind, 0, {}, {}, std::move(text)}; }

}  // namespace

Evidence::Evidence(const SelectInput& input) : technique_(input.options.technique) {
  if (technique_ == Technique::Rtsc) collect_dangerous(input);
  collect_unknowns(input);
}

void Evidence::collect_dangerous(const SelectInput& input) {
  for (const FunctionDiff& function : input.diff.functions) {
    for (std::uint32_t ordinal : function.dangerous) {
      const BlockResolution block = input.block({function.old_id, ordinal});
      if (block.kind == BlockResolution::Kind::Known)
        dangerous_.add(block.number);
      else if (block.kind == BlockResolution::Kind::StaticInit)
        everywhere_.push_back("the initialiser of a global changed");
      else
        add_unknown_function(input, function.old_id,
                             "a changed block of a function it ran could not be mapped");
    }
  }
}

void Evidence::collect_unknowns(const SelectInput& input) {
  for (const Unknown& unknown : input.impact.unknowns) {
    std::string text =
        unknown.file.empty() ? unknown.what : fmt::format("{} ({})", unknown.what, unknown.file);
    if (!unknown.function) {
      everywhere_.push_back(std::move(text));
      continue;
    }
    const FunctionDiff* diff = input.diff.find(unknown.function);
    add_unknown_function(input, diff && diff->old_id ? diff->old_id : unknown.function, std::move(text));
  }
  std::sort(everywhere_.begin(), everywhere_.end());
  everywhere_.erase(std::unique(everywhere_.begin(), everywhere_.end()), everywhere_.end());
}

void Evidence::add_unknown_function(const SelectInput& input, FunctionId function, std::string text) {
  const std::vector<BlockNumber> numbers = input.function_blocks(function);
  if (numbers.empty()) {
    everywhere_.push_back(std::move(text));
    return;
  }
  UnknownFunction unknown{{}, std::move(text)};
  unknown.blocks.addMany(numbers.size(), numbers.data());
  const bool known = std::any_of(functions_.begin(), functions_.end(), [&](const UnknownFunction& other) {
    return other.text == unknown.text && other.blocks == unknown.blocks;
  });
  if (!known) functions_.push_back(std::move(unknown));
}

std::vector<Reason> Evidence::reasons(const RecordedTest& test) const {
  std::vector<Reason> result = test.forced;
  if (technique_ == Technique::Rta) result.push_back(reason(ReasonKind::All, "every test is run (RTA)"));
  if (technique_ == Technique::Rtsc && test.coverage)
    if (const std::uint64_t count = count_entered(*test.coverage, dangerous_); count != 0)
      result.push_back(
          reason(ReasonKind::DangerousEdge,
                 fmt::format("enters {} block{} behind a dangerous edge", count, count == 1 ? "" : "s")));
  std::size_t unknowns = 0;
  const auto add_unknown = [&](const std::string& text) {
    if (unknowns++ < kUnknownsShown) result.push_back(reason(ReasonKind::UnknownChange, text));
  };
  for (const std::string& text : everywhere_) add_unknown(text);
  for (const UnknownFunction& function : functions_)
    if (test.coverage && enters(*test.coverage, function.blocks)) add_unknown(function.text);
  if (unknowns > kUnknownsShown)
    result.push_back(
        reason(ReasonKind::UnknownChange, fmt::format("and {} more", unknowns - kUnknownsShown)));
  return result;
}

}  // namespace simrt::select
