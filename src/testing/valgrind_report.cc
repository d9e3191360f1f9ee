// Format: valgrind's docs/internals/xml-output-protocol4.txt; helgrind/hg_errors.c, drd/drd_error.c.
#include "testing/valgrind_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <set>
#include <unordered_map>

#include "support/files.h"
#include "testing/tool_execution.h"

namespace simrt::testing {
namespace {

using format::EventKind;

constexpr std::size_t kMostNotes = 20;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargestFunction = std::uint64_t{1} << 20;

std::optional<std::uint64_t> number(std::string_view text, int base) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view mark, int base) {
  const auto at = text.find(mark);
  return at == std::string_view::npos ? std::nullopt : number(text.substr(at + mark.size()), base);
}

bool has(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

/// Of a <what>, <xwhat>, <auxwhat> or <xauxwhat>.
std::string_view words(const pugi::xml_node& node) {
  const pugi::xml_node text = node.child("text");
  return text ? text.child_value() : node.child_value();
}

struct Stack {
  std::vector<std::uint64_t> pcs;
  bool releases = false;  // begins in valgrind's free()
};

class Parser {
 public:
  ValgrindReport run(std::string_view xml) {
    pugi::xml_document document;
    const auto parsed =
        document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_fragment);
    const pugi::xml_node root = document.child("valgrindoutput");
    Execution& execution = tool_.execution();
    if (!root) {
      execution.notes.emplace_back("valgrind wrote no report");
      return std::move(report_);
    }
    const bool began = root.child("status");  // RUNNING, before the program's first instruction
    if (began) execution.state = format::RunState::Finished;
    for (const pugi::xml_node& node : root.children()) {
      const std::string_view name = node.name();
      if (name == "announcethread") announce(node);
      if (name == "error") error(node);
    }
    if (!began)
      execution.notes.emplace_back("valgrind ended before the program began");
    else if (!parsed)
      execution.notes.emplace_back("valgrind's report is cut off: the run did not end by itself");
    report_.execution = std::move(execution);
    return std::move(report_);
  }

 private:
  /// Addresses are those of the instruction, or of the last byte of a call: one more is what looks like a
  /// return address to the rest.
  Stack stack(const pugi::xml_node& node) {
    Stack stack;
    bool own = false;
    for (const pugi::xml_node& frame : node.children("frame")) {
      const auto ip = number(frame.child("ip").child_value(), 16);
      const std::string object = frame.child("obj").child_value();
      if (!ip || *ip == 0 || *ip == UINT64_MAX) continue;
      const std::string function = frame.child("fn").child_value();
      if (has(object, "/vgpreload_")) {
        if (!own)
          stack.releases |= function == "free" || function.starts_with("_Zd") || function == "realloc";
        continue;
      }
      own = true;
      stack.pcs.push_back(*ip + 1);
      if (object.empty()) continue;
      auto& places = report_.places[object];
      if (!function.empty()) places.emplace_back(*ip, function);
    }
    return stack;
  }

  /// Threads are numbered from 1 = main in order of creation.
  static std::optional<std::uint32_t> thread(std::optional<std::uint64_t> number) {
    if (!number || *number == 0 || *number > 0xfffe) return std::nullopt;
    return static_cast<std::uint32_t>(*number - 1);
  }

  void announce(const pugi::xml_node& node) {
    const auto index = thread(number(node.child("hthreadid").child_value(), 10));
    if (!index || *index == 0) return;
    const pugi::xml_node created = node.child("stack");
    std::uint32_t parent = format::kRunNone;
    for (const pugi::xml_node& frame : created.children("frame"))
      if (std::string_view(frame.child("fn").child_value()) == "main") parent = 0;
    tool_.thread(*index, parent, stack(created).pcs);
  }

  void error(const pugi::xml_node& node) {
    const std::string_view kind = node.child("kind").child_value();
    const pugi::xml_node head = node.child("xwhat") ? node.child("xwhat") : node.child("what");
    const std::string_view text = words(head);
    const bool known = kind == "Race"                ? race(node, head, text)
                       : kind == "ConflictingAccess" ? conflict(node, text)
                       : kind == "LockOrder"         ? order(node, head, text)
                                                     : false;
    if (known) return;
    if (!notes_.insert(std::string(text)).second || tool_.execution().notes.size() >= kMostNotes) return;
    tool_.execution().notes.push_back(fmt::format("valgrind: {}", text.substr(0, 200)));
  }

  format::FindingAccess access(bool write, const Stack& stack, std::uint64_t address, std::uint64_t size,
                               std::optional<std::uint32_t> thread) {
    const EventKind kind = stack.releases ? EventKind::Free : write ? EventKind::Write : EventKind::Read;
    return tool_.access(kind, address, static_cast<std::uint32_t>(size), thread.value_or(0xffff), stack.pcs,
                        format::kRunNone);
  }

  /// "Possible data race during read of size 4 at 0x10E0A0 by thread #3"; then "This conflicts with a
  /// previous write of size 4 by thread #2".
  bool race(const pugi::xml_node& node, const pugi::xml_node& head, std::string_view text) {
    const auto size = number_behind(text, " of size ", 10), address = number_behind(text, " at 0x", 16);
    if (!size || !address || *size > UINT32_MAX) return false;
    const Stack later = stack(node.child("stack"));
    const auto second = access(has(text, "during write"), later, *address, *size,
                               thread(number(head.child("hthreadid").child_value(), 10)));
    std::uint32_t variable = format::kRunNone;
    std::optional<format::FindingAccess> first;
    for (const pugi::xml_node& aux : node.children()) {
      const std::string_view name = aux.name(), said = words(aux);
      const pugi::xml_node behind = next_stack(aux);
      if (name == "xauxwhat" && has(said, "This conflicts with a previous ") && !first)
        first = access(has(said, "previous write"), stack(behind), *address,
                       number_behind(said, " of size ", 10).value_or(*size),
                       thread(number(aux.child("hthreadid").child_value(), 10)));
      if (name == "auxwhat" && has(said, " inside a block of size ")) {
        const auto block = number_behind(said, " inside a block of size ", 10);
        const auto inside = number_behind(said, " is ", 10);
        if (block && inside) variable = tool_.variable(*address - *inside, *block, stack(behind).pcs);
      }
    }
    if (!first) first = unknown(*address, *size);
    add(*first, second, variable);
    return true;
  }

  /// "Conflicting load by thread 3 at 0x0010e0a0 size 4". What it conflicts with lies somewhere between two
  /// synchronisations of another thread.
  bool conflict(const pugi::xml_node& node, std::string_view text) {
    const auto size = number_behind(text, " size ", 10), address = number_behind(text, " at 0x", 16);
    if (!size || !address || *size > UINT32_MAX) return false;
    const Stack here = stack(node.child("stack"));
    const auto second =
        access(has(text, "store"), here, *address, *size, thread(number_behind(text, " by thread ", 10)));
    std::uint32_t variable = format::kRunNone;
    if (const pugi::xml_node context = node.child("allocation_context"))
      variable = tool_.variable(*address, 0, stack(context.child("stack")).pcs);
    add(unknown(*address, *size), second, variable);
    return true;
  }

  format::FindingAccess unknown(std::uint64_t address, std::uint64_t size) {
    format::FindingAccess access = this->access(false, {}, address, size, std::nullopt);
    access.kind = 0;
    return access;
  }

  void add(const format::FindingAccess& first, const format::FindingAccess& second, std::uint32_t variable) {
    const auto freed = static_cast<std::uint8_t>(EventKind::Free);
    const bool released = first.kind == freed || second.kind == freed;
    std::uint32_t flags = format::kFindingWitnessed;
    if (released) flags |= format::kFindingFreedMemory;
    tool_.race(first, second, flags, variable);
  }

  /// "Thread #3: lock order "0xA before 0xB" violated": it holds B and asks for A.
  bool order(const pugi::xml_node& node, const pugi::xml_node& head, std::string_view text) {
    const auto first = number_behind(text, "lock order \"0x", 16),
               second = number_behind(text, " before 0x", 16);
    if (!first || !second) return false;
    // How the required order came about is told only where the two locks were taken one behind the other.
    const Stack asking = stack(node.child("stack"));
    Stack established, followed;
    for (const pugi::xml_node& aux : node.children("auxwhat")) {
      if (has(words(aux), "Required order was established")) established = stack(next_stack(aux));
      if (has(words(aux), "followed by a later acquisition")) followed = stack(next_stack(aux));
    }
    const auto edge = [&](std::uint64_t held, const Stack& at, std::uint64_t wanted, const Stack& then,
                          std::uint32_t thread) {
      format::LockEdge edge = {};
      edge.held = held;
      edge.wanted = wanted;
      edge.held_pc = at.pcs.empty() ? 0 : at.pcs.front();
      edge.held_stack = tool_.stack(at.pcs);
      edge.wanted_pc = then.pcs.empty() ? 0 : then.pcs.front();
      edge.wanted_stack = tool_.stack(then.pcs);
      edge.lock_set = format::kRunNone;
      edge.thread = static_cast<std::uint16_t>(thread);
      return edge;
    };
    const auto asks = thread(number(head.child("hthreadid").child_value(), 10)).value_or(0xffff);
    tool_.lock_cycle(
        {edge(*second, {}, *first, asking, asks), edge(*first, established, *second, followed, 0xffff)});
    return true;
  }

  /// The stack that belongs to a line, if it has one.
  static pugi::xml_node next_stack(const pugi::xml_node& aux) {
    for (pugi::xml_node next = aux.next_sibling(); next; next = next.next_sibling()) {
      if (std::string_view(next.name()) == "stack") return next;
      if (!has(next.name(), "auxwhat") || has(words(next), "This conflicts") ||
          has(words(next), "followed by a later"))
        break;
    }
    return {};
  }

  ValgrindReport report_;
  ToolExecution tool_;
  std::set<std::string> notes_;
};

}  // namespace

