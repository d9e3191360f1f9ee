#include "history/facts_codec.h"

#include <cereal/types/common.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include "history/blob_frame.h"
#include "history/compact_archive.h"

// The structured bindings below name every member of a type on purpose: a field added to the model does not
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

template <class Archive>
void serialize(Archive& archive, Place& place) {
  auto& [base, derefs, instance] = place;
  archive(base, derefs, instance);
}

template <class Archive>
void serialize(Archive& archive, Value& value) {
  auto& [place, address_of] = value;
  archive(place, address_of);
}

template <class Archive>
void serialize(Archive& archive, Access& access) {
  auto& [place, mode, order, tags] = access;
  archive(place, mode, order, tags);
}

template <class Archive>
void serialize(Archive& archive, Call& call) {
  auto& [callee, kind, name, receiver, arguments] = call;
  archive(callee, kind, name, receiver, arguments);
}

template <class Archive>
void serialize(Archive& archive, LockOp& op) {
  auto& [action, mode, locks, guard, source] = op;
  archive(action, mode, locks, guard, source);
}

template <class Archive>
void serialize(Archive& archive, OrderOp& op) {
  auto& [kind, order, object] = op;
  archive(kind, order, object);
}

template <class Archive>
void serialize(Archive& archive, Binding& binding) {
  auto& [target, value] = binding;
  archive(target, value);
}

template <class Archive>
void serialize(Archive& archive, Event& event) {
  auto& [at, what] = event;
  archive(at, what);
}

template <class Archive>
void serialize(Archive& archive, Element& element) {
  auto& [hash, locals, defines, uses, at, events] = element;
  archive(hash, locals, defines, uses, at, events);
}

template <class Archive>
void serialize(Archive& archive, Edge& edge) {
  auto& [kind, label, target] = edge;
  archive(kind, label, target);
}

template <class Archive>
void serialize(Archive& archive, Block& block) {
  auto& [ordinal, terminator, elements, successors] = block;
  archive(ordinal, terminator, elements, successors);
}

template <class Archive>
void serialize(Archive& archive, Local& local) {
  auto& [name, type, parameter, static_storage, escapes] = local;
  archive(name, type, parameter, static_storage, escapes);
}

template <class Archive>
void serialize(Archive& archive, BlockPoints& block) {
  auto& [ordinal, points] = block;
  archive(ordinal, points);
}

template <class Archive>
void serialize(Archive& archive, FileFacts& file) {
  auto& [path, content, declarations] = file;
  archive(path, content, declarations);
}

template <class Archive>
void serialize(Archive& archive, FunctionPoints& points) {
  auto& [function, blocks] = points;
  archive(function, blocks);
}

namespace {

/// What a function's blob holds; columns of the table hold the rest.
template <class Archive, class Function>
void function_fields(Archive& archive, Function& function) {
  auto& [id, usr, name, file, begin_line, end_line, flags, pattern, parent, signature, body, linkage_names,
         overrides, locals, blocks, entry, exit] = function;
  (void)id, (void)name, (void)file, (void)begin_line, (void)end_line, (void)body;
  archive(usr, flags, pattern, parent, signature, linkage_names, overrides, locals, blocks, entry, exit);
}

template <class Archive, class Variable>
void variable_fields(Archive& archive, Variable& variable) {
  auto& [id, name, type, file, at, kind, traits] = variable;
  (void)id;
  archive(name, type, file, at, kind, traits);
}

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

/// Every member, the ones that the database keeps in columns first.
template <class Archive, class Unit>
void unit_fields(Archive& archive, Unit& unit) {
  auto& [path, command, files, functions, points, variables, errors, messages] = unit;
  archive(path, command, files, points, errors, messages);
}

void save_list(CompactOutput& archive, const std::vector<FunctionFacts>& functions) {
  archive.number(functions.size());
  for (const FunctionFacts& f : functions) {
    archive(f.id, f.name, f.file, f.begin_line, f.end_line, f.body);
    function_fields(archive, f);
  }
}

void load_list(CompactInput& archive, std::vector<FunctionFacts>& functions) {
  functions.resize(archive.count());
  for (FunctionFacts& f : functions) {
    archive(f.id, f.name, f.file, f.begin_line, f.end_line, f.body);
    function_fields(archive, f);
  }
}

void save_list(CompactOutput& archive, const std::vector<VariableFacts>& variables) {
  archive.number(variables.size());
  for (const VariableFacts& variable : variables) {
    archive(variable.id);
    variable_fields(archive, variable);
  }
}

void load_list(CompactInput& archive, std::vector<VariableFacts>& variables) {
  variables.resize(archive.count());
  for (VariableFacts& variable : variables) {
    archive(variable.id);
    variable_fields(archive, variable);
  }
}

}  // namespace

std::string encode_unit(const UnitFacts& unit) {
  CompactOutput archive;
  unit_fields(archive, unit);
  save_list(archive, unit.functions);
  save_list(archive, unit.variables);
  return seal(archive.bytes(), kFactsCodec);
}

Result<UnitFacts> decode_unit(std::string_view blob) {
  UnitFacts unit;
  const Status done = decode(blob, 0, "a unit", [&](CompactInput& archive) {
    unit_fields(archive, unit);
    load_list(archive, unit.functions);
    load_list(archive, unit.variables);
  });
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
