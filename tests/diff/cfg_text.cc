#include "cfg_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "diff/diff.h"
#include "support/hash.h"

namespace simrt::diff {
namespace {

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (part = trimmed(part); !part.empty()) parts.push_back(part);
  return parts;
}

/// Elements are told apart by their line number in this table: the facts have no room for source text.
std::vector<std::string>& texts() {
  static std::vector<std::string> table;
  return table;
}

void add_locals(FunctionFacts& function, const std::string& list, bool parameter) {
  for (std::string item : split(list, ' ')) {
    Local local;
    local.parameter = parameter;
    if (item.back() == '!') local.static_storage = true, item.pop_back();
    const auto colon = item.find(':');
    local.name = item.substr(0, colon);
    local.type = hash_bytes(item.substr(colon + 1));
    function.locals.push_back(local);
  }
}

std::uint32_t local_named(const FunctionFacts& function, const std::string& name) {
  for (std::uint32_t i = 0; i < function.locals.size(); ++i)
    if (function.locals[i].name == name) return i;
  ADD_FAILURE() << "no local " << name;
  return 0;
}

Element parse_element(const FunctionFacts& function, const std::string& text) {
  Element element;
  std::string canonical;
  for (std::size_t i = 0; i < text.size();) {
    canonical += text[i];
    if (text[i++] != '$') continue;
    std::string name;
    while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'))
      name += text[i++];
    const std::uint32_t local = local_named(function, name);
    const bool defines = element.locals.empty() && canonical == "$" && text.substr(i, 2) == " =";
    element.locals.push_back(local);
    (defines ? element.defines : element.uses).push_back(local);
  }
  element.hash = hash_bytes(canonical);
  texts().push_back(text);
  element.at.line = static_cast<std::uint32_t>(texts().size());
  return element;
}

Edge parse_edge(const std::string& text) {
  const auto arrow = text.find('>');
  const std::string label = text.substr(0, arrow);
  Edge edge;
  edge.target = static_cast<std::uint32_t>(std::stoul(text.substr(arrow + 1)));
  if (label == "T") {
    edge.kind = EdgeKind::True;
  } else if (label == "F") {
    edge.kind = EdgeKind::False;
  } else if (label == "default") {
    edge.kind = EdgeKind::Default;
  } else if (label.starts_with("catch.")) {
    edge.kind = EdgeKind::Exception;
    edge.label = hash_bytes(label);
  } else if (!label.empty()) {
    edge.kind = EdgeKind::Case;
    edge.label = hash_bytes(label);
  }
  return edge;
}

Block parse_block(const FunctionFacts& function, std::uint32_t ordinal, const std::string& text) {
  Block block;
  block.ordinal = ordinal;
  const auto bar = text.find('|');
  for (const std::string& element : split(text.substr(0, bar), ';'))
    block.elements.push_back(parse_element(function, element));
  if (bar == std::string::npos) return block;
  for (const std::string& word : split(text.substr(bar + 1), ' ')) {
    if (word.find('>') == std::string::npos)
      block.terminator = hash_bytes(word);
    else
      block.successors.push_back(parse_edge(word));
  }
  return block;
}

char sign(ElementStatus status) {
  return status == ElementStatus::Same ? '=' : status == ElementStatus::Altered ? '~' : '+';
}

const Block& block_with(const FunctionFacts& function, std::uint32_t ordinal) {
  return *std::find_if(function.blocks.begin(), function.blocks.end(),
                       [&](const Block& block) { return block.ordinal == ordinal; });
}

std::string block_line(const BlockDiff& block, const FunctionFacts& after) {
  std::string line = std::to_string(block.ordinal) + (block.dangerous ? "!" : "") + "<" +
                     std::to_string(block.old_ordinal) + ":";
  const Block& code = block_with(after, block.ordinal);
  for (std::size_t i = 0; i < block.elements.size(); ++i)
    line += (i ? ", " : " ") + text_of(code.elements[i]) + sign(block.elements[i].status);
  return line + "\n";
}

}  // namespace

FunctionFacts parse_cfg(const std::string& usr, const std::string& text) {
  FunctionFacts function;
  function.usr = usr;
  function.name = usr;
  function.file = "a.cc";
  function.id = function_id(usr);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.starts_with("params ")) {
      add_locals(function, line.substr(7), true);
    } else if (line.starts_with("locals ")) {
      add_locals(function, line.substr(7), false);
    } else {
      const auto colon = line.find(':');
      function.blocks.push_back(parse_block(
          function, static_cast<std::uint32_t>(std::stoul(line.substr(0, colon))), line.substr(colon + 1)));
    }
  }
  std::sort(function.blocks.begin(), function.blocks.end(),
            [](const Block& a, const Block& b) { return a.ordinal < b.ordinal; });
  function.entry = function.blocks.back().ordinal;
  function.exit = function.blocks.front().ordinal;
  hash_body(function);
  return function;
}

void hash_body(FunctionFacts& function) {
  std::map<std::uint32_t, std::uint64_t> number;
  std::uint64_t hash = 1;
  const auto add = [&](std::uint64_t value) { hash = hash_combine(hash, value); };
  for (const Block& block : function.blocks) {
    add(block.ordinal), add(block.terminator), add(block.elements.size());
    for (const Element& element : block.elements) {
      add(element.hash);
      for (std::uint32_t local : element.locals) {
        add(number.try_emplace(local, number.size()).first->second);
        add(function.locals[local].type);
        add(function.locals[local].parameter ? local + 1 : 0);
      }
    }
    for (const Edge& edge : block.successors)
      add(static_cast<std::uint64_t>(edge.kind)), add(edge.label), add(edge.target);
  }
  function.body = hash;
}

Program program_of(std::vector<FunctionFacts> functions) {
  Program program;
  program.functions = FunctionList(std::move(functions));
  program.index();
  return program;
}

std::string diff_text(const FunctionFacts& before, const FunctionFacts& after, bool resync) {
  DiffOptions options;
  options.resync = resync;
  const ProgramDiff diff = diff_programs(program_of({before}), program_of({after}), options);
  if (diff.functions.empty()) return "unchanged";
  const FunctionDiff& function = diff.functions.front();
  std::string out;
  for (auto it = function.blocks.rbegin(); it != function.blocks.rend(); ++it) out += block_line(*it, after);
  if (!function.removed.empty()) out += "removed:";
  for (const RemovedElement& removed : function.removed)
    out += " " + text_of(block_with(before, removed.block).elements[removed.element]) + "@" +
           std::to_string(removed.block);
  if (!function.removed.empty()) out += "\n";
  if (!function.dangerous.empty()) out += "dangerous:";
  for (std::uint32_t ordinal : function.dangerous) out += " " + std::to_string(ordinal);
  if (!function.dangerous.empty()) out += "\n";
  return out;
}

const std::string& text_of(const Element& element) { return texts().at(element.at.line - 1); }

}  // namespace simrt::diff
