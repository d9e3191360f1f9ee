// From instrumented PCs to CFG blocks: what a covered guard says about the blocks of the analysed program.
// Knows DWARF and the facts of a program; knows nothing of traces, tests, history or Clang's AST.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/facts.h"
#include "model/program.h"
#include "support/result.h"

namespace simrt::analysis {

/// One executable or shared object with coverage instrumentation. All PCs are link-time addresses: the
/// run-time address minus the load bias (dl_iterate_phdr's dlpi_addr), so they do not depend on ASLR.
struct InstrumentedModule {
  std::string path;
  /// By guard index, as in the sancov pc-table: the start of the guarded block. With `pc_list_only`: return
  /// addresses of the trace-pc callback, in any order, not necessarily all of them.
  std::vector<std::uint64_t> pcs;
  std::vector<bool> entry;    ///< parallel to pcs: the guard of a function's entry block; may be empty
  bool pc_list_only = false;  ///< gcc -fsanitize-coverage=trace-pc
};

/// What one guard covers. Several blocks: either all of them run (the compiler merged them), or the debug
/// information does not tell which (then they are doubtful). In both cases all count as covered.
struct GuardBlocks {
  std::vector<BlockId> blocks;  ///< ascending
  std::vector<BlockId>
      doubtful;  ///< those of `blocks` that share their source positions with others; ascending
};

/// Quality of a mapping. Block counts are of executable blocks: reachable, with source positions of their
/// own, in functions that the module contains.
struct MappingReport {
  std::uint64_t functions = 0;
  std::uint64_t optimised_functions = 0;  ///< of those; whoever enters one counts as having covered all of it
  std::uint64_t blocks = 0;
  std::uint64_t mapped = 0;     ///< a guard of their own
  std::uint64_t inherited = 0;  ///< no guard; coverage is taken from a dominator
  std::uint64_t unmapped = 0;   ///< neither
  std::uint64_t guards = 0;
  std::uint64_t foreign_guards = 0;  ///< in code that is not part of the program (libraries, generated code)
  std::uint64_t ambiguous_guards = 0;
  std::uint64_t dominator_checks = 0;
  std::uint64_t dominator_violations = 0;
  std::vector<std::string> examples;    ///< the first few blocks without a guard, for people
  std::vector<std::string> violations;  ///< the first few violations, for people

  /// Adds another module's counts (examples up to the usual limit).
  void add(const MappingReport& other);
};

struct ModuleMapping {
  std::vector<GuardBlocks> guards;  ///< parallel to InstrumentedModule::pcs
  /// (block without guard, block it takes its coverage from): the nearest dominator with a guard, else the
  /// entry; in optimised functions every block, and the entry. Over-approximates: the dominator may run
  /// without the block.
  std::vector<std::pair<BlockId, BlockId>> inherited;
  std::vector<BlockId> unknown;  ///< of functions in the module about whose blocks no guard says anything
  MappingReport report;
};

/// Reads the guard table out of a linked ELF file without running it: the `__sancov_pcs` section (clang),
/// else the call sites of `__sanitizer_cov_trace_pc` (gcc, x86-64). Guard order equals the run-time order of
/// the module. Errors: Analysis, when the file is no readable ELF file or has no instrumentation.
Result<InstrumentedModule> read_instrumented_module(const std::string& path);

/// Maps every guard of `module`. `points` holds the positions of the program's functions, with the ids that
/// `program` uses. `repository_root` is an absolute path; debug information recorded under another root or
/// prefix
/// (-ffile-prefix-map, relative names, containers) is matched by path suffix.
/// Errors: Analysis, when the module cannot be read or has no debug information. Thread-safe.
Result<ModuleMapping> map_module(const InstrumentedModule& module, const std::string& repository_root,
                                 const Program& program, const std::vector<FunctionPoints>& points);

/// A block with a certain guard, and its nearest dominator with one. Every run of the block has run the
/// dominator: coverage that contradicts it shows a wrong mapping.
struct DominatorPair {
  BlockId block, dominator;
  bool exact = false;  ///< no guard maps doubtfully to `block`: where it counts as covered, it was
};

/// All such pairs of a module, ascending by block.
std::vector<DominatorPair> dominator_pairs(const ModuleMapping& mapping, const Program& program);

/// Counts one checked pair in the report, and an example of a violation.
void count_check(MappingReport& report, const Program& program, const DominatorPair& pair, bool violated);

/// Consistency check against one real run: of every certainly mapped, covered block, the nearest dominator
/// with a certain guard must be covered too. Adds to `mapping.report`. `covered` is parallel to the module's
/// pcs.
void check_dominators(ModuleMapping& mapping, const Program& program, const std::vector<bool>& covered);

/// Where a PC stands, for people and for thread roles.
struct CodeSite {
  std::string function;  ///< demangled name without parameters, innermost inlined function; empty = unknown
  std::string file;      ///< repository-relative where possible, else as recorded
  std::uint32_t line = 0;

  /// "function@file:line", "function", or "?".
  std::string text() const;
};

/// Symbolises many PCs of one module at once. Pass return addresses minus one. Unknown PCs give an empty
/// site. Errors: Analysis, when the file is no readable ELF file. Without debug information symbol names are
/// used.
Result<std::vector<CodeSite>> symbolise_all(const std::string& module_path,
                                            const std::vector<std::uint64_t>& offsets,
                                            const std::string& repository_root);

/// One PC as text; "?" when the module or the PC is unknown.
std::string symbolise(const std::string& module_path, std::uint64_t offset,
                      const std::string& repository_root = {});

}  // namespace simrt::analysis
