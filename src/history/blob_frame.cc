#include "history/blob_frame.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

#include "support/hash.h"

namespace simrt::history {
namespace {

constexpr std::size_t kHeader = 6;
constexpr std::size_t kWorthCompressing = 128;  ///< smaller payloads grow or gain next to nothing
constexpr std::size_t kLargestPayload = std::size_t{1} << 30;
constexpr int kLevel = 3;
enum Packing : std::uint8_t { kPlain = 0, kZstd = 1 };

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Contexts are costly to make and blobs are small and many: one of each a thread.
ZSTD_CCtx* compressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* decompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

std::uint32_t checksum(std::uint8_t version, std::uint8_t packing, std::string_view stored) {
  return static_cast<std::uint32_t>(hash_combine(hash_bytes(stored), version * 256U + packing));
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::History, fmt::format("the history is damaged: a record of {} cannot be read", what),
              "restore the history from a copy, or move it away and record again");
}

}  // namespace

std::string seal(std::string_view payload, std::uint8_t version) {
  std::string blob(kHeader, '\0');
  Packing packing = kPlain;
  if (payload.size() >= kWorthCompressing) {
    const std::size_t bound = ZSTD_compressBound(payload.size());
    blob.resize(kHeader + bound);
    const std::size_t size =
        ZSTD_compressCCtx(compressor(), blob.data() + kHeader, bound, payload.data(), payload.size(), kLevel);
    if (!ZSTD_isError(size) && size < payload.size() - payload.size() / 10) {
      packing = kZstd;
      blob.resize(kHeader + size);
    }
  }
  if (packing == kPlain) blob.replace(kHeader, std::string::npos, payload);
  const std::uint32_t sum = checksum(version, packing, std::string_view(blob).substr(kHeader));
  blob[0] = static_cast<char>(version);
  blob[1] = static_cast<char>(packing);
  for (unsigned i = 0; i < 4; ++i) blob[2 + i] = static_cast<char>(sum >> (8 * i));
  return blob;
}

Result<std::string_view> unseal(std::string_view blob, std::uint8_t version, std::string& scratch,
                                std::string_view what) {
  if (blob.size() < kHeader) return damaged(what);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(blob[i]); };
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum |= std::uint32_t{byte(2 + i)} << (8 * i);
  const std::string_view stored = blob.substr(kHeader);
  if (sum != checksum(byte(0), byte(1), stored)) return damaged(what);
  if (byte(0) != version)
    return fail(ErrorCode::History,
                fmt::format("a record of {} was written by another version of simrt", what),
                "record this revision again");
  if (byte(1) == kPlain) return stored;

  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (byte(1) != kZstd || size > kLargestPayload) return damaged(what);  // covers zstd's two error values too
  scratch.resize(size);
  const std::size_t got =
      ZSTD_decompressDCtx(decompressor(), scratch.data(), size, stored.data(), stored.size());
  if (ZSTD_isError(got) || got != size) return damaged(what);
  return std::string_view(scratch);
}

}  // namespace simrt::history
