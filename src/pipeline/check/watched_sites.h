// What of a program is watched for a diff: the hook sites of the accesses that it put at risk, and of their
// partners.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/mapping/code_sites.h"
#include "model/impact.h"
#include "model/program.h"
#include "support/result.h"
#include "testing/check_plan.h"

namespace simrt::pipeline {

struct WatchedSites {
  std::vector<testing::CheckModule> modules;
  /// Ascending. Empty: everything is watched.
  std::vector<testing::CheckSite> sites;
  bool libraries = false;  ///< also what the C++ library's own code accesses
  std::string why_all;     ///< everything is watched: the reason
};

/// What has been read of libraries, which many programs share. Thread-safe.
class LibraryCode {
 public:
  /// Errors: as CodeSites::load.
  Result<std::shared_ptr<const analysis::CodeSites>> of(const std::string& file, const std::string& root,
                                                        const std::vector<std::string>& sources);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const analysis::CodeSites>> known_;
};

/// Looks at a test's program and its libraries below `build`. Of an access:
/// - the code of its line, and of the lines beside it: where an operator stands over several lines, or in
/// front
///   of its operand, the hook has the operator's position;
/// - of a library's object as a whole also the library code that the line calls;
/// - where its function has code, but not on that line, the whole function; where the function has no code (a
///   copy that is made where it is asked for) the lines that call it. A function without code or callers is
///   not in the program.
WatchedSites watched_sites(const Impact& impact, const Program& head, const std::string& program,
                           const std::string& build, const std::string& root,
                           const std::vector<std::string>& sources, LibraryCode& libraries);

}  // namespace simrt::pipeline
