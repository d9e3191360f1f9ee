// Format: compiler-rt/lib/tsan/rtl/tsan_report.cpp (PrintReport), with stack_trace_format as tsan_options()
// sets it.
#include "testing/tsan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "support/files.h"
#include "testing/elf_symbols.h"
#include "testing/tool_execution.h"

namespace simrt::testing {
namespace {

using format::EventKind;

constexpr std::string_view kStart = "WARNING: ThreadSanitizer: ";
constexpr std::size_t kMostNotes = 20;

/// The text between two marks; nothing when one is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const auto begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + before.size());
  const auto end = after.empty() ? text.size() : text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> address_behind(std::string_view text, std::string_view mark) {
  const auto rest = between(text, mark, "");
  return rest ? number<std::uint64_t>(*rest, 16) : std::nullopt;
}

/// "main thread" is 0, "thread T3" 3.
std::optional<std::uint32_t> thread_behind(std::string_view text, std::string_view mark) {
  const auto rest = between(text, mark, "");
  if (!rest) return std::nullopt;
  if (rest->starts_with("main thread")) return 0;
  for (const std::string_view name : {"thread T", "goroutine "})
    if (rest->starts_with(name)) {
      const auto index = number<std::uint32_t>(rest->substr(name.size()), 10);
      return index && *index < 0xffff ? index : std::nullopt;
    }
  return std::nullopt;
}

/// One headline of a report and the stack below it.
struct Section {
  std::string_view head;
  std::vector<std::uint64_t> pcs;
};

struct Access {
  EventKind kind = EventKind::Read;
  std::uint64_t address = 0;
  std::uint32_t size = 0, thread = 0;
  std::vector<std::pair<std::string_view, bool>> mutexes;  // "M3", shared
  std::vector<std::uint64_t> pcs;
};

class Parser {
 public:
  explicit Parser(std::string_view log) : log_(log) {}

  Execution run() {
    std::vector<std::string_view> report;
    for (std::string_view rest = log_; !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.find("Running under ThreadSanitizer") != std::string_view::npos)
        tool_.execution().state = format::RunState::Finished;
      if (line.starts_with(kStart)) {
        finish(report);
        report = {line};
      } else if (line.starts_with("SUMMARY: ") || line.starts_with("====")) {
        finish(report);
      } else if (!report.empty()) {
        report.push_back(line);
      }
    }
    finish(report);
    if (!notes_.empty() && tool_.execution().notes.size() == kMostNotes)
      tool_.execution().notes.emplace_back("ThreadSanitizer: more reports of other kinds are left out");
    return std::move(tool_.execution());
  }

 private:
  void finish(std::vector<std::string_view>& report) {
    if (report.empty()) return;
    tool_.execution().state = format::RunState::Finished;
    std::string_view type = report.front().substr(kStart.size());
    if (const auto end = type.find(" (pid="); end != std::string_view::npos) type = type.substr(0, end);
    std::vector<Section> sections;
    for (std::size_t i = 1; i < report.size(); ++i) {
      if (report[i].starts_with("    #")) {
        if (!sections.empty()) frame(report[i], sections.back().pcs);
      } else if (report[i].starts_with("  ") && report[i].size() > 2 && report[i][2] != ' ') {
        sections.push_back({report[i].substr(2), {}});
      }
    }
    report.clear();
    threads(sections);
    const bool known = type.starts_with("lock-order-inversion") ? cycle(sections) : race(type, sections);
    if (!known) note(type);
  }

  /// "    #0 <pc> <offset> <module>": the pc is a return address, the offset that of the byte in front of it.
  void frame(std::string_view line, std::vector<std::uint64_t>& pcs) {
    std::vector<std::string_view> words;
    for (int i = 0; i < 3; ++i) {
      const auto begin = std::min(line.find_first_not_of(' '), line.size());
      line.remove_prefix(begin);
      const auto end = std::min(line.find(' '), line.size());
      words.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    if (!line.empty()) line.remove_prefix(1);
    const auto pc = number<std::uint64_t>(words[1], 16), offset = number<std::uint64_t>(words[2], 16);
    if (!pc || !offset || *pc == 0 || *offset >= *pc || line.empty() || line.front() != '/') return;
    tool_.module(std::string(line), *pc - 1 - *offset);
    pcs.push_back(*pc);
  }

  void threads(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      if (!section.head.starts_with("Thread T")) continue;
      const auto index = number<std::uint32_t>(section.head.substr(8), 10);
      const auto parent = thread_behind(section.head, "created by ");
      if (index && *index < 0xffff) tool_.thread(*index, parent.value_or(format::kRunNone), section.pcs);
    }
  }

