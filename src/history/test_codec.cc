#include "history/test_codec.h"

#include <cereal/types/common.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/vector.hpp>

#include "history/blob_frame.h"
#include "history/compact_archive.h"

namespace simrt::history {

namespace {

constexpr std::uint8_t kTestCodec = 1;

template <class Archive, class Rules>
void rule_fields(Archive& archive, Rules& rules) {
  auto& [unset_environment, pass_patterns, fail_patterns, skip_patterns, required_files, depends,
         fixtures_setup, fixtures_required, fixtures_cleanup, resource_locks, run_serial, processors] = rules;
  archive(unset_environment, pass_patterns, fail_patterns, skip_patterns, required_files, depends,
          fixtures_setup, fixtures_required, fixtures_cleanup, resource_locks, run_serial, processors);
}

/// Names every member, so that a new field of TestCase does not compile until it is stored.
template <class Archive, class Test>
void fields(Archive& archive, Test& test) {
  auto& [id, name, ctest, selector, framework, command, directory, environment, timeout_seconds, disabled,
         will_fail, skip_codes, labels, rules] = test;
  (void)id, (void)name;
  archive(ctest, selector, framework, command, directory, environment, timeout_seconds, disabled, will_fail,
          skip_codes, labels);
  rule_fields(archive, rules);
}

}  // namespace

std::string encode_test_case(const TestCase& test) {
  CompactOutput archive;
  fields(archive, test);
  return archive.bytes();
}

std::string seal_test_case(std::string_view bytes) { return seal(bytes, kTestCodec); }

Status decode_test_case(std::string_view blob, TestCase& test) {
  std::string scratch;
  Result<std::string_view> payload = unseal(blob, kTestCodec, scratch, "a test's definition");
  if (!payload) return fail(payload.error());
  try {
    CompactInput archive(*payload);
    fields(archive, test);
    archive.finish();
    return {};
  } catch (const std::exception& exception) {
    return fail(
        ErrorCode::History,
        std::string("the history is damaged: a test's definition is malformed (") + exception.what() + ")",
        "restore the history from a copy, or move it away and record again");
  }
}

}  // namespace simrt::history
