#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/extract/extract.h"
#include "analysis/frontend/declarations_digest.h"
#include "analysis/frontend/frontend.h"
#include "support/hash.h"
#include "support/task_pool.h"

namespace simrt::analysis {

namespace {

// Tokens of each repository file of the revision, cut once and used by every unit that includes it.
// Thread-safe.
class TokenCache {
 public:
  explicit TokenCache(const SourceView& view) : view_(view) {}

  std::shared_ptr<const FileTokens> find(const std::string& path) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = files_.find(path); known != files_.end()) return known->second;
    }
    const auto bytes = view_.contents(path);
    auto tokens =
        std::make_shared<const FileTokens>(tokenize(bytes ? std::string_view(*bytes) : std::string_view()));
    const std::unique_lock lock(mutex_);
    return files_.try_emplace(path, std::move(tokens)).first->second;
  }

 private:
  const SourceView& view_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const FileTokens>> files_;
};

// Bodies by repository path. A file that is included several times has several file ids; what is a body in
// one of them is one in the text.
std::map<std::string, std::vector<BodyRange>> bodies_by_path(const ParsedUnit& unit) {
  const clang::SourceManager& sources = unit.context.getSourceManager();
  std::map<std::string, std::vector<BodyRange>> result;
  for (auto& [file, ranges] : function_bodies(unit.declarations, sources)) {
    const auto entry = sources.getFileEntryRefForID(file);
    if (!entry) continue;
    if (const auto path = unit.repository_path(entry->getName())) {
      std::vector<BodyRange>& all = result[*path];
      all.insert(all.end(), ranges.begin(), ranges.end());
    }
  }
  return result;
}

/// A command may name another file than it is kept for: with a directory that it was not made for, for one.
bool reads_repository(const ParsedUnit& unit) {
  const clang::SourceManager& sources = unit.context.getSourceManager();
  const auto entry = sources.getFileEntryRefForID(sources.getMainFileID());
  return entry && unit.repository_path(entry->getName());
}

UnitFacts left_out(const CompileCommand& command, std::string why) {
  UnitFacts facts;
  facts.path = command.file;
  facts.errors = 1;
  facts.messages.push_back(std::move(why));
  return facts;
}

}  // namespace

struct Analyzer::State {
  State(AnalysisOptions given, std::shared_ptr<const SourceTree> tree,
        const std::vector<std::string>& other_paths)
      : options(std::move(given)),
        frontend(options.repository_root, std::move(tree), other_paths, options.cache_directory),
        tokens(frontend.view()) {}

  UnitFacts analyse(const CompileCommand& command, const KnownUnit* known, Questions& questions);
  std::optional<UnitFacts> complete_known(const CompileCommand& command, const KnownUnit& known,
                                          Questions& questions);
  UnitFacts parse(const CompileCommand& command, Questions& questions, const KnownUnit* known,
                  const std::set<std::string>* with_bodies, SkippedFunctions& skipped);
  std::set<std::string> changed_files(const KnownUnit& known) const;
  bool interrupted() const { return options.interrupted && options.interrupted(); }

  AnalysisOptions options;
  Frontend frontend;
  TokenCache tokens;
};

UnitFacts Analyzer::State::parse(const CompileCommand& command, Questions& questions, const KnownUnit* known,
                                 const std::set<std::string>* with_bodies, SkippedFunctions& skipped) {
  UnitFacts facts;
  std::map<std::string, std::vector<BodyRange>> bodies;
  bool astray = false;
  ParseReport report = frontend.parse(
      command,
      [&](const ParsedUnit& unit) {
        facts = extract_unit(unit.context, {unit.repository_path, command.file, options.points, with_bodies},
                             &skipped);
        bodies = bodies_by_path(unit);
        astray = !reads_repository(unit);
      },
      with_bodies);
  facts.path = command.file;
  facts.command = command_hash(command, options.repository_root);
  facts.errors = report.errors;
  facts.messages = std::move(report.messages);
  if (astray) {
    ++facts.errors;
    facts.messages.push_back("its command compiles a file that is not of this repository, in " +
                             command.directory);
  }
  questions = std::move(report.questions);
  std::map<std::string_view, const FileFacts*> unchanged;
  if (with_bodies)
    for (const FileFacts& file : known->files)
      if (!with_bodies->contains(file.path)) unchanged.emplace(file.path, &file);
  for (std::string& path : report.files) {
    if (const auto same = unchanged.find(path); same != unchanged.end()) {
      facts.files.push_back(*same->second);
      continue;
    }
    const auto file = tokens.find(path);
    FileFacts entry;
    entry.content = file->content;
    entry.declarations = declarations_digest(*file, bodies[path]);
    entry.path = std::move(path);
    facts.files.push_back(std::move(entry));
  }
  return facts;
}

