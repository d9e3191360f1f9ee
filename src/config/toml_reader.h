// `.simrt.toml` to values, with the line of everything that is wrong. Internal to config.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/options.h"

namespace simrt::config {

struct FileValue {
  const Option* option = nullptr;
  Value value;
  std::uint32_t line = 0;
};

struct FileContents {
  std::vector<FileValue> values;
  std::vector<TestCommand> commands;  ///< directories as written
  std::vector<Rule> rules;
};

/// `name` stands in messages: "<name>:<line>: ...". Errors: Usage.
Result<FileContents> read_toml(std::string_view text, const std::string& name);

}  // namespace simrt::config