std::vector<std::string> valgrind_command(const std::string& valgrind, const std::string& tool,
                                          const std::string& output) {
  // The path goes through valgrind's own escapes: %p is the process, %% a percent sign.
  std::string file;
  for (const char c : output) file += c == '%' ? std::string("%%") : std::string(1, c);
  return {valgrind,        "--tool=" + tool,   "--xml=yes",        "--xml-file=" + file + ".%p", "-q",
          "--demangle=no", "--num-callers=40", "--error-limit=no", "--trace-children=yes"};
}

ValgrindReport parse_valgrind_report(std::string_view xml) { return Parser().run(xml); }

std::optional<std::uint64_t> load_bias(const std::vector<std::pair<std::uint64_t, std::string>>& places,
                                       const std::vector<ElfFunction>& functions) {
  std::unordered_multimap<std::string_view, const ElfFunction*> by_name;
  for (const ElfFunction& function : functions) by_name.emplace(function.name, &function);
  std::map<std::uint64_t, std::size_t> votes;
  for (const auto& [ip, name] : std::set(places.begin(), places.end())) {
    // "pthread_create@@GLIBC_2.34" is "pthread_create" in the table.
    const std::string_view plain = std::string_view(name).substr(0, name.find('@'));
    std::set<std::uint64_t> fits;
    const auto [begin, end] = by_name.equal_range(plain);
    for (auto at = begin; at != end; ++at) {
      const ElfFunction& function = *at->second;
      const std::uint64_t size = std::min(function.size, kLargestFunction);
      if (ip < function.address) continue;
      // bias + address <= ip < bias + address + size
      const std::uint64_t most = (ip - function.address) / kPage * kPage;
      for (std::uint64_t bias = most; ip - function.address - bias < size; bias -= kPage) {
        fits.insert(bias);
        if (bias < kPage) break;
      }
    }
    for (const std::uint64_t bias : fits) ++votes[bias];
  }
  const auto best = std::max_element(votes.begin(), votes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == votes.end()) return std::nullopt;
  return best->first;
}

Execution settle_valgrind_report(ValgrindReport report) {
  Execution execution = std::move(report.execution);
  for (const auto& [path, places] : report.places) {
    const auto bytes = read_file(path);
    if (!bytes) continue;
    const auto bias = load_bias(places, elf_functions(*bytes));
    if (!bias) continue;
    ExecutionModule module;
    module.name.path = path;
    module.bias = *bias;
    module.begin = *bias;
    module.end = *bias;
    execution.modules.push_back(std::move(module));
  }
  complete_modules(execution);
  return execution;
}

}  // namespace simrt::testing
