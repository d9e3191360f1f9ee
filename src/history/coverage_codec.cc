#include "history/coverage_codec.h"

#include <algorithm>
#include <vector>

#include "history/blob_frame.h"
#include "history/compact_archive.h"

namespace simrt::history {
namespace {

constexpr std::uint8_t kCoverageCodec = 1;

void append_blocks(std::string& out, const BlockSet& blocks) {
  // Rebuilt from the members: how the set came about must not show in the bytes. (removeRunCompression()
  // would be the shorter way, but crashes in CRoaring 0.2.66.)
  std::vector<BlockNumber> numbers(blocks.cardinality());
  blocks.toUint32Array(numbers.data());
  BlockSet canonical(numbers.size(), numbers.data());
  canonical.runOptimize();
  const std::size_t size = canonical.getSizeInBytes();
  append_varint(out, size);
  const std::size_t at = out.size();
  out.resize(at + size);
  canonical.write(out.data() + at);
}

BlockSet read_blocks(ByteReader& reader) {
  const std::string_view bytes = reader.take(reader.varint());
  return BlockSet::readSafe(bytes.data(), bytes.size());
}

}  // namespace

std::string encode_coverage(const TestCoverage& coverage) {
  std::vector<const ThreadCoverage*> threads;
  for (const ThreadCoverage& thread : coverage.single) threads.push_back(&thread);
  std::stable_sort(threads.begin(), threads.end(),
                   [](const ThreadCoverage* a, const ThreadCoverage* b) { return a->role < b->role; });
  std::string bytes;
  append_varint(bytes, coverage.threads);
  append_varint(bytes, threads.size());
  for (const ThreadCoverage* thread : threads) {
    append_varint(bytes, thread->role.size());
    bytes += thread->role;
    append_blocks(bytes, thread->blocks);
  }
  append_blocks(bytes, coverage.several);
  return bytes;
}

std::string seal_coverage(std::string_view bytes) { return seal(bytes, kCoverageCodec); }

Result<TestCoverage> decode_coverage(std::string_view blob) {
  std::string scratch;
  Result<std::string_view> payload = unseal(blob, kCoverageCodec, scratch, "coverage");
  if (!payload) return fail(payload.error());
  try {
    ByteReader reader(*payload);
    TestCoverage coverage;
    coverage.threads = static_cast<std::uint32_t>(reader.varint());
    const std::uint64_t singles = reader.varint();
    if (singles > reader.left()) throw CodecError("list longer than the blob");
    coverage.single.reserve(singles);
    for (std::uint64_t i = 0; i < singles; ++i) {
      std::string role(reader.take(reader.varint()));
      coverage.single.push_back({std::move(role), read_blocks(reader)});
    }
    coverage.several = read_blocks(reader);
    if (reader.left() != 0) throw CodecError("bytes left over");
    return coverage;
  } catch (const std::exception& exception) {
    return fail(
        ErrorCode::History,
        std::string("the history is damaged: a record of coverage is malformed (") + exception.what() + ")",
        "restore the history from a copy, or move it away and record again");
  }
}

}  // namespace simrt::history
