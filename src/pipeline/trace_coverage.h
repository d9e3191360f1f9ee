// Traces of one test (its process and those it forked) as thread-wise block coverage.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/mapping/stale_sources.h"
#include "model/coverage.h"
#include "pipeline/guard_mapping.h"
#include "pipeline/unemitted_functions.h"
#include "testing/trace.h"

namespace simrt::pipeline {

struct TracedCoverage {
  TestCoverage coverage;
  bool usable = false;             ///< at least one instrumented module was traced and mapped
  std::vector<std::string> notes;  ///< "2 threads alive at exit", "trace cut short", ...
};

/// Splits per-thread block sets of one test's processes into what exactly one thread covered and what several
/// did. Threads of two processes share no memory, so a pair needs two threads of one process: a role counts
/// as one thread in whichever processes it ran (a script that runs a single-threaded program twice has one
/// thread). Blocks of two roles count as covered by several threads even where no process had both, so no
/// pair is missed.
TestCoverage combine_processes(const std::vector<std::vector<ThreadCoverage>>& processes);

/// Not thread-safe (the mapper and the caches are its own).
class TraceCoverage {
 public:
  TraceCoverage(GuardMapper& mapper, const UnemittedFunctions& unemitted, analysis::StaleSources& sources,
                std::string repository_root)
      : mapper_(mapper), unemitted_(unemitted), sources_(sources), root_(std::move(repository_root)) {}

  /// Unreadable traces and modules become notes; what they might have covered is unknown, so `usable` is
  /// false then.
  TracedCoverage read(const std::vector<std::string>& trace_files);

 private:
  struct Process;
  bool add_process(const std::string& file, std::size_t number,
                   std::vector<std::vector<ThreadCoverage>>& processes, TracedCoverage& out);
  const UnemittedFunctions::Calls& calls_beyond(const std::vector<const NumberedMapping*>& modules);
  Result<const NumberedMapping*> mapping_of(const testing::TraceModule& module);
  std::uint64_t content_of(const testing::TraceModule& module);
  std::string role_of(const testing::Trace& trace, std::size_t thread);
  /// Symbolises the creation sites of all threads, one call a module.
  void name_sites(const testing::Trace& trace);

  GuardMapper& mapper_;
  const UnemittedFunctions& unemitted_;
  analysis::StaleSources& sources_;
  std::string root_;
  std::map<std::string, Status> fresh_;  ///< by path of a module
  std::map<std::string, std::uint64_t> contents_;
  std::map<std::vector<const NumberedMapping*>, UnemittedFunctions::Calls>
      beyond_;                                                          ///< by the modules of a process
  std::map<std::pair<std::string, std::uint64_t>, std::string> sites_;  ///< empty: not the project's code
};

}  // namespace simrt::pipeline
