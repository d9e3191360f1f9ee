#include "pipeline/changed_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

#include "pipeline/known_units.h"
#include "pipeline/unit_plan.h"
#include "support/log.h"
#include "support/progress.h"
#include "support/task_pool.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kBrokenShown = 3;

class Builder {
 public:
  explicit Builder(const ChangedProgramInput& input) : in_(input), known_(input.before, input.changes) {}

  Result<ChangedProgram> build() {
    const UnitPlan plan = plan_units(in_.before.units, in_.commands.hashes, in_.changes);
    parse(plan.parse);
    parse_further(plan);
    if (in_.interrupt && in_.interrupt->requested())
      return fail(ErrorCode::Interrupted, "interrupted while parsing the changed sources");
    log::detail("{} of {} units came from the cache of parsed units", out_.cached_units, parsed_.size());
    for (const UnitFacts& unit : parsed_)
      if (!unit.kept.empty())
        log::detail("{}: {} functions in unchanged files stay as recorded", unit.path, unit.kept.size());
    note(plan);
    finish(plan);
    return std::move(out_);
  }

 private:
  /// Facts of `units`, in their order: cached where a parse would see what it saw before.
  void parse(const std::set<std::string>& units) {
    struct Wanted {
      const analysis::CompileCommand* command;
      std::uint64_t known = 0;
      std::optional<UnitFacts> facts = std::nullopt;
    };
    std::vector<Wanted> wanted;
    for (const std::string& unit : units)
      if (const auto found = in_.commands.by_path.find(unit); found != in_.commands.by_path.end()) {
        known_.find(unit, in_.commands.hashes.at(unit));
        wanted.push_back({&found->second, known_.fingerprint(unit)});
      }
    run_tasks(wanted.size(), in_.jobs, [&](std::size_t i) {
      auto& [command, known, facts] = wanted[i];
      facts = in_.cache.find(command->file, analysis::command_hash(*command, in_.repository_root), known,
                             answers_);
    });
    std::vector<analysis::CompileCommand> missing;
    for (const Wanted& unit : wanted)
      if (!unit.facts) missing.push_back(*unit.command);
    out_.cached_units += wanted.size() - missing.size();
    std::vector<UnitFacts> fresh = parse_missing(missing);
    auto next = fresh.begin();
    for (Wanted& unit : wanted) parsed_.push_back(std::move(unit.facts ? *unit.facts : *next++));
  }

  std::vector<UnitFacts> parse_missing(const std::vector<analysis::CompileCommand>& commands) {
    if (commands.empty()) return {};
    Progress progress("parsing", commands.size());
    std::vector<analysis::Questions> questions;
    std::vector<UnitFacts> units = in_.analyzer.analyse(
        commands, in_.jobs,
        [&](std::size_t, std::size_t, const std::string& path) { progress.advance(path); }, &questions,
        known_.found());
    run_tasks(units.size(), in_.jobs, [&](std::size_t i) {
      in_.cache.store(units[i], known_.fingerprint(units[i].path), questions[i], answers_);
    });
    in_.cache.prune();
    return units;
  }

  void parse_further(const UnitPlan& plan) {
    const FurtherUnits further = further_units(plan, in_.before.units, parsed_);
    for (const std::string& header : further.widened_headers)
      out_.fallbacks.push_back(
          {"all-includers",
           fmt::format("{} changed outside function bodies: every unit that includes it was parsed", header),
           header});
    known_.widen(further.widened_headers);
    parse(further.units);
    std::set<std::string> represented;
    for (const auto& [header, unit] : plan.representative) represented.insert(header);
    const std::set<std::string> others = units_with_other_versions(in_.before, parsed_, represented);
    if (!others.empty())
      out_.fallbacks.push_back(
          {"template-users",
           fmt::format("{} more units were parsed: they instantiate a changed template, or define a changed "
                       "function otherwise",
                       others.size()),
           ""});
    parse(others);
  }

  /// Why units could not be parsed, in the compiler's words; the first few.
  void note_broken() {
    std::size_t broken = 0;
    for (const UnitFacts& unit : parsed_) {
      if (unit.errors == 0 || ++broken > kBrokenShown) continue;
      out_.fallbacks.push_back(
          {"broken-unit",
           fmt::format("{} does not parse: {}", unit.path,
                       unit.messages.empty() ? "no reason is known" : unit.messages.front()),
           unit.path});
    }
    if (broken > kBrokenShown)
      out_.fallbacks.push_back(
          {"broken-unit", fmt::format("and {} more units do not parse", broken - kBrokenShown), ""});
  }

  void note(const UnitPlan& plan) {
    note_broken();
    for (const std::string& file : in_.commands.guessed)
      out_.fallbacks.push_back(
          {"guessed-command",
           fmt::format(
               "{} is not in the compile database; parsed like a file it was renamed from or lies beside",
               file),
           file});
    for (const std::string& file : plan.without_command)
      out_.unknowns.push_back(
          {fmt::format("no compile command for {}; configure the build at this revision", file), file, {}});
  }

  void finish(const UnitPlan& plan) {
    Replacement replacement;
    replacement.reparsed = std::move(parsed_);
    replacement.removed_units = plan.removed;
    for (const auto& [header, unit] : plan.representative) replacement.represented_files.push_back(header);
    out_.parsed_units = replacement.reparsed.size();
    collect_touched(replacement);
    out_.after = overlay(in_.before, replacement);
    out_.outside = plan.outside;
  }

  void collect_touched(const Replacement& replacement) {
    std::map<std::string_view, std::unordered_set<FunctionId>> units;  // with what is kept of them
    for (const std::string& unit : replacement.removed_units) units.try_emplace(unit);
    for (const UnitFacts& unit : replacement.reparsed) {
      units.try_emplace(unit.path, unit.kept.begin(), unit.kept.end());
      for (const FunctionFacts& function : unit.functions) out_.touched.insert(function.id);
    }
    const std::set<std::string> represented(replacement.represented_files.begin(),
                                            replacement.represented_files.end());
    for (const FunctionFacts& function : in_.before.functions)
      if (represented.contains(function.file)) out_.touched.insert(function.id);
    for (const UnitSummary& unit : in_.before.units)
      if (const auto kept = units.find(unit.path); kept != units.end())
        for (const FunctionId function : unit.functions)
          if (!kept->second.contains(function)) out_.touched.insert(function);
  }

  const ChangedProgramInput& in_;
  const FactsCache::Answers answers_ = [this](const analysis::Questions& questions) {
    return in_.analyzer.answers(questions);
  };
  UnitKnowledge known_;
  std::vector<UnitFacts> parsed_;
  ChangedProgram out_;
};

}  // namespace

Result<ChangedProgram> build_changed_program(const ChangedProgramInput& input) {
  return Builder(input).build();
}

}  // namespace simrt::pipeline
