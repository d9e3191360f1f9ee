// A pair of cereal archives for small blobs: variable-length integers, and a table per blob for repeated
// 64-bit ids and strings (a function names few variables, but often). The reader checks every length against
// the bytes that are left, so that a damaged blob ends in CodecError and never in a crash or a huge
// allocation. Internal to the layer; the byte format belongs to the codecs' version numbers.
#pragma once

#include <bit>
#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace simrt::history {

struct CodecError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// Reads what append_varint and friends wrote. Throws CodecError at the end of the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::uint8_t byte() {
    if (at_ == end_) throw CodecError("blob ends early");
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t varint() {
    std::uint64_t value = byte();
    if (value < 0x80) return value;
    value &= 0x7f;
    for (unsigned shift = 7; shift < 64; shift += 7) {
      const std::uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw CodecError("number too long");
  }
  std::string_view take(std::uint64_t count) {
    if (count > left()) throw CodecError("blob ends early");
    const std::string_view taken(at_, count);
    at_ += count;
    return taken;
  }
  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    return value;
  }

 private:
  const char* at_;
  const char* end_;
};

inline void append_fixed64(std::string& out, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

// Codes of the table: 0 = zero or empty, 1 = new entry follows, n + 2 = entry n.
class CompactOutput : public cereal::OutputArchive<CompactOutput, cereal::AllowEmptyClassElision> {
 public:
  /// Lines are written relative to `base_line`.
  explicit CompactOutput(std::uint32_t base_line = 0) : OutputArchive(this), base_line_(base_line) {}

  std::uint32_t base_line() const { return base_line_; }
  const std::string& bytes() const { return bytes_; }
  void number(std::uint64_t value) { append_varint(bytes_, value); }
  void raw64(std::uint64_t value) { append_fixed64(bytes_, value); }
  void id(std::uint64_t value) {
    if (value == 0) return number(0);
    const auto [entry, fresh] = ids_.try_emplace(value, ids_.size());
    number(fresh ? 1 : entry->second + 2);
    if (fresh) raw64(value);
  }
  void text(const std::string& value) {
    if (value.empty()) return number(0);
    const auto [entry, fresh] = texts_.try_emplace(value, texts_.size());
    number(fresh ? 1 : entry->second + 2);
    if (!fresh) return;
    number(value.size());
    bytes_ += value;
  }

 private:
  std::uint32_t base_line_;
  std::string bytes_;
  std::unordered_map<std::uint64_t, std::size_t> ids_;
  std::unordered_map<std::string, std::size_t> texts_;
};

class CompactInput : public cereal::InputArchive<CompactInput, cereal::AllowEmptyClassElision> {
 public:
  explicit CompactInput(std::string_view bytes, std::uint32_t base_line = 0)
      : InputArchive(this), reader_(bytes), base_line_(base_line) {
    // Growing the two tables step by step would be most of the allocations of a small blob.
    ids_.reserve(64);
    texts_.reserve(32);
  }

  std::uint32_t base_line() const { return base_line_; }
  std::uint64_t number() { return reader_.varint(); }
  std::uint64_t raw64() { return reader_.fixed64(); }
  /// Number of elements that follow; each takes at least one byte.
  std::size_t count() {
    const std::uint64_t value = reader_.varint();
    if (value > reader_.left()) throw CodecError("list longer than the blob");
    return value;
  }
  std::uint64_t id() {
    const std::uint64_t code = number();
    if (code == 0) return 0;
    if (code == 1) return ids_.emplace_back(reader_.fixed64());
    if (code - 2 >= ids_.size()) throw CodecError("unknown id");
    return ids_[code - 2];
  }
  std::string_view text() {
    const std::uint64_t code = number();
    if (code == 0) return {};
    if (code == 1) return texts_.emplace_back(reader_.take(number()));
    if (code - 2 >= texts_.size()) throw CodecError("unknown string");
    return texts_[code - 2];
  }
  void finish() const {
    if (reader_.left() != 0) throw CodecError("bytes left over");
  }

 private:
  ByteReader reader_;
  std::uint32_t base_line_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::string_view> texts_;  // into the blob
};

// Hooks that cereal finds by argument-dependent look-up.

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> save(CompactOutput& archive, const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    archive.raw64(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  else if constexpr (std::is_signed_v<T>)
    archive.number(zigzag(value));
  else if constexpr (sizeof(T) == 8)
    archive.id(value);
  else
    archive.number(value);
}

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> load(CompactInput& archive, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(std::bit_cast<double>(archive.raw64()));
  } else if constexpr (std::is_signed_v<T>) {
    value = static_cast<T>(unzigzag(archive.number()));
  } else if constexpr (sizeof(T) == 8) {
    value = archive.id();
  } else {
    const std::uint64_t wide = archive.number();
    value = static_cast<T>(wide);
    if (value != wide) throw CodecError("number out of range");
  }
}

inline void save(CompactOutput& archive, const std::string& value) { archive.text(value); }
inline void load(CompactInput& archive, std::string& value) { value = archive.text(); }

template <class T>
void save(CompactOutput& archive, const cereal::SizeTag<T>& tag) {
  archive.number(tag.size);
}
template <class T>
void load(CompactInput& archive, cereal::SizeTag<T>& tag) {
  tag.size = archive.count();
}
template <class T>
void save(CompactOutput& archive, const cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
template <class T>
void load(CompactInput& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}

}  // namespace simrt::history

CEREAL_SETUP_ARCHIVE_TRAITS(simrt::history::CompactInput, simrt::history::CompactOutput)
