// Definition of a test (command, directory, environment, ...) as a blob. Internal to the layer.
#pragma once

#include <string>
#include <string_view>

#include "model/test.h"
#include "support/result.h"

namespace simrt::history {

/// Everything but id and name, which the test table holds.
std::string encode_test_case(const TestCase& test);
std::string seal_test_case(std::string_view bytes);
/// `blob` is the sealed form; `test.id` and `test.name` stay as they are. Error: History.
Status decode_test_case(std::string_view blob, TestCase& test);

}  // namespace simrt::history
