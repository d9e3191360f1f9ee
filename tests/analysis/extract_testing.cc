#include "extract_testing.h"

#include <clang/Frontend/ASTUnit.h>
#include <clang/Tooling/Tooling.h>
#include <gtest/gtest.h>
#include <llvm/Support/Path.h>

#include <stdexcept>

#include "analysis/extract/dump.h"
#include "analysis/extract/extract.h"

namespace simrt::analysis {

UnitFacts facts_of(const Source& source) {
  const bool is_c = source.path.ends_with(".c");
  std::vector<std::string> arguments{is_c ? "-std=c17" : "-std=c++20", "-w", "-pthread"};
  arguments.insert(arguments.end(), source.flags.begin(), source.flags.end());
  clang::tooling::FileContentMappings headers;
  for (const auto& [path, text] : source.headers)
    headers.emplace_back(path.starts_with("/") ? path : "/repo/" + path, text);
  const std::unique_ptr<clang::ASTUnit> ast = clang::tooling::buildASTFromCodeWithArgs(
      source.code, arguments, "/repo/" + source.path,
      is_c ? "/usr/lib/llvm-19/bin/clang" : "/usr/lib/llvm-19/bin/clang++",
      std::make_shared<clang::PCHContainerOperations>(),
      clang::tooling::getClangStripDependencyFileAdjuster(), headers);
  if (!ast || ast->getDiagnostics().hasErrorOccurred()) {
    ADD_FAILURE() << "does not parse:\n" << source.code;
    return {};
  }
  ExtractOptions options;
  options.unit_path = source.path;
  options.repository_path = [](llvm::StringRef path) -> std::optional<std::string> {
    llvm::SmallString<128> clean(path);
    llvm::sys::path::remove_dots(clean, true);
    llvm::StringRef relative = clean;
    return relative.consume_front("/repo/") ? std::optional(relative.str()) : std::nullopt;
  };
  return extract_unit(ast->getASTContext(), options);
}

bool has_function(const UnitFacts& unit, std::string_view name) {
  for (const FunctionFacts& facts : unit.functions)
    if (facts.name == name) return true;
  return false;
}

const FunctionFacts& function(const UnitFacts& unit, std::string_view name) {
  std::string known;
  for (const FunctionFacts& facts : unit.functions) {
    if (facts.name == name) return facts;
    known += " " + facts.name;
  }
  ADD_FAILURE() << "no function " << name << "; there are" << known;
  static const FunctionFacts kNone;
  return kNone;
}

const VariableFacts& variable(const UnitFacts& unit, std::string_view name) {
  for (const VariableFacts& facts : unit.variables)
    if (facts.name == name) return facts;
  ADD_FAILURE() << "no variable " << name;
  static const VariableFacts kNone;
  return kNone;
}

std::vector<std::string> event_lines(const UnitFacts& unit, std::string_view name) {
  std::vector<std::string> lines;
  const FunctionFacts& facts = function(unit, name);
  for (auto block = facts.blocks.rbegin(); block != facts.blocks.rend(); ++block)
    for (const Element& element : block->elements)
      for (const Event& event : element.events) lines.push_back(dump_event(event, unit));
  return lines;
}

std::string events_of(const UnitFacts& unit, std::string_view name) {
  std::string text;
  for (const std::string& line : event_lines(unit, name)) text += line + "\n";
  return text;
}

}  // namespace simrt::analysis
