// Functions, their points and variables as compact, versioned, checksummed blobs. Lines are stored relative
// to the item's first line, so that an item that only moved keeps its bytes. Fields that the database keeps
// in columns (id, body, name, file, first and last line) are not in the blobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/facts.h"
#include "support/result.h"

namespace simrt::history {

/// Goes up with every change of the blobs' contents, also when only the analysis says more or other things of
/// the same code. Units written by another version are parsed again.
inline constexpr std::uint8_t kFactsCodec = 6;

/// The bytes before sealing: equal bytes mean equal facts, so they are what versions are told apart by.
std::string encode_function(const FunctionFacts& function);
std::string encode_points(const FunctionPoints& points, std::uint32_t begin_line);
std::string encode_variable(const VariableFacts& variable);

/// `blob` is the sealed form. Fills everything except id, body, name, file and the two lines, which stay as
/// in `function`; `function.begin_line` must be set. Error: History (damaged or written by another version).
Status decode_function(std::string_view blob, FunctionFacts& function);
Status decode_points(std::string_view blob, std::uint32_t begin_line, FunctionPoints& points);
/// `variable.id` and `variable.at.line` must be set; the rest is filled.
Status decode_variable(std::string_view blob, VariableFacts& variable);

/// A whole unit in one sealed blob, for caches outside the database.
std::string encode_unit(const UnitFacts& unit);
Result<UnitFacts> decode_unit(std::string_view blob);

}  // namespace simrt::history