  static std::optional<Access> access(const Section& section) {
    std::string_view head = section.head;
    if (head.starts_with("Previous ")) head.remove_prefix(9);
    Access access;
    std::string word(head.substr(0, 13));
    for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (word.starts_with("read of")) {
      access.kind = EventKind::Read;
    } else if (word.starts_with("write of")) {
      access.kind = EventKind::Write;
    } else if (word.starts_with("atomic read")) {
      access.kind = EventKind::AtomicLoad;
    } else if (word.starts_with("atomic write")) {
      access.kind = EventKind::AtomicStore;
    } else {
      return std::nullopt;
    }
    const auto size = between(head, "of size ", " ");
    const auto bytes = size ? number<std::uint32_t>(*size, 10) : std::nullopt;
    const auto address = address_behind(head, " at 0x");
    const auto thread = thread_behind(head, " by ");
    if (!bytes || !address || !thread) return std::nullopt;
    access.size = *bytes;
    access.address = *address;
    access.thread = *thread;
    auto list = between(head, "(mutexes: ", ")").value_or(std::string_view());
    while (!list.empty()) {
      const auto end = std::min(list.find(", "), list.size());
      const std::string_view item = list.substr(0, end);
      list.remove_prefix(std::min(end + 2, list.size()));
      if (const auto space = item.rfind(' '); space != std::string_view::npos)
        access.mutexes.emplace_back(item.substr(space + 1), item.starts_with("read"));
    }
    access.pcs = section.pcs;
    return access;
  }

  bool race(std::string_view type, const std::vector<Section>& sections) {
    std::vector<Access> accesses;
    std::map<std::string_view, format::HeldLock> mutexes;
    for (const Section& section : sections) {
      if (auto found = access(section)) accesses.push_back(std::move(*found));
      if (section.head.starts_with("Mutex M") && section.head.find(" created at") != std::string_view::npos) {
        format::HeldLock lock = {};
        lock.lock = address_behind(section.head, "(0x").value_or(0);
        lock.pc = section.pcs.empty() ? 0 : section.pcs.front();
        lock.stack = tool_.stack(section.pcs);
        mutexes[section.head.substr(6, section.head.find(' ', 6) - 6)] = lock;
      }
    }
    if (accesses.size() < 2) return false;
    const auto side = [&](const Access& access) {
      std::vector<format::HeldLock> held;
      for (const auto& [name, shared] : access.mutexes) {
        const auto lock = mutexes.find(name);
        if (lock == mutexes.end()) continue;
        held.push_back(lock->second);
        held.back().shared = shared ? 1 : 0;
      }
      return tool_.access(access.kind, access.address, access.size, access.thread, access.pcs,
                          tool_.lock_set(std::move(held)));
    };
    // The report tells the later one first.
    format::FindingAccess first = side(accesses[1]);
    const format::FindingAccess second = side(accesses[0]);
    std::uint32_t flags = format::kFindingWitnessed;
    if (type.find("use-after-free") != std::string_view::npos) {
      first.kind = static_cast<std::uint8_t>(EventKind::Free);
      flags |= format::kFindingFreedMemory;
    }
    tool_.race(first, second, flags, memory(sections));
    return true;
  }

  std::uint32_t memory(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      if (!section.head.starts_with("Location is heap block of size ")) continue;
      const auto size = between(section.head, "of size ", " ");
      const auto bytes = size ? number<std::uint64_t>(*size, 10) : std::nullopt;
      const auto address = address_behind(section.head, " at 0x");
      if (bytes && address) return tool_.variable(*address, *bytes, section.pcs);
    }
    return format::kRunNone;
  }

  /// Pairs of "Mutex M1 acquired here while holding mutex M0 in thread T1" and "Mutex M0 previously acquired
  /// by the same thread here".
  bool cycle(const std::vector<Section>& sections) {
    std::map<std::string_view, std::uint64_t> addresses;
    std::vector<format::LockEdge> edges;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const std::string_view head = sections[i].head;
      if (head.starts_with("Cycle in lock order graph: ")) {
        for (std::string_view rest = head; !rest.empty();) {
          const auto at = rest.find('M');
          if (at == std::string_view::npos) break;
          rest.remove_prefix(at);
          const auto end = std::min(rest.find(' '), rest.size());
          if (const auto address = address_behind(rest, "(0x");
              address && rest.substr(end).starts_with(" (0x"))
            addresses[rest.substr(0, end)] = *address;
          rest.remove_prefix(end);
        }
        continue;
      }
      const auto wanted = between(head, "Mutex ", " acquired here while holding mutex ");
      const auto held = between(head, "while holding mutex ", " in ");
      const auto thread = thread_behind(head, " in ");
      if (!wanted || !held || !thread) continue;
      format::LockEdge edge = {};
      edge.wanted = addresses[*wanted];
      edge.held = addresses[*held];
      edge.thread = static_cast<std::uint16_t>(*thread);
      edge.wanted_pc = sections[i].pcs.empty() ? 0 : sections[i].pcs.front();
      edge.wanted_stack = tool_.stack(sections[i].pcs);
      edge.held_stack = format::kRunNone;
      edge.lock_set = format::kRunNone;
      if (i + 1 < sections.size() &&
          sections[i + 1].head.find("previously acquired by the same thread") != std::string_view::npos) {
        edge.held_pc = sections[i + 1].pcs.empty() ? 0 : sections[i + 1].pcs.front();
        edge.held_stack = tool_.stack(sections[i + 1].pcs);
      }
      edges.push_back(edge);
    }
    if (edges.size() < 2) return false;
    tool_.lock_cycle(std::move(edges));
    return true;
  }

  void note(std::string_view type) {
    std::string text = fmt::format("ThreadSanitizer: {}", type.substr(0, 120));
    if (!notes_.insert(std::string(type)).second || tool_.execution().notes.size() >= kMostNotes) return;
    tool_.execution().notes.push_back(std::move(text));
  }

  std::string_view log_;
  ToolExecution tool_;
  std::set<std::string> notes_;
};

