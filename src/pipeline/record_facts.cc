#include "pipeline/record_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "history/facts_store.h"
#include "support/hash.h"
#include "support/progress.h"

namespace simrt::pipeline {
namespace {

constexpr std::size_t kMessagesKept = 5;

/// Content hashes of a revision's files, each read once.
class ContentHashes {
 public:
  explicit ContentHashes(const SourceTree& tree) : tree_(tree) {}
  std::optional<std::uint64_t> operator()(const std::string& path) {
    auto [entry, fresh] = known_.try_emplace(path);
    if (fresh)
      if (const auto bytes = tree_.read(path)) entry->second = hash_bytes(*bytes);
    return entry->second;
  }

 private:
  const SourceTree& tree_;
  std::map<std::string, std::optional<std::uint64_t>> known_;
};

class FactsRecorder {
 public:
  FactsRecorder(history::Database& database, history::RevisionId revision)
      : database_(database), revision_(revision) {}

  /// Links what the history knows; returns the rest.
  Result<std::vector<analysis::CompileCommand>> link_known(const SourceTree& tree,
                                                           const UnitCommands& commands) {
    ContentHashes contents(tree);
    std::vector<analysis::CompileCommand> unknown;
    for (const auto& [path, command] : commands.by_path) {
      const auto found = history::find_unit(database_, path, commands.hashes.at(path), std::ref(contents));
      if (!found) return fail(found.error());
      if (!*found || !(*found)->readable || (*found)->errors != 0) {
        unknown.push_back(command);
        continue;
      }
      if (Status linked = history::link_unit(database_, revision_, (*found)->id); !linked)
        return fail(linked.error());
      kept_.push_back((*found)->id);
    }
    out.units = commands.by_path.size();
    return unknown;
  }

  Status store(const UnitFacts& unit) {
    const auto stored = history::put_unit(database_, revision_, unit);
    if (!stored) return fail(stored.error());
    kept_.push_back(*stored);
    ++out.parsed;
    if (unit.errors == 0) return {};
    ++out.broken;
    if (out.messages.size() < kMessagesKept)
      out.messages.push_back(fmt::format("{}: {}", unit.path,
                                         unit.messages.empty() ? "cannot be parsed" : unit.messages.front()));
    return {};
  }

  Status forget_the_rest() {
    const auto dropped = history::keep_units(database_, revision_, kept_);
    if (!dropped) return fail(dropped.error());
    return {};
  }

  RecordedFacts out;

 private:
  history::Database& database_;
  history::RevisionId revision_;
  std::vector<history::UnitId> kept_;
};

Status parse_all(FactsRecorder& recorder, const analysis::Analyzer& analyzer,
                 const std::vector<analysis::CompileCommand>& commands, unsigned jobs,
                 const InterruptToken* interrupt) {
  Progress progress("parsing", commands.size());
  // Small batches: what was parsed is stored before the next ones start.
  const std::size_t batch = std::max<std::size_t>(4, 4 * jobs);
  for (std::size_t begin = 0; begin < commands.size(); begin += batch) {
    const std::vector<analysis::CompileCommand> part(
        commands.begin() + static_cast<std::ptrdiff_t>(begin),
        commands.begin() + static_cast<std::ptrdiff_t>(std::min(begin + batch, commands.size())));
    const auto units = analyzer.analyse(
        part, jobs, [&](std::size_t, std::size_t, const std::string& path) { progress.advance(path); });
    if (interrupt && interrupt->requested())
      return fail(ErrorCode::Interrupted, "interrupted while parsing; what was parsed is kept");
    for (const UnitFacts& unit : units)
      if (Status stored = recorder.store(unit); !stored) return stored;
  }
  return {};
}

}  // namespace

Result<RecordedFacts> record_facts(const Workspace& workspace, history::Database& database,
                                   history::RevisionId revision, std::shared_ptr<const SourceTree> tree,
                                   const UnitCommands& commands, unsigned jobs,
                                   const InterruptToken* interrupt) {
  FactsRecorder recorder(database, revision);
  auto unknown = database.transaction([&] { return recorder.link_known(*tree, commands); });
  if (!unknown) return fail(unknown.error());
  const analysis::Analyzer analyzer = make_analyzer(workspace, tree, {}, interrupt);
  if (Status parsed = parse_all(recorder, analyzer, *unknown, jobs, interrupt); !parsed)
    return fail(parsed.error());
  if (Status kept = recorder.forget_the_rest(); !kept) return fail(kept.error());
  return recorder.out;
}

}  // namespace simrt::pipeline
