// libgit2 1.5 itself loses memory on some of its paths. A test of those says so; what we lose elsewhere still
// counts.
#pragma once

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace simrt::git {

#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
using LibraryLeaks = __lsan::ScopedDisabler;
#else
struct [[maybe_unused]] LibraryLeaks {
  LibraryLeaks() {}
};
#endif

}  // namespace simrt::git
