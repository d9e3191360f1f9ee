// Names for people out of mangled ones. Internal to mapping.
#pragma once

#include <string>

namespace simrt::analysis {

/// "ns::Class::method" of a mangled name, without parameters; other names as they are.
std::string display_name(const std::string& linkage);

}  // namespace simrt::analysis
