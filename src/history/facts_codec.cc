#include "history/facts_codec.h"

#include <cereal/types/common.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include "history/blob_frame.h"
#include "history/compact_archive.h"

// The structured bindings below bind every member of a type on purpose: a field added to the model does not
// compile here until it is stored, too (and kFactsCodec is raised).
namespace simrt::history {

template <class Archive, class Tag>
void serialize(Archive& archive, StrongId<Tag>& id) {
  auto& [value] = id;
  archive(value);
}

// Line 0 means unknown and must stay apart from "the first line".
void save(CompactOutput& archive, const SourcePoint& point) {
  const auto& [line, column] = point;
  archive.number(line == 0 ? 0 : 1 + zigzag(std::int64_t{line} - std::int64_t{archive.base_line()}));
  archive.number(column);
}

void load(CompactInput& archive, SourcePoint& point) {
  auto& [line, column] = point;
  const std::uint64_t code = archive.number();
  line = code == 0 ? 0 : static_cast<std::uint32_t>(archive.base_line() + unzigzag(code - 1));
  archive(column);
}

/// Number of members of the types whose members are stored one after the other.
template <class T>
inline constexpr int kMembers = 0;
template <>
inline constexpr int kMembers<Value> = 2;
template <>
inline constexpr int kMembers<Binding> = 2;
template <>
inline constexpr int kMembers<Event> = 2;
template <>
inline constexpr int kMembers<BlockPoints> = 3;
template <>
inline constexpr int kMembers<FunctionPoints> = 2;
template <>
inline constexpr int kMembers<Place> = 3;
template <>
inline constexpr int kMembers<OrderOp> = 3;
template <>
inline constexpr int kMembers<Edge> = 3;
template <>
inline constexpr int kMembers<FileFacts> = 3;
template <>
inline constexpr int kMembers<Access> = 4;
template <>
inline constexpr int kMembers<Block> = 4;
template <>
inline constexpr int kMembers<Call> = 6;
template <>
inline constexpr int kMembers<LockOp> = 5;
template <>
inline constexpr int kMembers<Local> = 5;
template <>
inline constexpr int kMembers<Element> = 6;

template <class T>
concept Described = (kMembers<T> != 0);

template <class Archive, Described T>
void serialize(Archive& archive, T& value) {
  if constexpr (kMembers<T> == 2) {
    auto& [a, b] = value;
    archive(a, b);
  } else if constexpr (kMembers<T> == 3) {
    auto& [a, b, c] = value;
    archive(a, b, c);
  } else if constexpr (kMembers<T> == 4) {
    auto& [a, b, c, d] = value;
    archive(a, b, c, d);
  } else if constexpr (kMembers<T> == 5) {
    auto& [a, b, c, d, e] = value;
    archive(a, b, c, d, e);
  } else {
    auto& [a, b, c, d, e, f] = value;
    archive(a, b, c, d, e, f);
  }
}

/// What a function's blob holds; columns of the table hold the rest.
template <class Archive, class Function>
void function_fields(Archive& archive, Function& function) {
  auto& [id, usr, name, file, begin_line, end_line, flags, pattern, parent, signature, prototype, body,
         linkage_names, overrides, locals, blocks, entry, exit] = function;
  (void)id, (void)name, (void)file, (void)begin_line, (void)end_line, (void)body;
  archive(usr, flags, pattern, parent, signature, prototype, linkage_names, overrides, locals, blocks, entry,
          exit);
}

template <class Archive, class Variable>
void variable_fields(Archive& archive, Variable& variable) {
  auto& [id, name, type, file, at, kind, traits, shares] = variable;
  (void)id;
  archive(name, type, file, at, kind, traits, shares);
}

/// A function or variable of a unit's own blob: what the database keeps in columns comes first.
template <class Archive>
void serialize(Archive& archive, FunctionFacts& function) {
  archive(function.id, function.name, function.file, function.begin_line, function.end_line, function.body);
  function_fields(archive, function);
}

template <class Archive>
void serialize(Archive& archive, VariableFacts& variable) {
  archive(variable.id);
  variable_fields(archive, variable);
}

template <class Archive>
void serialize(Archive& archive, UnitFacts& unit) {
  auto& [path, command, files, functions, points, variables, kept, errors, messages] = unit;
  archive(path, command, files, functions, points, variables, kept, errors, messages);
}

namespace {

template <class Fill>
Status decode(std::string_view blob, std::uint32_t base_line, std::string_view what, Fill fill) {
  thread_local std::string scratch;
  Result<std::string_view> payload = unseal(blob, kFactsCodec, scratch, what);
  if (!payload) return fail(payload.error());
  try {
    CompactInput archive(*payload, base_line);
    fill(archive);
    archive.finish();
    return {};
  } catch (const std::exception& exception) {  // CodecError, cereal's own, bad_alloc
    return fail(ErrorCode::History,
                "the history is damaged: a record of " + std::string(what) + " is malformed (" +
                    exception.what() + ")",
                "restore the history from a copy, or move it away and record again");
  }
}

}  // namespace

std::string encode_unit(const UnitFacts& unit) {
  CompactOutput archive;
  archive(unit);
  return seal(archive.bytes(), kFactsCodec);
}

Result<UnitFacts> decode_unit(std::string_view blob) {
  UnitFacts unit;
  const Status done = decode(blob, 0, "a unit", [&](CompactInput& archive) { archive(unit); });
  if (!done) return fail(done.error());
  return unit;
}

std::string encode_function(const FunctionFacts& function) {
  CompactOutput archive(function.begin_line);
  function_fields(archive, function);
  return archive.bytes();
}

Status decode_function(std::string_view blob, FunctionFacts& function) {
  return decode(blob, function.begin_line, "a function",
                [&](CompactInput& archive) { function_fields(archive, function); });
}

std::string encode_points(const FunctionPoints& points, std::uint32_t begin_line) {
  CompactOutput archive(begin_line);
  const auto& [function, blocks] = points;
  (void)function;
  archive(blocks);
  return archive.bytes();
}

Status decode_points(std::string_view blob, std::uint32_t begin_line, FunctionPoints& points) {
  return decode(blob, begin_line, "source points", [&](CompactInput& archive) { archive(points.blocks); });
}

std::string encode_variable(const VariableFacts& variable) {
  CompactOutput archive(variable.at.line);
  variable_fields(archive, variable);
  return archive.bytes();
}

Status decode_variable(std::string_view blob, VariableFacts& variable) {
  return decode(blob, variable.at.line, "a variable",
                [&](CompactInput& archive) { variable_fields(archive, variable); });
}

}  // namespace simrt::history
