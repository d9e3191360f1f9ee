// Spelled types, read just far enough to bound aliasing: what a place of a type may hold or be. Canonical
// spellings only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace simrt::impact {

enum class TypeShape : std::uint8_t {
  Unknown,
  Scalar,   ///< arithmetic, not a character
  Bytes,    ///< char, unsigned char, std::byte, void: may be anything
  Pointer,  ///< pointer or reference
  Owner,    ///< smart pointer, view or span: holds the address it is given
  Text,     ///< string, stream, lock, atomic: keeps no address of what it is given
  Class     ///< any other
};

TypeShape shape_of(std::string_view type);

/// Without cv-qualifiers, elaborated keywords and an outer std::atomic.
std::string_view bare_type(std::string_view type);

/// What a pointer, reference or array of `type` refers to; empty when it is none.
std::string_view referred_type(std::string_view type);

}  // namespace simrt::impact
