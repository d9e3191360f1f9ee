// Sources of one revision to facts: the analysis as the pipeline sees it. No clang type appears here.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/frontend/compile_commands.h"
#include "analysis/known_unit.h"
#include "model/facts.h"
#include "model/source_tree.h"
#include "support/result.h"

namespace simrt::analysis {

struct AnalysisOptions {
  std::string repository_root;  ///< absolute path of the work tree; may be reached through symlinks
  /// Where precompiled system headers are kept between runs (a few 10 MB per set of flags); created when
  /// missing. Empty: none are used.
  std::string cache_directory;
  /// Asked before each unit; true stops the analysis. Called from several threads.
  std::function<bool()> interrupted;
  /// UnitFacts::points, for mapping coverage; a comparison of two revisions has no use for them.
  bool points = true;
};

/// Everything that a parse asked the file system about: what exists, what does not, what a directory holds.
/// Opaque but for comparing Analyzer::answers(). One question an entry, no newlines in it.
using Questions = std::vector<std::string>;

/// A unit has been finished: how many are, of how many, and its path. Calls do not overlap.
using AnalysisProgress = std::function<void(std::size_t done, std::size_t total, const std::string& path)>;

/// Parses translation units of one revision, read from `tree` and never from a checkout. One call at a time;
/// each uses threads of its own.
class Analyzer {
 public:
  /// `other_paths`: what is tracked in the other revision of a comparison (SourceTree::files()). Such a path
  /// does not exist in this revision unless `tree` has it, whatever lies on the disk. Paths that neither
  /// revision tracks (system headers, generated files) are read from the disk.
  Analyzer(AnalysisOptions options, std::shared_ptr<const SourceTree> tree,
           const std::vector<std::string>& other_paths);
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  /// Facts of each unit, in the order of `commands`, from `jobs` threads at a time (at least 1). A unit that
  /// cannot be parsed, or that an interrupt left out, has errors > 0 and says why in `messages`; nothing
  /// fails as a whole. `questions` (optional) gets those of each unit; none of one that was not parsed. Of a
  /// unit that is `known`, only bodies in changed files are looked at where that is enough (see
  /// UnitFacts::kept).
  std::vector<UnitFacts> analyse(const std::vector<CompileCommand>& commands, unsigned jobs,
                                 const AnalysisProgress& progress = {},
                                 std::vector<Questions>* questions = nullptr,
                                 const KnownUnits& known = {}) const;

  /// Hash of the present answers. A parse that had the same ones, of the same command by the same version of
  /// this tool, had the same facts.
  std::uint64_t answers(const Questions& questions) const;

  /// Repository files that each unit includes (main source first, then sorted), by preprocessing alone: about
  /// 15 ms a unit. Errors (Interrupted) only; a unit that cannot be preprocessed has its main source alone.
  Result<std::vector<std::vector<std::string>>> closures(const std::vector<CompileCommand>& commands,
                                                         unsigned jobs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace simrt::analysis
