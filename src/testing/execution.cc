#include "testing/execution.h"

#include <fmt/format.h>

#include <cstring>

namespace simrt::testing {
namespace {

constexpr std::uint32_t kMostIds = 10'000'000;

std::string hex(const char* bytes, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  return out;
}

/// The payload behind a record.
struct Payload {
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;

  template <class Item>
  bool read(std::uint64_t count, std::vector<Item>& out) const {
    if (count > bytes / sizeof(Item)) return false;
    out.resize(count);
    if (count > 0) std::memcpy(out.data(), data, count * sizeof(Item));
    return true;
  }
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  Status header();
  void chunks();
  Execution take() { return std::move(out_); }

 private:
  bool on(const format::RunModule& record, Payload payload);
  bool on(const format::RunThread& record, Payload payload);
  bool on(const format::RunSchedule& record, Payload payload);
  bool on(const format::RunEvents& record, Payload payload);
  bool on(const format::RunWait& record, Payload payload);
  bool on(const format::RunStack& record, Payload payload);
  bool on(const format::RunLockSet& record, Payload payload);
  bool on(const format::RunRace& record, Payload payload);
  bool on(const format::RunLockCycle& record, Payload payload);
  bool on(const format::RunAtomicity& record, Payload payload);
  bool on(const format::RunVariable& record, Payload payload);
  bool on(const format::RunRacySites& record, Payload payload);
  bool on(const format::RunCalls& record, Payload payload);
  void damaged(std::uint64_t offset);

