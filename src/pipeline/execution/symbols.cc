#include "pipeline/execution/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <variant>

#include "analysis/mapping/source_files.h"
#include "support/files.h"

namespace simrt::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kRoleDepth = 8;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_space(const std::string& text) {
  std::string out;
  for (char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::set<std::uint64_t> pcs_of(const testing::Execution& execution, bool events) {
  std::set<std::uint64_t> pcs;
  for (const auto& stack : execution.stacks) pcs.insert(stack.begin(), stack.end());
  for (const auto& thread : execution.threads) pcs.insert(thread.frames.begin(), thread.frames.end());
  for (const auto& race : execution.races) pcs.insert({race.first.pc, race.second.pc});
  for (const auto& wait : execution.waits) {
    pcs.insert(wait.wait.pc);
    for (const auto& held : wait.held) pcs.insert(held.pc);
  }
  for (const auto& cycle : execution.lock_cycles)
    for (const auto& edge : cycle.edges) pcs.insert({edge.held_pc, edge.wanted_pc});
  for (const auto& found : execution.atomicity)
    for (const auto& access : found.accesses) pcs.insert(access.pc);
  if (events)
    for (const auto& event : execution.events) pcs.insert(event.pc);
  if (events)
    for (const auto& [hash, callers] : execution.calls) pcs.insert(callers.begin(), callers.end());
  pcs.erase(0);
  return pcs;
}

/// Of the brackets that end in front of `end`, where they open; npos when they do not.
std::size_t index_before(const std::string& text, std::size_t end) {
  std::size_t depth = 0;
  while (end > 0) {
    --end;
    if (text[end] == ']') ++depth;
    if (text[end] == '[' && --depth == 0) return end;
  }
  return std::string::npos;
}

/// The last word in front of `end`, with nothing but spaces and indices between.
std::string word_before(const std::string& text, std::size_t end) {
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == ']')) {
    const std::size_t opens = text[end - 1] == ']' ? index_before(text, end) : end - 1;
    end = opens == std::string::npos ? end - 1 : opens;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// What a line assigns, or compares, to the value at `column`; of a call, what it is made on.
std::string left_of(const std::string& text, std::size_t column) {
  std::size_t at = column;
  while (at > 0 && text[at - 1] == ' ') --at;
  while (at > 0 && std::string_view("=<>!+-*/|&^ ").find(text[at - 1]) != std::string_view::npos) --at;
  const std::string word = word_before(text, at);
  return word.empty() || (word[0] >= '0' && word[0] <= '9') ? std::string() : word;
}

/// What a call or macro works on: the first name in its arguments that is no call itself; of `a->b` the
/// member.
std::string first_argument(const std::string& text, std::size_t parenthesis) {
  const auto end_of_word = [&](std::size_t at) {
    while (at < text.size() && is_word(text[at])) ++at;
    return at;
  };
  std::size_t begin = parenthesis;
  while (begin < text.size()) {
    while (begin < text.size() && !is_word(text[begin])) ++begin;
    std::size_t end = end_of_word(begin);
    for (;;) {
      const std::size_t more = text.compare(end, 2, "->") == 0  ? end + 2
                               : text.compare(end, 1, ".") == 0 ? end + 1
                                                                : end;
      if (more == end || more >= text.size() || !is_word(text[more])) break;
      begin = more;
      end = end_of_word(begin);
    }
    const bool number = begin < end && text[begin] >= '0' && text[begin] <= '9';
    if (end > begin && !number && (end >= text.size() || text[end] != '('))
      return text.substr(begin, end - begin);
    begin = end;
  }
  return {};
}

/// The part of a role's name that says where a thread was created: one function may do it for many callers.
std::string creation_place(const std::vector<CodeFrame>& created) {
  const CodeFrame* frame = own_frame(created);
  return frame ? fmt::format("{}@{}:{}", frame->function, frame->file, frame->line) : "?";
}

/// Whether an assignment ("=", "+=", "<<=") or a subscript stands there: what it works on stands before it.
bool works_on_left(const std::string& text, std::size_t at) {
  if (at >= text.size()) return false;
  if (text[at] == '[') return true;
  std::size_t end = at;
  while (end < text.size() && std::string_view("=<>!+-*/%|&^").find(text[end]) != std::string_view::npos)
    ++end;
  const std::string op = text.substr(at, end - at);
  return op.ends_with('=') && op != "==" && op != "!=" && op != "<=" && op != ">=";
}

/// "a::B<int, C<d>>::f" as "a::B::f": one place in the source is that of all instantiations.
std::string without_template_arguments(const std::string& name) {
  if (name.find("operator") != std::string::npos) return name;
  std::string out;
  std::size_t depth = 0;
  for (char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

/// Whether the frame stands at the name of the constructor or destructor that it belongs to: there stands
/// what the compiler does by itself to the members that no initialiser names.
bool is_own_definition(const CodeFrame& frame, const std::string& text) {
  const std::size_t begin = frame.column == 0 ? 0 : frame.column - 1;
  if (begin >= text.size()) return false;
  std::size_t end = begin + (text[begin] == '~' ? 1 : 0);
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string word = text.substr(begin, end - begin);
  const std::string type = text[begin] == '~' ? word.substr(1) : word;
  if (type.empty() || text.compare(end, 1, "(") != 0) return false;
  const std::string function =
      "::" + without_template_arguments(frame.function.substr(0, frame.function.find('(')));
  return function.ends_with("::" + type + "::" + word);
}

}  // namespace

Symbols::Symbols(std::string repository_root, std::shared_ptr<const Program> program)
    : root_(std::move(repository_root)), program_(std::move(program)) {
  if (!program_) return;
  files_ = analysis::source_files(*program_);
  for (const FunctionFacts& function : program_->functions)
    for (const Block& block : function.blocks)
      for (const Element& element : block.elements)
        for (const Event& event : element.events)
          if (const auto* access = std::get_if<Access>(&event.what)) {
            Accessed& there =
                accesses_.try_emplace({function.file, event.at.line, event.at.column}, access->place.base)
                    .first->second;
            if (access->mode == AccessMode::Write && !there.written) there.written = access->place.base;
          }
}

void Symbols::learn(const testing::Execution& execution, bool events) {
  const std::lock_guard lock(mutex_);
  add(execution, pcs_of(execution, events));
}

/// What lies in another repository (a submodule) or in a build tree (fetched dependencies) is not the
/// project's own.
bool Symbols::is_foreign(const std::string& directory) {
  if (directory.empty()) return false;
  const auto [known, fresh] = foreign_.try_emplace(directory, false);
  if (!fresh) return known->second;
  const fs::path path = fs::path(root_) / directory;
  std::error_code ignored;
  for (const char* sign : {".git", "CMakeCache.txt", "meson-private"})
    known->second = known->second || fs::exists(path / sign, ignored);
  if (!known->second) known->second = is_foreign(fs::path(directory).parent_path().string());
  return known->second;
}

void Symbols::add(const testing::Execution& execution, const std::set<std::uint64_t>& pcs) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> wanted;
  for (std::uint64_t pc : pcs) {
    const auto site = execution.site_of(pc);
    if (site && !frames_[execution.modules[site->module].name.path].contains(site->offset))
      wanted[site->module].push_back(site->offset);
  }
  for (const auto& [module, offsets] : wanted) {
    const std::string& path = execution.modules[module].name.path;
    std::vector<std::uint64_t> calls;
    for (std::uint64_t offset : offsets) calls.push_back(offset - 1);
    const auto names = analysis::ModuleNames::load(path, calls, root_, files_);
    for (std::uint64_t offset : offsets) {
      auto& frames = frames_[path][offset];
      if (names) frames = names->frames(offset - 1);
      for (CodeFrame& frame : frames) {
        if (frame.own() && is_foreign(fs::path(frame.file).parent_path().string()))
          frame.file = (fs::path(root_) / frame.file).string();
        if (!frame.own() && !frame.file.empty())
          frame.file = absolute_path(frame.file, "/");  // no "12/../.."
        frame.statement = without_space(line_text(frame));
      }
    }
  }
}

const std::vector<CodeFrame>& Symbols::frames_of(const testing::Execution& execution, std::uint64_t pc) {
  static const std::vector<CodeFrame> kNothing;
  const auto site = execution.site_of(pc);
  if (!site) return kNothing;
  FramesByOffset& frames = frames_[execution.modules[site->module].name.path];
  if (!frames.contains(site->offset)) add(execution, {pc});
  return frames[site->offset];
}

std::vector<CodeFrame> Symbols::stack(const testing::Execution& execution,
                                      const std::vector<std::uint64_t>& pcs) {
  const std::lock_guard lock(mutex_);
  std::vector<CodeFrame> result;
  for (std::uint64_t pc : pcs) {
    const auto& frames = frames_of(execution, pc);
    result.insert(result.end(), frames.begin(), frames.end());
  }
  return result;
}

ThreadRole Symbols::role(const testing::Execution& execution, std::uint32_t thread) {
  const std::lock_guard lock(mutex_);
  ThreadRole role;
  role.index = thread;
  std::vector<std::string> path;
  const auto find = [&](std::uint32_t index) {
    return std::find_if(execution.threads.begin(), execution.threads.end(),
                        [&](const testing::ExecutionThread& t) { return t.index == index; });
  };
  auto at = find(thread);
  if (at == execution.threads.end() && thread != 0) {
    role.name = "another thread";
    return role;
  }
  for (std::size_t depth = 0; depth < kRoleDepth && at != execution.threads.end() && at->index != 0;
       ++depth) {
    const auto created = stack(execution, at->frames);
    if (depth == 0) role.created = created;
    const std::string place = creation_place(created);
    const auto ordinal =
        std::count_if(execution.threads.begin(), execution.threads.end(), [&](const auto& t) {
          return t.index < at->index && t.parent == at->parent &&
                 creation_place(stack(execution, t.frames)) == place;
        });
    path.push_back(fmt::format("{}#{}", place, ordinal));
    if (at->parent >= at->index) break;
    at = find(at->parent);
  }
  role.name = "main";
  for (auto part = path.rbegin(); part != path.rend(); ++part) role.name += "/" + *part;
  return role;
}

std::string Symbols::global(const testing::Execution& execution, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  for (const testing::ExecutionModule& module : execution.modules) {
    if (address < module.begin || address >= module.end) continue;
    auto [known, fresh] = data_.try_emplace(module.name.path);
    if (fresh) {
      auto names = analysis::ModuleNames::load(module.name.path, {}, root_, files_);
      if (names) known->second = std::make_unique<analysis::ModuleNames>(std::move(*names));
    }
    if (!known->second) return {};
    const auto symbol = known->second->data_at(address - module.bias);
    if (!symbol) return {};
    return symbol->offset == 0 ? symbol->name : fmt::format("{}+{}", symbol->name, symbol->offset);
  }
  return {};
}

std::string Symbols::variable(const testing::Execution& execution, std::uint64_t address,
                              const std::vector<CodeFrame>& stack, bool by_library) {
  const std::lock_guard lock(mutex_);
  const CodeFrame* frame = own_frame(stack);
  const bool own = frame != nullptr && frame->own();
  const bool implicit = own && is_own_definition(*frame, line_text(*frame));
  const std::string word = own && !implicit ? as_written(*frame, by_library) : std::string();
  if (frame != nullptr && !implicit) {
    const auto known = accesses_.find({frame->file, frame->line, frame->column});
    if (known != accesses_.end() && (!by_library || known->second.written))
      return without_template_arguments(
          program_->name_of(by_library ? *known->second.written : known->second.variable));
    if (!word.empty())
      if (std::string name = accessed_near(*frame, word, by_library); !name.empty()) return name;
  }
  if (std::string name = global(execution, address); !name.empty()) return name;
  if (own && !implicit)
    if (std::string name = accessed_near(*frame, {}, by_library); !name.empty()) return name;
  if (!word.empty()) return word;
  return frame != nullptr && !frame->function.empty() ? "memory in " + frame->function : "memory";
}

bool Symbols::names_a_variable(const std::string& name) {
  return name != "memory" && !name.starts_with("memory in ") && !name.ends_with("::return");
}

const std::vector<Symbols::SourceLine>& Symbols::lines_of(const std::string& file) {
  auto [known, fresh] = sources_.try_emplace(file);
  if (!fresh) return known->second;
  const auto text = read_file(root_ + "/" + file);
  if (!text) return known->second;
  std::unordered_map<std::string, std::uint32_t> count;
  std::size_t begin = 0;
  while (begin <= text->size()) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    SourceLine line{text->substr(begin, end - begin), {}, 0};
    line.statement = without_space(line.text);
    line.equal = count[line.statement]++;
    known->second.push_back(std::move(line));
    begin = end + 1;
  }
  return known->second;
}

std::string Symbols::line_text(const CodeFrame& frame) {
  if (!frame.own() || frame.line == 0) return {};
  const auto& lines = lines_of(frame.file);
  return frame.line <= lines.size() ? lines[frame.line - 1].text : std::string();
}

std::string Symbols::source_line(const CodeFrame& frame) {
  const std::lock_guard lock(mutex_);
  return trimmed(line_text(frame));
}

std::string Symbols::position(const CodeFrame& frame) {
  const std::lock_guard lock(mutex_);
  const std::string text = line_text(frame);
  if (without_space(text).empty()) return fmt::format("{}:{}", frame.line, frame.column);
  const SourceLine& line = lines_of(frame.file)[frame.line - 1];
  const std::size_t before = without_space(text.substr(0, frame.column == 0 ? 0 : frame.column - 1)).size();
  return fmt::format("{}#{}+{}", line.statement, line.equal, before);
}

/// What the facts know of the line, for a hook with another column than the access (that of a macro, an
/// operator, a call that the compiler made of it): the variable that is called `word`; without a word the one
/// that is accessed nearest.
std::string Symbols::accessed_near(const CodeFrame& frame, const std::string& word, bool written) {
  std::string nearest;
  std::uint32_t distance = UINT32_MAX;
  for (auto at = accesses_.lower_bound({frame.file, frame.line, 0});
       at != accesses_.end() && at->first.file == frame.file && at->first.line == frame.line; ++at) {
    if (written && !at->second.written) continue;
    const std::string name =
        without_template_arguments(program_->name_of(written ? *at->second.written : at->second.variable));
    if (!word.empty()) {
      if (name == word || name.ends_with("::" + word)) return name;
      continue;
    }
    const std::uint32_t column = at->first.column;
    const std::uint32_t away = column > frame.column ? column - frame.column : frame.column - column;
    if (away < distance) {
      distance = away;
      nearest = name;
    }
  }
  return nearest;
}

/// The word at the column, or the first one behind it; before an assignment; of a member function's call, the
/// object in front of it; of another call or a macro, what it is given. A literal is no name: then what
/// stands to the left of it.
std::string Symbols::as_written(const CodeFrame& frame, bool written) {
  const std::string text = line_text(frame);
  std::size_t begin = frame.column == 0 ? 0 : frame.column - 1;
  if (written)  // the call's column may be that of its last argument
    for (std::size_t at = 0; at < begin && at < text.size(); ++at)
      if (text[at] != '[' && works_on_left(text, at))
        if (std::string name = left_of(text, at); !name.empty()) return name;
  if (works_on_left(text, begin))
    if (std::string name = left_of(text, begin); !name.empty()) return name;
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  if (begin >= text.size()) return {};
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  if (text[begin] >= '0' && text[begin] <= '9') return left_of(text, begin);
  const bool called = end < text.size() && text[end] == '(';
  std::size_t before = begin;
  if (before > 0 && text[before - 1] == '.') {
    before -= 1;
  } else if (before > 1 && text[before - 2] == '-' && text[before - 1] == '>') {
    before -= 2;
  }
  if (called && before != begin && before > 0 && is_word(text[before - 1])) {
    end = before;
    begin = before;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
  } else if (called && before == begin) {
    if (std::string name = first_argument(text, end); !name.empty()) return name;
  }
  return text.substr(begin, end - begin);
}

}  // namespace simrt::pipeline
