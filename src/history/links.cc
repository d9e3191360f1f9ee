#include "history/links.h"

#include "history/blob_frame.h"
#include "history/compact_archive.h"
#include "history/failure.h"

namespace simrt::history {
namespace {

constexpr std::uint8_t kListCodec = 1;

/// Reads a count and as many items; throws Failure.
template <class Item, class Read>
std::vector<Item> unpack(std::string_view blob, Read read) {
  std::string scratch;
  Result<std::string_view> payload = unseal(blob, kListCodec, scratch, "a list");
  if (!payload) throw Failure{payload.error()};
  try {
    ByteReader reader(*payload);
    const std::uint64_t count = reader.varint();
    if (count > reader.left()) throw CodecError("list longer than the blob");
    std::vector<Item> items;
    items.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) items.push_back(read(reader));
    return items;
  } catch (const CodecError& error) {
    throw Failure{{ErrorCode::History, std::string("the history is damaged: ") + error.what(),
                   "restore the history from a copy, or move it away and record again"}};
  }
}

}  // namespace

std::string pack_links(const std::vector<Link>& links) {
  std::string bytes;
  append_varint(bytes, links.size());
  std::int64_t version = 0, line = 0;
  for (const Link& link : links) {
    append_varint(bytes, zigzag(link.version - version));
    append_varint(bytes, zigzag(link.line - line));
    version = link.version;
    line = link.line;
  }
  return seal(bytes, kListCodec);
}

std::vector<Link> unpack_links(std::string_view blob) {
  std::int64_t version = 0, line = 0;
  return unpack<Link>(blob, [&](ByteReader& reader) {
    version += unzigzag(reader.varint());
    line += unzigzag(reader.varint());
    return Link{version, static_cast<std::uint32_t>(line)};
  });
}

std::string pack_rows(const std::vector<std::int64_t>& rows) {
  std::string bytes;
  append_varint(bytes, rows.size());
  std::int64_t previous = 0;
  for (const std::int64_t row : rows) {
    append_varint(bytes, zigzag(row - previous));
    previous = row;
  }
  return seal(bytes, kListCodec);
}

std::vector<std::int64_t> unpack_rows(std::string_view blob) {
  std::int64_t previous = 0;
  return unpack<std::int64_t>(blob,
                              [&](ByteReader& reader) { return previous += unzigzag(reader.varint()); });
}

std::string pack_texts(const std::vector<std::string>& texts) {
  std::string bytes;
  append_varint(bytes, texts.size());
  for (const std::string& text : texts) {
    append_varint(bytes, text.size());
    bytes += text;
  }
  return seal(bytes, kListCodec);
}

std::vector<std::string> unpack_texts(std::string_view blob) {
  return unpack<std::string>(blob,
                             [](ByteReader& reader) { return std::string(reader.take(reader.varint())); });
}

}  // namespace simrt::history
