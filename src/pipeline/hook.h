// The git pre-push hook: installs itself, and when git calls it, prints what to run for each pushed branch.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "support/result.h"

namespace simrt::pipeline {

/// One line that git writes to a pre-push hook: "<local ref> <local id> <remote ref> <remote id>".
struct PushedRef {
  std::string local_ref, local_id, remote_ref, remote_id;
  bool deletes() const;    ///< the remote branch is being deleted
  bool creates() const;    ///< the remote branch is new: there is no remote id to compare with
  bool is_branch() const;  ///< refs/heads/...; tags and notes are not looked at
};

/// Lines that are not four words are an error (ErrorCode::Usage): something else feeds the hook.
Result<std::vector<PushedRef>> read_pushed_refs(std::istream& input);

struct HookInstallation {
  std::string directory = ".";
  std::string simrt_program;  ///< absolute path of this binary
  double budget_seconds = 120;
  bool force = false;  ///< replace a hook of somebody else (it is kept beside as pre-push.before-simrt)
};

/// Writes hooks/pre-push; the message tells where. Errors: Repository; Usage when another hook is there.
Result<std::string> install_hook(const HookInstallation& installation);
/// Removes our hook and puts a replaced one back.
Result<std::string> uninstall_hook(const std::string& directory);

struct HookRun {
  std::string directory = ".";
  std::string database;
  double budget_seconds = 120;
};

/// Selects for each pushed branch and returns the text to show. Never fails for a reason that should stop a
/// push: what was not looked at is said in the text.
Result<std::string> run_hook(const HookRun& run, const std::vector<PushedRef>& refs);

}  // namespace simrt::pipeline
