#include "testing/one_process.h"

#include <algorithm>

#include "support/files.h"
#include "testing/elf_image.h"

namespace simrt::testing {
namespace {

// In two halves, so that this very program is not taken for one.
bool is_acutest(const std::string& program) {
  const std::string help = std::string("If supported, execute unit tests ") + "as child processes";
  const auto bytes = read_loaded_part(program);
  return bytes && bytes->find(help) != std::string::npos;
}

}  // namespace

void keep_cases_in_one_process(std::vector<std::string>& command,
                               std::map<std::string, std::string>& environment,
                               const std::string& directory) {
  environment.try_emplace("CK_FORK", "no");
  if (command.empty() || !is_acutest(absolute_path(command.front(), directory))) return;
  const auto says_so = [](const std::string& argument) {
    return argument == "-E" || argument == "--no-exec" || argument.starts_with("--exec");
  };
  if (std::none_of(command.begin(), command.end(), says_so)) command.insert(command.begin() + 1, "--no-exec");
}

}  // namespace simrt::testing
