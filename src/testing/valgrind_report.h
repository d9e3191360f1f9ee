// Reports of valgrind's Helgrind and DRD as an Execution.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/elf_symbols.h"
#include "testing/execution.h"

namespace simrt::testing {

struct ValgrindReport {
  Execution execution;  ///< its modules lack their bias
  /// Object file -> instructions in it with the name (mangled) of their function: valgrind does not tell
  /// where it loaded an object.
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> places;
};

/// argv in front of the program's own: `tool` is "helgrind" or "drd"; the XML goes to `output`.PID, one file
/// a process.
std::vector<std::string> valgrind_command(const std::string& valgrind, const std::string& tool,
                                          const std::string& output);

/// Reads valgrind's XML (protocol 4). Foreign input: what is damaged, cut off or not understood is left out,
/// with a note. Races become races, lock orders lock cycles, misuse of synchronisation notes. DRD tells one
/// access only: the other one has no program counter. Execution::state is Finished when valgrind ran at all.
/// Pure.
ValgrindReport parse_valgrind_report(std::string_view xml);

/// Finds out where the modules lay, from the names of the functions, and completes them. Reads the modules'
/// files.
Execution settle_valgrind_report(ValgrindReport report);

/// Link-time address 0 of an object at run time, for which the most places lie in the function they name;
/// nothing when no function is known. Pure.
std::optional<std::uint64_t> load_bias(const std::vector<std::pair<std::uint64_t, std::string>>& places,
                                       const std::vector<ElfFunction>& functions);

}  // namespace simrt::testing
