// Reader of the cover trace: one pass over the chunks collects raw items a thread and module; finish()
// translates them, when all tables are known.
#include "testing/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "simrt/format/trace.h"

namespace simrt::testing {
namespace {

using format::ChunkHeader;
using format::ModuleKind;

constexpr std::uint64_t kMaxModules = 100000;
constexpr std::uint64_t kMaxThreads = 10'000'000;

/// Bounded random access to the file; never trusts a length.
class Input {
 public:
  explicit Input(const std::string& path) : file_(path, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) size_ = 0;
  }
  bool is_open() const { return file_.is_open(); }
  std::uint64_t size() const { return size_; }

  bool read(std::uint64_t offset, void* out, std::uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset) return false;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
    return file_.gcount() == static_cast<std::streamsize>(bytes);
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

/// The payload behind a chunk's record, already inside the file.
struct Payload {
  std::uint64_t offset = 0, bytes = 0;
};

std::string hex(const std::string& bytes) {
  std::string out;
  for (unsigned char c : bytes) out += fmt::format("{:02x}", c);
  return out;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Reader {
 public:
  explicit Reader(Input& input) : input_(input) {}

  Status header();
  void chunks();
  Trace finish();

 private:
  struct ModuleState {
    ModuleKind kind = ModuleKind::Plain;
    std::uint64_t text_start = 0;
    std::uint64_t slots = 0, stride = 0;
  };
  template <class Record>
  bool record(std::uint64_t at, std::uint64_t end, Record& out, Payload& payload);

  bool on(const format::ModuleRecord& record, Payload payload);
  bool on(const format::PcTableRecord& record, Payload payload);
  bool on(const format::ThreadRecord& record, Payload payload);
  bool on(const format::MapRecord& record, Payload payload);
  bool on(const format::CoveredRecord& record, Payload payload);

  void add(std::uint32_t thread, std::uint32_t module, std::uint64_t item);
  std::vector<std::uint32_t> guards_of(std::uint32_t module, std::vector<std::uint64_t>& items);
  void number_siblings();
  void damaged(std::uint64_t offset);

  Input& input_;
  format::TraceHeader header_ = {};
  Trace trace_;
  std::vector<ModuleState> modules_;
  std::set<std::uint32_t> seen_, not_started_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>>
      covered_;  // by (thread, module)
  std::uint64_t unknown_pcs_ = 0;
};

Status Reader::header() {
  if (!input_.is_open()) return fail(ErrorCode::Execution, "no trace file");
  if (!input_.read(0, &header_, sizeof header_) ||
      std::memcmp(header_.magic, format::kTraceMagic, sizeof header_.magic) != 0) {
    return fail(ErrorCode::Execution, "not a trace file");
  }
  if (header_.version != format::kTraceVersion) {
    return fail(ErrorCode::Execution,
                fmt::format("trace version {}, this tool reads {}", header_.version, format::kTraceVersion),
                "rebuild the instrumented programs with this version's compiler wrappers");
  }
  if (header_.header_bytes < sizeof header_ || header_.used < header_.header_bytes) {
    return fail(ErrorCode::Execution, "trace header is damaged");
  }
  if (header_.used > input_.size()) {
    trace_.notes.push_back("the trace file is shorter than it says");
    header_.used = input_.size();
  }
  const auto has = [this](format::TraceFlag flag) { return (header_.flags & flag) != 0; };
  trace_.complete = has(format::kTraceFinished);
  trace_.overflowed = has(format::kTraceOverflow) || has(format::kTraceLost);
  trace_.forked = has(format::kTraceForked);
  trace_.pid = header_.pid;
  trace_.parent_pid = header_.parent_pid;
  trace_.parent_thread = header_.parent_thread;
  trace_.started_ns = header_.started_ns;
#define X(name, bit, meaning)                                                        \
  if (has(format::kTrace##name) && format::kTrace##name != format::kTraceFinished && \
      format::kTrace##name != format::kTraceForked)                                  \
    trace_.notes.emplace_back(meaning);
  SIMRT_TRACE_FLAGS(X)
#undef X
  return {};
}

void Reader::damaged(std::uint64_t offset) {
  trace_.notes.push_back(fmt::format("the trace is damaged at byte {}; what follows was ignored", offset));
  trace_.complete = false;
}

template <class Record>
bool Reader::record(std::uint64_t at, std::uint64_t end, Record& out, Payload& payload) {
  if (end - at < sizeof(Record) || !input_.read(at, &out, sizeof out)) return false;
  payload = {at + sizeof(Record), end - at - sizeof(Record)};
  return true;
}

// Up to the first chunk whose framing or record is wrong.
void Reader::chunks() {
  std::uint64_t at = header_.header_bytes;
  while (at < header_.used) {
    ChunkHeader chunk;
    if (header_.used - at < sizeof chunk || !input_.read(at, &chunk, sizeof chunk) ||
        chunk.bytes < sizeof chunk || chunk.bytes % format::kTraceAlign != 0 ||
        chunk.bytes > header_.used - at) {
      return damaged(at);
    }
    const std::uint64_t body = at + sizeof chunk, end = at + chunk.bytes;
    bool good = false;
    Payload payload;
    switch (static_cast<format::TraceKind>(chunk.kind)) {
#define X(name, number, type)                                       \
  case format::TraceKind::name: {                                   \
    format::type value;                                             \
    good = record(body, end, value, payload) && on(value, payload); \
    break;                                                          \
  }
      SIMRT_TRACE_RECORDS(X)
#undef X
    }
    if (!good) return damaged(at);
    at = end;
  }
}

bool Reader::on(const format::ModuleRecord& record, Payload payload) {
  const bool plain = record.kind == ModuleKind::Plain;
  const bool known = plain || record.kind == ModuleKind::Guards || record.kind == ModuleKind::CallSites;
  if (!known || record.index != modules_.size() || modules_.size() >= kMaxModules) return false;
  if (!plain && record.stride != 4) return false;
  if (std::uint64_t{record.path_bytes} + record.build_id_bytes > payload.bytes) return false;
  std::string path(record.path_bytes, '\0'), build_id(record.build_id_bytes, '\0');
  if (!input_.read(payload.offset, path.data(), path.size()) ||
      !input_.read(payload.offset + path.size(), build_id.data(), build_id.size())) {
    return false;
  }
  TraceModule module;
  module.path = path;
  module.build_id = hex(build_id);
  module.pc_list_only = record.kind == ModuleKind::CallSites;
  module.instrumented = !plain;
  trace_.modules.push_back(std::move(module));
  modules_.push_back({record.kind, record.text_start, record.slots, record.stride});
  return true;
}

bool Reader::on(const format::PcTableRecord& record, Payload payload) {
  if (record.module >= modules_.size() || std::uint64_t{record.count} * 8 > payload.bytes) return false;
  const ModuleState& state = modules_[record.module];
  if (state.kind == ModuleKind::Plain || (state.kind == ModuleKind::Guards && record.count != state.slots))
    return false;
  std::vector<std::uint64_t> entries(record.count);
  if (!input_.read(payload.offset, entries.data(), entries.size() * 8)) return false;
  TraceModule& module = trace_.modules[record.module];
  module.pcs.clear();
  module.entry.clear();
  for (std::uint64_t entry : entries) {
    module.pcs.push_back(entry >> 1);
    module.entry.push_back((entry & 1) != 0);
  }
  return state.kind == ModuleKind::Guards || std::is_sorted(module.pcs.begin(), module.pcs.end());
}

bool Reader::on(const format::ThreadRecord& record, Payload payload) {
  if (record.index >= kMaxThreads || seen_.count(record.index) != 0) return false;
  if (record.parent != format::kTraceNone && record.parent >= kMaxThreads) return false;
  if (std::uint64_t{record.frame_count} * sizeof(format::TraceFrame) > payload.bytes) return false;
  std::vector<format::TraceFrame> frames(record.frame_count);
  if (!input_.read(payload.offset, frames.data(), frames.size() * sizeof(format::TraceFrame))) return false;
  seen_.insert(record.index);
  if (record.state == format::ThreadState::NotStarted) {
    not_started_.insert(record.index);
    return true;
  }
  TraceThread thread;
  thread.index = record.index;
  thread.parent = record.parent;
  thread.alive_at_end = record.state != format::ThreadState::Ended;
  for (const auto& frame : frames) {
    if (frame.module >= modules_.size()) return false;
    thread.frames.push_back({frame.module, frame.offset});
  }
  if (!thread.frames.empty()) {
    thread.site_module = thread.frames[0].module;
    thread.site_offset = thread.frames[0].offset;
    thread.site =
        fmt::format("{}+{:#x}", file_name(trace_.modules[thread.site_module].path), thread.site_offset);
  }
  trace_.threads.push_back(std::move(thread));
  return true;
}

bool Reader::on(const format::MapRecord& record, Payload payload) {
  if (record.module >= modules_.size() || record.cells_bytes > payload.bytes) return false;
  const ModuleState& state = modules_[record.module];
  const bool guards = state.kind == ModuleKind::Guards;
  const std::uint64_t needed = guards ? state.slots * state.stride : state.slots;
  if (state.kind == ModuleKind::Plain || record.cells_bytes < needed) return false;
  if (record.owner == format::kTraceNone) return true;
  std::vector<unsigned char> cells(record.cells_bytes);
  if (!input_.read(payload.offset, cells.data(), cells.size())) return false;
  for (std::uint64_t slot = 0; slot < state.slots; ++slot) {
    const unsigned char cell = cells[guards ? slot * state.stride : slot];
    if (cell != 0) add(record.owner, record.module, guards ? slot : slot * state.stride + (cell & 0x7f));
  }
  return true;
}

bool Reader::on(const format::CoveredRecord& record, Payload payload) {
  if (record.module >= modules_.size() || record.count > record.capacity) return false;
  if (std::uint64_t{record.capacity} * 4 > payload.bytes) return false;
  std::vector<std::uint32_t> items(record.count);
  if (!input_.read(payload.offset, items.data(), items.size() * 4)) return false;
  const ModuleState& state = modules_[record.module];
  const std::uint64_t limit = state.kind == ModuleKind::Guards ? state.slots : state.slots * state.stride;
  for (std::uint32_t item : items) {
    if (item >= limit) return false;
    add(record.thread, record.module, item);
  }
  return true;
}

void Reader::add(std::uint32_t thread, std::uint32_t module, std::uint64_t item) {
  covered_[{thread, module}].push_back(item);
}

// Guards: the items themselves. Call sites: the position of the return address in the module's table.
std::vector<std::uint32_t> Reader::guards_of(std::uint32_t module, std::vector<std::uint64_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  std::vector<std::uint32_t> result;
  if (modules_[module].kind == ModuleKind::Guards) {
    result.assign(items.begin(), items.end());
    return result;
  }
  const auto& pcs = trace_.modules[module].pcs;
  for (std::uint64_t item : items) {
    const std::uint64_t pc = modules_[module].text_start + item;
    const auto found = std::lower_bound(pcs.begin(), pcs.end(), pc);
    if (found == pcs.end() || *found != pc) {
      ++unknown_pcs_;
    } else {
      result.push_back(static_cast<std::uint32_t>(found - pcs.begin()));
    }
  }
  return result;
}

void Reader::number_siblings() {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>, std::uint32_t> next;
  for (TraceThread& thread : trace_.threads) {
    thread.ordinal = next[{thread.parent, thread.site_module, thread.site_offset, thread.frames.empty()}]++;
  }
}

Trace Reader::finish() {
  std::sort(trace_.threads.begin(), trace_.threads.end(),
            [](const TraceThread& a, const TraceThread& b) { return a.index < b.index; });
  number_siblings();
  std::map<std::uint32_t, TraceThread*> by_index;
  for (TraceThread& thread : trace_.threads) {
    thread.covered.resize(modules_.size());
    by_index[thread.index] = &thread;
  }
  std::vector<std::vector<std::uint64_t>> shared(modules_.size());
  for (auto& [key, items] : covered_) {
    const auto [thread, module] = key;
    const auto owner = by_index.find(thread);
    if (owner != by_index.end()) {
      owner->second->covered[module] = guards_of(module, items);
    } else {
      shared[module].insert(shared[module].end(), items.begin(), items.end());
    }
  }
  trace_.shared.resize(modules_.size());
  for (std::uint32_t module = 0; module < modules_.size(); ++module) {
    trace_.shared[module] = guards_of(module, shared[module]);
    if (!trace_.shared[module].empty()) trace_.overflowed = true;
  }
  const auto alive = std::count_if(trace_.threads.begin(), trace_.threads.end(),
                                   [](const TraceThread& t) { return t.index != 0 && t.alive_at_end; });
  if (alive > 0) trace_.notes.push_back(fmt::format("{} threads alive at exit", alive));
  if (unknown_pcs_ > 0)
    trace_.notes.push_back(fmt::format("{} covered call sites are in no table", unknown_pcs_));
  return std::move(trace_);
}

std::optional<std::vector<std::uint64_t>> numeric_suffix(const std::string& suffix) {
  std::vector<std::uint64_t> numbers;
  std::size_t at = 0;
  while (at < suffix.size()) {
    if (suffix[at++] != '.') return std::nullopt;
    std::uint64_t value = 0;
    const std::size_t start = at;
    for (; at < suffix.size() && suffix[at] >= '0' && suffix[at] <= '9' && at - start < 18; ++at) {
      value = value * 10 + static_cast<std::uint64_t>(suffix[at] - '0');
    }
    if (at == start) return std::nullopt;
    numbers.push_back(value);
  }
  return numbers.size() <= 2 ? std::optional(numbers) : std::nullopt;
}

}  // namespace

Result<Trace> read_trace(const std::string& path) {
  Input input(path);
  Reader reader(input);
  if (Status status = reader.header(); !status) {
    status.error().message = path + ": " + status.error().message;
    return fail(status.error());
  }
  reader.chunks();
  return reader.finish();
}

std::vector<std::string> trace_files(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path name(path);
  const std::string prefix = name.filename().string();
  std::vector<std::pair<std::vector<std::uint64_t>, std::string>> found;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(name.parent_path().empty() ? "." : name.parent_path(), error)) {
    const std::string file = entry.path().filename().string();
    if (file.compare(0, prefix.size(), prefix) != 0) continue;
    if (const auto key = numeric_suffix(file.substr(prefix.size()))) {
      found.emplace_back(*key, (name.parent_path() / file).string());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> result;
  for (auto& [key, file] : found) result.push_back(std::move(file));
  return result;
}

}  // namespace simrt::testing
