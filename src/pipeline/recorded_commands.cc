#include "pipeline/recorded_commands.h"

#include <cctype>
#include <utility>

#include "support/files.h"

namespace simrt::pipeline {
namespace {

constexpr std::string_view kSource = "<simrt:source>", kBuild = "<simrt:build>";

bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-+~").find(c) != std::string_view::npos;
}

/// Replaces `path` in `text` wherever a whole path or the beginning of one is spelled.
std::string with_path_replaced(std::string text, std::string_view path, std::string_view by) {
  if (path.size() < 2) return text;  // "/" begins every path
  for (std::size_t at = text.find(path); at != std::string::npos;) {
    const std::size_t end = at + path.size();
    const bool whole = end == text.size() || !continues_name(text[end]);
    if (whole) text.replace(at, path.size(), by);
    at = text.find(path, whole ? at + by.size() : end);
  }
  return text;
}

/// Ordered replacements. The build directory comes first: it mostly lies in the source directory.
using Replacements = std::vector<std::pair<std::string, std::string>>;

std::string replaced(std::string text, const Replacements& replacements) {
  for (const auto& [from, to] : replacements) text = with_path_replaced(std::move(text), from, to);
  return text;
}

std::vector<std::string> replaced(std::vector<std::string> texts, const Replacements& replacements) {
  for (std::string& text : texts) text = replaced(std::move(text), replacements);
  return texts;
}

}  // namespace

std::vector<history::StoredCommand> portable_commands(const UnitCommands& commands,
                                                      const BuildLocation& location) {
  Replacements replacements;
  // Where a build is made among the sources, it moves with them.
  const bool apart = canonical_path(location.build) != canonical_path(location.source);
  for (const auto& [directory, placeholder] :
       {std::pair(location.build, apart ? kBuild : kSource), std::pair(location.source, kSource)})
    // As configured, and as the build system may spell it: with links resolved.
    for (const std::string& spelling : {directory, canonical_path(directory)})
      replacements.emplace_back(spelling, placeholder);
  std::vector<history::StoredCommand> stored;
  stored.reserve(commands.by_path.size());
  for (const auto& [path, command] : commands.by_path)
    stored.push_back({path, commands.hashes.at(path), replaced(command.directory, replacements),
                      replaced(command.arguments, replacements)});
  return stored;
}

std::vector<RecordedCommand> commands_at(const std::vector<history::StoredCommand>& stored,
                                         const BuildLocation& location) {
  const Replacements replacements{{std::string(kBuild), location.build},
                                  {std::string(kSource), location.source}};
  std::vector<RecordedCommand> commands;
  commands.reserve(stored.size());
  for (const history::StoredCommand& command : stored)
    commands.push_back(
        {{command.path, replaced(command.directory, replacements), replaced(command.arguments, replacements)},
         command.hash});
  return commands;
}

}  // namespace simrt::pipeline
