// Words that several reports share.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace simrt::report {

/// "1 test", "2 tests".
inline std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// As git abbreviates a commit, at a fixed length; names of revisions stay.
inline std::string short_revision(const std::string& revision) {
  return revision.size() == 40 ? revision.substr(0, 10) : revision;
}

}  // namespace simrt::report
