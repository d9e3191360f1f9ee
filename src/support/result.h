// Result type of every operation that can fail for a reason outside the program.
// Errors carry what a user needs: one sentence, the way out, and the exit code class.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace simrt {

/// Class of a failure. The numeric value is the documented process exit code.
enum class ErrorCode : std::uint8_t {
  Usage = 2,         ///< wrong flags or values
  Project = 3,       ///< no configuration, no compile database, no tests found
  Repository = 4,    ///< not a git repository, missing revision, shallow clone
  History = 5,       ///< database missing, locked, corrupt, or newer than this tool
  Analysis = 6,      ///< sources could not be analysed at all
  Execution = 7,     ///< a test program could not be started
  Storage = 8,       ///< file system error, disk full
  Internal = 70,     ///< a broken invariant of the tool itself
  Interrupted = 130  ///< stopped by SIGINT or SIGTERM; what was recorded is kept
};

/// A failure with one clear message and, where there is one, the way out.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::string hint;  ///< what the user can do; empty when nothing helps
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

/// Builds the error branch of a Result: `return fail(ErrorCode::History, "...", "run ...")`.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace simrt
