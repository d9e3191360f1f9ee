#include "wrappers/assembly.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace simrt::wrappers {
namespace {

constexpr std::string_view kHook = "__sanitizer_cov_trace_pc";
constexpr std::string_view kLocalHook = "simrt_inline_hook";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The word at the head of a statement, and what follows it.
std::pair<std::string_view, std::string_view> split(std::string_view statement) {
  const auto end = statement.find_first_of(" \t");
  if (end == std::string_view::npos) return {statement, {}};
  return {statement.substr(0, end), trimmed(statement.substr(end))};
}

// `NAME,"axG",@progbits,GROUP,comdat` -> `GROUP,comdat`; empty outside a group.
std::string_view group_of(std::string_view section) {
  const auto flags = section.find('"');
  const auto end = section.find('"', flags + 1);
  if (flags == std::string_view::npos || end == std::string_view::npos) return {};
  if (!contains(section.substr(flags, end - flags), "G")) return {};
  const auto group = section.find(',', section.find(',', end) + 1);
  return group == std::string_view::npos ? std::string_view() : section.substr(group + 1);
}

class Rewriter {
 public:
  std::optional<std::string> rewrite(std::string_view assembly) {
    out_.reserve(assembly.size() * 3 / 2);
    while (!assembly.empty()) {
      const auto end = assembly.find('\n');
      if (!take(assembly.substr(0, end))) return std::nullopt;
      assembly.remove_prefix(end == std::string_view::npos ? assembly.size() : end + 1);
    }
    write_tables();
    return std::move(out_);
  }

 private:
  struct Table {
    std::size_t number = 0;
    std::vector<std::pair<std::size_t, bool>> sites;  // label, first of its function
  };

  void keep(std::string_view line) { fmt::format_to(std::back_inserter(out_), "{}\n", line); }

  bool take(std::string_view line) {
    const std::string_view statement = trimmed(line);
    if (statement == "#APP") in_user_code_ = true;
    if (statement == "#NO_APP") in_user_code_ = false;
    if (in_user_code_ ? !is_harmless(statement) : !follow(line, statement)) return false;
    if (!in_user_code_ && contains(statement, kHook)) return hook(line, statement);
    keep(line);
    return true;
  }

  // Inline assembly. A pushsection is followed by its popsection; gcc counts on that too.
  static bool is_harmless(std::string_view statement) {
    static constexpr std::array<std::string_view, 8> kUnsure = {
        kHook, ".section", ".text", ".data", ".bss", ".previous", ".subsection", "_syntax"};
    for (std::string_view word : kUnsure) {
      if (contains(statement, word)) return false;
    }
    return true;
  }

  // Which section and function the next statement is in. False for what gcc is not known to write.
  bool follow(std::string_view line, std::string_view statement) {
    const auto [word, rest] = split(statement);
    if (word == ".text" || word == ".data" || word == ".bss") {
      section_ = statement;
    } else if (word == ".section") {
      section_ = rest;
    } else if (word == ".type" && contains(rest, "@function")) {
      functions_.insert(rest.substr(0, rest.find(',')));
    } else if (!line.empty() && line.back() == ':' &&
               functions_.count(line.substr(0, line.size() - 1)) != 0) {
      at_entry_ = !contains(line, ".cold");
    }
    return word != ".pushsection" && word != ".popsection" && word != ".previous" && word != ".subsection" &&
           word != ".intel_syntax";
  }

  bool hook(std::string_view line, std::string_view statement) {
    const auto [word, rest] = split(statement);
    if (word == "call") {
      if (rest != kHook && rest != std::string(kHook) + "@PLT") return false;
      store();
      return true;
    }
    if (starts_with(word, ".string") || starts_with(word, ".ascii") || word == ".file") {
      keep(line);  // debug information
      return true;
    }
    if (word == ".globl") return true;  // the definition of hooks/inline_gcc.h: each object has its own
    if (word.front() != '.' && word.back() != ':') return false;
    std::string renamed(line);
    for (auto at = renamed.find(kHook); at != std::string::npos; at = renamed.find(kHook, at)) {
      renamed.replace(at, kHook.size(), kLocalHook);
    }
    keep(renamed);
    if (word == ".weak") fmt::format_to(std::back_inserter(out_), "\t.hidden\t{}\n", kLocalHook);
    return true;
  }

  void store() {
    Table& table = tables_.try_emplace(std::string(section_), Table{tables_.size(), {}}).first->second;
    fmt::format_to(std::back_inserter(out_),
                   ".Lsimrt_site{0}:\n"
                   "\tmovq\tsimrt_guard_map@gottpoff(%rip), %r11\n"
                   "\tleaq\t.Lsimrt_guards{1}+{2}(%rip), %r10\n"
                   "\tmovq\t%fs:(%r11), %r11\n"
                   "\tmovb\t$1, (%r10,%r11)\n",
                   sites_, table.number, 4 * table.sites.size());
    table.sites.emplace_back(sites_++, at_entry_);
    at_entry_ = false;
  }

  void write_tables() {
    if (sites_ != 0) out_ += "\t.hidden\tsimrt_guard_map\n";
    for (const auto& [section, table] : tables_) {
      const std::string_view group = group_of(section);
      const std::string flags =
          group.empty() ? "\"aw\",@progbits" : fmt::format("\"awG\",@progbits,{}", group);
      fmt::format_to(std::back_inserter(out_),
                     "\t.section\t__sancov_guards,{}\n\t.p2align\t2\n.Lsimrt_guards{}:\n\t.zero\t{}\n"
                     "\t.section\t__sancov_pcs,{}\n\t.p2align\t3\n",
                     flags, table.number, 4 * table.sites.size(), flags);
      for (const auto& [site, entry] : table.sites) {
        fmt::format_to(std::back_inserter(out_), "\t.quad\t.Lsimrt_site{}\n\t.quad\t{}\n", site,
                       entry ? 1 : 0);
      }
    }
  }

  std::string out_;
  bool in_user_code_ = false;
  std::string_view section_ = ".text";
  std::set<std::string_view> functions_;
  bool at_entry_ = false;  // of a function, no site of it seen yet
  std::size_t sites_ = 0;
  std::map<std::string, Table, std::less<>> tables_;  // by text section
};

}  // namespace

std::optional<std::string> inline_hook_calls(std::string_view assembly) {
  return Rewriter().rewrite(assembly);
}

}  // namespace simrt::wrappers
