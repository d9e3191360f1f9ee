// A directory for what a test's executions write to temporary files: nothing that one of them left behind,
// nor a test that runs beside it, changes the next one.
#pragma once

#include <map>
#include <string>

#include "support/files.h"
#include "support/result.h"

namespace simrt::testing {

class Scratch {
 public:
  /// Below $TMPDIR (else /tmp); all names have the same length, so that programs that are told it lie at the
  /// same addresses. Errors: ErrorCode::Storage.
  static Result<Scratch> create();

  /// Tells a program of it: TMPDIR (POSIX) and TEST_TMPDIR (GoogleTest, Bazel), where `environment` does not
  /// set them itself.
  void announce(std::map<std::string, std::string>& environment) const;
  /// Removes all that is in it; what cannot be removed stays.
  void clear() const;
  const std::string& path() const { return directory_.path(); }

 private:
  explicit Scratch(TemporaryDirectory directory) : directory_(std::move(directory)) {}
  TemporaryDirectory directory_;
};

}  // namespace simrt::testing