/// Files that are not as they were recorded; those of which nobody can tell are among them.
std::set<std::string> Analyzer::State::changed_files(const KnownUnit& known) const {
  std::set<std::string> changed;
  for (const FileFacts& file : known.files) {
    const auto bytes = frontend.view().contents(file.path);
    if (!bytes || hash_bytes(*bytes) != file.content) changed.insert(file.path);
  }
  return changed;
}

std::optional<UnitFacts> Analyzer::State::complete_known(const CompileCommand& command,
                                                         const KnownUnit& known, Questions& questions) {
  const std::set<std::string> changed = changed_files(known);
  SkippedFunctions skipped;
  UnitFacts facts = parse(command, questions, &known, &changed, skipped);
  if (facts.errors != 0 || !complete(facts, skipped, known, changed)) return std::nullopt;
  return facts;
}

UnitFacts Analyzer::State::analyse(const CompileCommand& command, const KnownUnit* known,
                                   Questions& questions) {
  if (known)
    if (auto facts = complete_known(command, *known, questions)) return std::move(*facts);
  SkippedFunctions none;
  return parse(command, questions, nullptr, nullptr, none);
}

Analyzer::Analyzer(AnalysisOptions options, std::shared_ptr<const SourceTree> tree,
                   const std::vector<std::string>& other_paths)
    : state_(std::make_unique<State>(std::move(options), std::move(tree), other_paths)) {}
Analyzer::~Analyzer() = default;
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;

std::vector<UnitFacts> Analyzer::analyse(const std::vector<CompileCommand>& commands, unsigned jobs,
                                         const AnalysisProgress& progress, std::vector<Questions>* questions,
                                         const KnownUnits& known) const {
  if (!state_->interrupted()) state_->frontend.prepare(commands, std::max(jobs, 1U));
  std::vector<UnitFacts> units(commands.size());
  std::vector<Questions> asked(commands.size());
  std::mutex progress_mutex;
  std::size_t done = 0;
  run_tasks(commands.size(), std::max(jobs, 1U), [&](std::size_t i) {
    const auto recorded = known.find(commands[i].file);
    units[i] =
        state_->interrupted()
            ? left_out(commands[i], "interrupted")
            : state_->analyse(commands[i], recorded == known.end() ? nullptr : &recorded->second, asked[i]);
    const std::scoped_lock lock(progress_mutex);
    ++done;
    if (progress) progress(done, commands.size(), commands[i].file);
  });
  if (questions) *questions = std::move(asked);
  return units;
}

std::uint64_t Analyzer::answers(const Questions& questions) const {
  std::uint64_t result = 0;
  for (const std::string& question : questions)
    result = hash_combine(result, state_->frontend.view().answer(question));
  return result;
}

Result<std::vector<std::vector<std::string>>> Analyzer::closures(const std::vector<CompileCommand>& commands,
                                                                 unsigned jobs) const {
  std::vector<std::vector<std::string>> files(commands.size());
  run_tasks(commands.size(), std::max(jobs, 1U), [&](std::size_t i) {
    if (!state_->interrupted()) files[i] = state_->frontend.closure(commands[i]).files;
  });
  if (state_->interrupted()) return fail(ErrorCode::Interrupted, "interrupted");
  return files;
}

}  // namespace simrt::analysis
