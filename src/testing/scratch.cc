#include "testing/scratch.h"

#include <filesystem>

namespace simrt::testing {

namespace fs = std::filesystem;

Result<Scratch> Scratch::create() {
  auto directory = TemporaryDirectory::create("simrt-test");
  if (!directory) return fail(directory.error());
  return Scratch(std::move(*directory));
}

void Scratch::announce(std::map<std::string, std::string>& environment) const {
  for (const char* name : {"TMPDIR", "TEST_TMPDIR"}) environment.try_emplace(name, path());
}

void Scratch::clear() const {
  std::error_code error;
  for (fs::directory_iterator entry(path(), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace simrt::testing
