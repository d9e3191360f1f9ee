#include "pipeline/execution/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace simrt::pipeline {
namespace {

const char* meaning_of(format::Input kind) {
  switch (kind) {
#define X(name, number, meaning) \
  case format::Input::name:      \
    return meaning;
    SIMRT_INPUTS(X)
#undef X
  }
  return "";
}

bool counts(const testing::ExecutionInput& input, const InputScope& scope) {
  if (scope.event != SIZE_MAX && input.events > scope.event) return false;
  if (!scope.one_start) return true;
  return !input.before_execution && input.kind != format::Input::TemporaryDirectory;
}

std::string place_of(const testing::Execution& execution, const testing::ExecutionInput& input,
                     Symbols& symbols) {
  std::vector<std::uint64_t> calls;
  for (const std::uint64_t pc : {input.pc, input.caller})
    if (pc != 0) calls.push_back(pc);
  const auto stack = symbols.stack(execution, calls);
  const CodeFrame* frame = own_frame(stack);
  if (frame == nullptr || !frame->own()) return {};
  return fmt::format("{} at {}:{}", frame->function, frame->file, frame->line);
}

}  // namespace

std::vector<report::UncontrolledInput> inputs_of(const std::vector<const testing::Execution*>& executions,
                                                 const InputScope& scope, Symbols* symbols) {
  std::map<format::Input, report::UncontrolledInput> by_kind;
  for (const testing::Execution* execution : executions) {
    for (const testing::ExecutionInput& input : execution->inputs) {
      if (!counts(input, scope) || by_kind.contains(input.kind)) continue;
      by_kind[input.kind] = {meaning_of(input.kind), input.name,
                             symbols != nullptr ? place_of(*execution, input, *symbols) : std::string()};
    }
  }
  std::vector<report::UncontrolledInput> inputs;
  for (auto& [kind, input] : by_kind) inputs.push_back(std::move(input));
  return inputs;
}

std::string to_string(const std::vector<report::UncontrolledInput>& inputs) {
  std::vector<std::string> words;
  for (const report::UncontrolledInput& input : inputs)
    words.push_back(
        fmt::format("{} ({}{}{})", input.kind, input.name, input.place.empty() ? "" : ", ", input.place));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string read_clause(const std::vector<const testing::Execution*>& executions, const InputScope& scope,
                        Symbols* symbols) {
  const auto inputs = inputs_of(executions, scope, symbols);
  return inputs.empty() ? std::string()
                        : fmt::format("; what the program read and is not controlled: {}", to_string(inputs));
}

}  // namespace simrt::pipeline