  std::span<const std::byte> file_;
  format::RunHeader header_ = {};
  Execution out_;
};

Status Reader::header() {
  if (file_.size() < sizeof header_) return fail(ErrorCode::Execution, "not a run file");
  std::memcpy(&header_, file_.data(), sizeof header_);
  if (std::memcmp(header_.magic, format::kRunMagic, sizeof header_.magic) != 0)
    return fail(ErrorCode::Execution, "not a run file");
  if (header_.version != format::kRunVersion) {
    return fail(ErrorCode::Execution,
                fmt::format("run file version {}, this tool reads {}", header_.version, format::kRunVersion),
                "rebuild the check build with this version's compiler wrappers");
  }
  if (header_.header_bytes != sizeof header_ || header_.output_offset < sizeof header_ ||
      header_.output_offset > file_.size() || static_cast<std::uint32_t>(header_.state) > 9) {
    return fail(ErrorCode::Execution, "run file header is damaged");
  }
  if (header_.used > file_.size()) {
    out_.notes.emplace_back("the run file is shorter than it says");
    header_.used = file_.size();
  }
  out_.state = header_.state;
  out_.uncontrolled = header_.uncontrolled;
  out_.flags = header_.flags;
  out_.exit_status = header_.exit_status;
  out_.pid = header_.pid;
  out_.thread_count = header_.threads;
  out_.outside = header_.outside;
  out_.points = header_.points;
  out_.decisions = header_.decisions;
  out_.switches = header_.switches;
  out_.preemptions = header_.preemptions;
  out_.virtual_ns = header_.virtual_ns;
  out_.diverged_at = header_.diverged_at;
  for (std::uint32_t i = 0; i < format::kInputs; ++i) {
    const format::RunInput& input = header_.inputs[i];
    if (input.when == 0) continue;
    const std::size_t length = strnlen(input.name, sizeof input.name);
    out_.inputs.push_back({static_cast<format::Input>(i), std::string(input.name, length), input.pc,
                           input.caller, input.when - 1, input.shared != 0});
  }
#define X(name, bit, meaning) \
  if ((header_.uncontrolled & format::kUncontrolled##name) != 0) out_.notes.emplace_back(meaning);
  SIMRT_UNCONTROLLED(X)
#undef X
  if ((header_.flags & format::kRunOverflow) != 0)
    out_.notes.emplace_back("the run file was full: some chunks are missing");
  return {};
}

void Reader::damaged(std::uint64_t offset) {
  out_.notes.push_back(fmt::format("the run file is damaged at byte {}; what follows was ignored", offset));
}

// Up to the first chunk whose framing or record is wrong.
void Reader::chunks() {
  std::uint64_t at = header_.output_offset;
  while (at < header_.used) {
    format::ChunkHeader chunk;
    if (header_.used - at < sizeof chunk) return damaged(at);
    std::memcpy(&chunk, file_.data() + at, sizeof chunk);
    if (chunk.bytes < sizeof chunk || chunk.bytes % format::kRunAlign != 0 || chunk.bytes > header_.used - at)
      return damaged(at);
    const std::byte* body = file_.data() + at + sizeof chunk;
    const std::uint64_t bytes = chunk.bytes - sizeof chunk;
    bool good = false;
    switch (static_cast<format::RunKind>(chunk.kind)) {
#define X(name, number, type)                                                \
  case format::RunKind::name: {                                              \
    format::type record;                                                     \
    if (bytes < sizeof record) break;                                        \
    std::memcpy(&record, body, sizeof record);                               \
    good = on(record, Payload{body + sizeof record, bytes - sizeof record}); \
    break;                                                                   \
  }
      SIMRT_RUN_RECORDS(X)
#undef X
    }
    if (!good) return damaged(at);
    at += chunk.bytes;
  }
}

bool Reader::on(const format::RunModule& record, Payload payload) {
  if (record.index != out_.modules.size() ||
      std::uint64_t{record.path_bytes} + record.build_id_bytes > payload.bytes) {
    return false;
  }
  const char* text = reinterpret_cast<const char*>(payload.data);
  ExecutionModule module;
  module.name.path.assign(text, record.path_bytes);
  module.name.build_id = hex(text + record.path_bytes, record.build_id_bytes);
  module.executable = record.executable != 0;
  module.bias = record.load_bias;
  module.begin = record.begin;
  module.end = record.end;
  out_.modules.push_back(std::move(module));
  return true;
}

bool Reader::on(const format::RunThread& record, Payload payload) {
  ExecutionThread thread;
  thread.index = record.index;
  thread.parent = record.parent;
  if (!payload.read(record.frame_count, thread.frames)) return false;
  out_.threads.push_back(std::move(thread));
  return true;
}

template <class Item>
bool append(const Payload& payload, std::uint32_t count, std::uint32_t capacity, std::vector<Item>& out) {
  std::vector<Item> items;
  if (count > capacity || !payload.read(count, items)) return false;
  out.insert(out.end(), items.begin(), items.end());
  return true;
}

bool Reader::on(const format::RunSchedule& record, Payload payload) {
  return append(payload, record.count, record.capacity, out_.schedule);
}

bool Reader::on(const format::RunEvents& record, Payload payload) {
  return append(payload, record.count, record.capacity, out_.events);
}

bool Reader::on(const format::RunWait& record, Payload payload) {
  ExecutionWait wait = {record, {}};
  if (!payload.read(record.held_count, wait.held)) return false;
  out_.waits.push_back(std::move(wait));
  return true;
}

template <class Item>
bool keep(const Payload& payload, std::uint32_t id, std::uint32_t count,
          std::vector<std::vector<Item>>& out) {
  if (id >= kMostIds || id > out.size() + 100'000) return false;
  if (id >= out.size()) out.resize(id + 1);
  return payload.read(count, out[id]);
}

bool Reader::on(const format::RunStack& record, Payload payload) {
  return keep(payload, record.id, record.frame_count, out_.stacks);
}

bool Reader::on(const format::RunLockSet& record, Payload payload) {
  return keep(payload, record.id, record.count, out_.lock_sets);
}

bool Reader::on(const format::RunRace& record, Payload) {
  out_.races.push_back(record);
  return true;
}

bool Reader::on(const format::RunLockCycle& record, Payload payload) {
  ExecutionLockCycle cycle = {record, {}};
  if (!payload.read(record.count, cycle.edges)) return false;
  out_.lock_cycles.push_back(std::move(cycle));
  return true;
}

bool Reader::on(const format::RunAtomicity& record, Payload) {
  if (record.count > 4) return false;
  out_.atomicity.push_back(record);
  return true;
}

bool Reader::on(const format::RunVariable& record, Payload) {
  out_.variables.push_back(record);
  return true;
}

bool Reader::on(const format::RunRacySites& record, Payload payload) {
  ExecutionRacySites sites;
  sites.variable = record.variable;
  if (!payload.read(record.count, sites.sites)) return false;
  out_.racy_sites.push_back(std::move(sites));
  return true;
}

bool Reader::on(const format::RunCalls& record, Payload payload) {
  return payload.read(record.frame_count, out_.calls[record.hash]);
}

}  // namespace

std::vector<CheckModule> Execution::module_names() const {
  std::vector<CheckModule> names;
  for (const auto& module : modules) names.push_back(module.name);
  return names;
}

std::uint32_t Execution::find_module(const CheckModule& wanted) const {
  const bool main = wanted.path.empty() && wanted.build_id.empty();
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    const CheckModule& name = modules[i].name;
    const bool by_id = !wanted.build_id.empty() && !name.build_id.empty();
    if (main ? modules[i].executable : by_id ? wanted.build_id == name.build_id : wanted.path == name.path)
      return i;
  }
  return format::kPlanNone;
}

std::optional<CheckSite> Execution::site_of(std::uint64_t pc) const {
  for (std::uint32_t i = 0; i < modules.size(); ++i)
    if (pc >= modules[i].begin && pc < modules[i].end) return CheckSite{i, pc - modules[i].bias};
  return std::nullopt;
}

std::vector<std::uint64_t> Execution::stack_of(const format::RunEvent& event) const {
  std::vector<std::uint64_t> pcs;
  if (event.pc != 0) pcs.push_back(event.pc);
  if (event.callers < stacks.size())
    pcs.insert(pcs.end(), stacks[event.callers].begin(), stacks[event.callers].end());
  return pcs;
}

Result<Execution> read_execution(std::span<const std::byte> file) {
  Reader reader(file);
  if (Status status = reader.header(); !status) return fail(status.error());
  reader.chunks();
  return reader.take();
}

}  // namespace simrt::testing