bool is_runtime(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "libsimrt_check.so" || name.starts_with("libtsan") || name.starts_with("libclang_rt.tsan");
}

bool releases_memory(const std::string& function) {
  return function.starts_with("_ZdlPv") || function.starts_with("_ZdaPv") || function == "free" ||
         function == "cfree" || function == "realloc" || function == "__interceptor_free" ||
         function == "___interceptor_free" || function == "__interceptor_realloc";
}

}  // namespace

std::string tsan_options(const std::string& log) {
  return fmt::format(
      "log_path=\"{}\":verbosity=1:symbolize=0:stack_trace_format=\"    #%n %p %o "
      "%m\":halt_on_error=0:exitcode=0:"
      "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:second_deadlock_stack=1:"
      "detect_deadlocks=1:die_after_fork=0:report_thread_leaks=0:color=never:strip_path_prefix=\"\"",
      log);
}

Execution parse_tsan_report(std::string_view log) { return Parser(log).run(); }

void settle_tsan_report(Execution& execution) {
  complete_modules(execution);
  std::vector<const ExecutionModule*> runtimes;
  std::map<const ExecutionModule*, std::vector<ElfFunction>> functions;
  for (const ExecutionModule& module : execution.modules)
    if (is_runtime(module.name.path)) runtimes.push_back(&module);
  const auto runtime_of = [&](std::uint64_t pc) -> const ExecutionModule* {
    for (const ExecutionModule* module : runtimes)
      if (pc >= module->begin && pc < module->end) return module;
    return nullptr;
  };
  const auto released = [&](std::uint64_t pc) {
    const ExecutionModule* module = runtime_of(pc);
    if (module == nullptr) return false;
    auto [known, fresh] = functions.try_emplace(module);
    if (fresh)
      if (const auto bytes = read_file(module->name.path)) known->second = elf_functions(*bytes);
    const std::uint64_t at = pc - 1 - module->bias;
    return std::any_of(known->second.begin(), known->second.end(), [&](const ElfFunction& function) {
      return at >= function.address && at - function.address < function.size &&
             releases_memory(function.name);
    });
  };
  for (format::RunRace& race : execution.races)
    for (format::FindingAccess* access : {&race.first, &race.second})
      if (released(access->pc)) {
        access->kind = static_cast<std::uint8_t>(EventKind::Free);
        race.flags |= format::kFindingFreedMemory;
      }
  for (auto& stack : execution.stacks) {
    const auto own =
        std::find_if(stack.begin(), stack.end(), [&](std::uint64_t pc) { return !runtime_of(pc); });
    if (own != stack.end()) stack.erase(stack.begin(), own);
  }
  const auto settle = [&](std::uint64_t& pc, std::uint32_t stack) {
    if (stack < execution.stacks.size() && !execution.stacks[stack].empty())
      pc = execution.stacks[stack].front();
  };
  for (format::RunRace& race : execution.races)
    for (format::FindingAccess* access : {&race.first, &race.second}) settle(access->pc, access->stack);
  for (ExecutionLockCycle& cycle : execution.lock_cycles)
    for (format::LockEdge& edge : cycle.edges) {
      settle(edge.wanted_pc, edge.wanted_stack);
      settle(edge.held_pc, edge.held_stack);
    }
  for (auto& locks : execution.lock_sets)
    for (format::HeldLock& lock : locks) settle(lock.pc, lock.stack);
  for (format::RunVariable& variable : execution.variables) settle(variable.pc, variable.stack);
  for (ExecutionThread& thread : execution.threads)
    std::erase_if(thread.frames, [&](std::uint64_t pc) { return runtime_of(pc) != nullptr; });
}

}  // namespace simrt::testing
