// Names for what an execution's records speak of: stacks, threads, variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/mapping/module_names.h"
#include "model/finding.h"
#include "model/program.h"
#include "testing/execution.h"

namespace simrt::pipeline {

/// Thread-safe. What it has looked up once it keeps.
class Symbols {
 public:
  /// `program`: facts of the checked revision; may be null.
  Symbols(std::string repository_root, std::shared_ptr<const Program> program);

  /// Looks up all program counters of the execution's stacks, threads and sides at once (one by one is slow),
  /// and those of its events when asked.
  void learn(const testing::Execution& execution, bool events);

  /// `pcs`: run-time return addresses, innermost first.
  std::vector<CodeFrame> stack(const testing::Execution& execution, const std::vector<std::uint64_t>& pcs);
  ThreadRole role(const testing::Execution& execution, std::uint32_t thread);
  /// "HM::modCount": from the facts, else a global's symbol, else as written in the source. `by_library`: a
  /// library wrote it for the innermost own frame, so that the place is that of the call.
  std::string variable(const testing::Execution& execution, std::uint64_t address,
                       const std::vector<CodeFrame>& stack, bool by_library = false);
  /// False for a name of `variable` that only says where it was touched, or what returned a reference to it.
  static bool names_a_variable(const std::string& name);
  /// A global's name for an address; empty when it is none.
  std::string global(const testing::Execution& execution, std::uint64_t address);
  /// Trimmed; empty when unknown.
  std::string source_line(const CodeFrame& frame);
  /// The frame's place within its function in a form that edits elsewhere do not change: the statement
  /// without white space, which of the file's equal lines it is, and the position in it. Line and column
  /// where the source is not the project's own.
  std::string position(const CodeFrame& frame);

 private:
  void add(const testing::Execution& execution, const std::set<std::uint64_t>& pcs);
  bool is_foreign(const std::string& directory);
  const std::vector<CodeFrame>& frames_of(const testing::Execution& execution, std::uint64_t pc);
  struct SourceLine {
    std::string text, statement;  // statement: without white space
    std::uint32_t equal = 0;      // earlier lines with the same statement
  };
  const std::vector<SourceLine>& lines_of(const std::string& file);
  std::string accessed_near(const CodeFrame& frame, const std::string& word, bool written);
  std::string as_written(const CodeFrame& frame, bool written);
  std::string line_text(const CodeFrame& frame);

  std::recursive_mutex mutex_;
  std::string root_;
  std::shared_ptr<const Program> program_;
  std::vector<std::string> files_;  // of the program
  struct Place {
    std::string file;  // repository-relative
    std::uint32_t line = 0, column = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Accessed {
    VariableId variable;  // the first one there
    std::optional<VariableId> written;
  };
  std::map<Place, Accessed> accesses_;  // of the program's facts
  using FramesByOffset = std::unordered_map<std::uint64_t, std::vector<CodeFrame>>;
  std::map<std::string, bool> foreign_;                                 // by directory
  std::map<std::string, FramesByOffset> frames_;                        // by module and return address
  std::map<std::string, std::unique_ptr<analysis::ModuleNames>> data_;  // for globals; null: unreadable
  std::map<std::string, std::vector<SourceLine>> sources_;
};

}  // namespace simrt::pipeline
