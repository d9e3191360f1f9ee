// What an expression denotes during event extraction.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <string>

#include "model/facts.h"

namespace simrt::analysis {

/// As a prvalue: the value stored at `place`, or after taking the address once (`address` 1) a pointer or
/// reference to `place`, and so on. As a glvalue: the memory `place`; with `address` > 0 a temporary that
/// holds such a pointer. A place without base is memory that nobody else can name (temporaries, fresh
/// objects).
struct Operand {
  Place place;
  std::uint8_t address = 0;  ///< times the address of `place` was taken
  std::string path;          ///< access path of `place` as written: instance of the fields below it
  bool own = false;          ///< storage of a non-escaping local or a temporary: accesses are no events
  std::int32_t local = -1;   ///< ordinal of the local whose storage this is (escaping or not)
  std::uint8_t tags = kTagNone;

  /// As the model knows it; deeper pointers need a temporary (see Evaluator::argument_value).
  Value value() const { return address > 1 ? Value{} : Value{place, address == 1}; }
  bool known() const { return static_cast<bool>(place.base); }
};

/// Several where a conditional expression leaves the choice open.
using Operands = llvm::SmallVector<Operand, 1>;

/// What is reached through a pointer, reference, iterator or smart pointer.
inline Operand pointee(Operand pointer) {
  if (pointer.address > 0) {
    --pointer.address;
    return pointer;
  }
  if (pointer.known()) ++pointer.place.derefs;
  pointer.own = !pointer.known() && pointer.own;
  pointer.local = -1;
  pointer.tags = kTagNone;
  return pointer;
}

/// Element of an array or container: part of the object's storage, so locality stays.
inline Operand element_of(Operand object) {
  object = object.address > 0 ? pointee(std::move(object)) : std::move(object);
  if (object.known()) ++object.place.derefs;
  object.path += "[]";
  return object;
}

inline Operand address_of(Operand memory) {
  ++memory.address;
  return memory;
}

}  // namespace simrt::analysis
