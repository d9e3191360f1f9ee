#include "pipeline/test_changes.h"

#include <algorithm>

#include "pipeline/test_code.h"
#include "pipeline/unit_plan.h"

namespace simrt::pipeline {
namespace {

bool covers_any(const TestCoverage* coverage, const BlockSet& blocks) {
  if (!coverage) return false;
  if (!(coverage->several & blocks).isEmpty()) return true;
  return std::any_of(coverage->single.begin(), coverage->single.end(),
                     [&](const ThreadCoverage& thread) { return !(thread.blocks & blocks).isEmpty(); });
}

/// True when the test runs this body: "Suite.Case" is its selector, or its selector up to a parameter
/// ("Inst/Suite.Case/0").
bool runs_body(const TestCase& test, const std::string& body) {
  if (test.selector == body) return true;
  const std::size_t dot = body.find('.');
  if (dot == std::string::npos) return false;
  const std::string suite = body.substr(0, dot), name = body.substr(dot + 1);
  const std::string& selector = test.selector;
  const std::size_t at = selector.find("/" + suite + "." + name + "/");
  return at != std::string::npos || selector.rfind(suite + "/", 0) == 0;
}

/// Recorded tests that run, or entered, a test body in the file of a new one.
void find_siblings(const Program& before, const std::vector<TestWithCoverage>& tests,
                   const std::function<BlockSet(FunctionId)>& blocks_of,
                   std::vector<report::NewTest>& added) {
  for (report::NewTest& fresh : added) {
    std::set<TestId> siblings;
    for (const FunctionFacts& function : before.functions) {
      if (function.file != fresh.file || !is_test_body(function)) continue;
      const auto body = test_of_function(function);
      const BlockSet blocks = blocks_of(function.id);
      for (const TestWithCoverage& entry : tests)
        if ((body && runs_body(*entry.test, *body)) || covers_any(entry.coverage, blocks))
          siblings.insert(entry.test->id);
    }
    fresh.siblings.assign(siblings.begin(), siblings.end());
  }
}

}  // namespace

std::set<std::string> test_files(const Program& program) {
  std::set<std::string> files;
  for (const FunctionFacts& function : program.functions)
    if (is_test_body(function) && is_source_file(function.file)) files.insert(function.file);
  return files;
}

TestChanges find_test_changes(const Program& before, const Program& after, const ProgramDiff& diff,
                              const std::vector<TestWithCoverage>& tests,
                              const std::function<BlockSet(FunctionId)>& blocks_of) {
  TestChanges changes;
  std::set<std::string> files = test_files(before);
  files.merge(test_files(after));
  std::set<std::string> bodies_after;
  for (const FunctionFacts& function : after.functions)
    if (auto body = test_of_function(function)) bodies_after.insert(*body);

  for (const FunctionDiff& function : diff.functions) {
    if (function.status == FunctionStatus::Added) {
      const FunctionFacts* facts = after.function(function.id);
      const auto body = facts ? test_of_function(*facts) : std::nullopt;
      if (body) changes.added.push_back({*body, facts->file, facts->begin_line, {}});
      continue;
    }
    const FunctionFacts* facts = before.function(function.old_id ? function.old_id : function.id);
    if (!facts || function.status == FunctionStatus::Unchanged || is_test_registration(*facts)) continue;
    const auto body = test_of_function(*facts);
    const bool gone = function.status == FunctionStatus::Removed;
    if (gone && body && !bodies_after.contains(*body)) {
      for (const TestWithCoverage& entry : tests)
        if (runs_body(*entry.test, *body)) changes.deleted[entry.test->id] = facts->name;
    } else if (files.contains(facts->file)) {
      const BlockSet blocks = blocks_of(facts->id);
      for (const TestWithCoverage& entry : tests)
        if ((body && runs_body(*entry.test, *body)) || covers_any(entry.coverage, blocks))
          changes.changed.try_emplace(entry.test->id, facts->name);
    }
  }
  find_siblings(before, tests, blocks_of, changes.added);
  std::sort(changes.added.begin(), changes.added.end(), [](const auto& a, const auto& b) {
    return std::tie(a.file, a.line, a.name) < std::tie(b.file, b.line, b.name);
  });
  for (const auto& [test, name] : changes.deleted) changes.changed.erase(test);
  return changes;
}

}  // namespace simrt::pipeline
