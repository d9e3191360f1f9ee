// Small programs, compiled with coverage instrumentation and run for real, with hand-written facts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/mapping/mapping.h"

namespace simrt::analysis::test {

/// A directory of its own that goes away with the object.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::string path(const std::string& name = {}) const;
  void write(const std::string& name, std::string_view text) const;

 private:
  std::filesystem::path root_;
};

inline constexpr const char* kClang = "clang++-19 -g -fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table";
inline constexpr const char* kGcc = "g++-12 -g -fsanitize-coverage=trace-pc";

/// Runs a shell command in a directory; the test fails when it fails.
void run(const std::string& directory, const std::string& command);

/// Compiles `source` (relative to the workspace) with `compiler`, flags included, and links it with a
/// coverage callback that dumps what it saw. Returns the program's path.
std::string build(const Workspace& workspace, const std::string& compiler, const std::string& source,
                  const std::string& program = "program", const std::string& link_flags = {});

/// Runs the program and returns, parallel to module.pcs, which guards were covered.
std::vector<bool> covered_guards(const Workspace& workspace, const InstrumentedModule& module,
                                 const std::string& arguments);

/// Position of the `occurrence`-th (from 1) `snippet` in `source`; the test fails when there is none.
SourcePoint find(std::string_view source, std::string_view snippet, int occurrence = 1);

/// Builds facts and points of one function block by block.
class FunctionBuilder {
 public:
  FunctionBuilder(std::string name, std::string file, std::string_view source);

  FunctionBuilder& linkage(std::string name);
  FunctionBuilder& lines(std::uint32_t begin, std::uint32_t end);
  FunctionBuilder& flags(std::uint32_t flags);
  /// A block with these snippets as its positions (first occurrence each) and these successors. The first
  /// block is the entry, the last one the exit.
  FunctionBuilder& block(std::uint32_t ordinal, const std::vector<std::string>& snippets,
                         const std::vector<std::uint32_t>& successors, EdgeKind kind = EdgeKind::FallThrough);

  FunctionFacts facts;
  FunctionPoints points;

 private:
  std::string_view source_;
};

/// The program of these functions; `points` receives theirs.
Program make_program(const std::vector<FunctionBuilder>& functions, std::vector<FunctionPoints>& points);

/// Ordinals of `function` that the covered guards name.
std::vector<std::uint32_t> covered_blocks(const ModuleMapping& mapping, const std::vector<bool>& covered,
                                          FunctionId function);

}  // namespace simrt::analysis::test
