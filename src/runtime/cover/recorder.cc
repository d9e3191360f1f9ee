// Start, threads, fork and end of recording.
#include "cover/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace simrt::runtime {

using format::ThreadRecord;
using format::ThreadState;

constinit Recorder recorder;

namespace {

constexpr uint64_t kDefaultLimit = uint64_t{1} << 30;
constexpr size_t kMaxFrames = 24;  // std::async at -O0 needs a dozen to get to the user's function

constinit thread_local Thread* current [[gnu::tls_model("initial-exec")]] = nullptr;

const char* environment(const char* name) {
  const size_t n = length(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (equal(*entry, name, n) && (*entry)[n] == '=') return *entry + n + 1;
  }
  return nullptr;
}

bool absolute_path(const char* text, Path& out) {
  if (text[0] != '/') {
    const long n = raw_syscall(SYS_getcwd, reinterpret_cast<long>(out.text), sizeof out.text);
    if (n <= 0) return false;
    out.size = static_cast<size_t>(n) - 1;
    out.append("/");
  }
  out.append(text);
  return out.ok;
}

uint32_t* make_fork_witness() {
  constexpr long kPage = 4096;
  const long page =
      raw_syscall(SYS_mmap, 0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page < 0 && page > -4096) return nullptr;
  if (raw_syscall(SYS_madvise, page, kPage, MADV_WIPEONFORK) != 0) return nullptr;
  auto* witness = reinterpret_cast<uint32_t*>(page);
  *witness = 1;
  return witness;
}

}  // namespace

Thread* current_thread() { return current; }

KeepErrno::KeepErrno() : saved_(errno) {}
KeepErrno::~KeepErrno() { errno = saved_; }

void Recorder::start() {
  if (load_acquire(progress_) != Progress::NotStarted || environ == nullptr) return;
  const Guard guard(lock_);
  if (progress_ != Progress::NotStarted) return;
  const char* name = environment(format::kTraceVariable);
  limit_ = kDefaultLimit;
  parse_number(environment(format::kTraceLimitVariable), limit_);
  if (name == nullptr || *name == '\0' || !absolute_path(name, name_)) {
    store_release(progress_, Progress::Off);
    return;
  }
  fork_witness_ = make_fork_witness();
  open_trace(0, format::kTraceNone, false);
}

// Creates the file with all modules known so far; the calling thread becomes thread 0.
void Recorder::open_trace(uint32_t parent_pid, uint32_t parent_thread, bool forked) {
  if (!file_.create(name_, limit_)) {
    store_release(progress_, Progress::Off);
    return;
  }
  if (forked) {
    file_.header().parent_pid = parent_pid;
    file_.header().parent_thread = parent_thread;
    file_.set_flag(format::kTraceForked);
  }
  for (Module* module : modules_) {
    if (!emit(*module)) file_.set_flag(format::kTraceLost);
  }
  store_release(progress_, Progress::On);
  store_release(recording_, true);
  Thread* self = new_thread(format::kTraceNone, CallChain{});
  if (self != nullptr) attach(self);
  for (Module* module : modules_) begin_module(*module);
}

Thread* Recorder::new_thread(uint32_t parent, const CallChain& chain) {
  Thread* thread = nullptr;
  if (spare_.size() > 0) {
    thread = spare_.pop();
  } else if (void* memory = allocate(sizeof(Thread)); memory != nullptr) {
    thread = new (memory) Thread();
  } else {
    return nullptr;
  }
  // Frames first: naming a module may append chunks of its own.
  format::TraceFrame frames[kMaxFrames] = {};
  uint32_t count = 0;
  for (size_t pass = 0; pass < 2 && count == 0; ++pass) {
    for (size_t i = 0; i < chain.count && count < kMaxFrames; ++i) {
      const Module* module = pass == 0 ? instrumented_module_at(chain.frames[i]) : module_at(chain.frames[i]);
      if (module == nullptr) continue;
      frames[count++] = {module->index, 0, chain.frames[i] - module->image.bias};
      if (pass == 1) break;  // the thread comes out of a library without instrumentation: name that
    }
  }
  thread->index = next_thread_++;
  thread->pointer = 0;
  thread->record = file_.append<ThreadRecord>(count * sizeof(format::TraceFrame), reserve_);
  if (thread->record == nullptr) {
    file_.set_flag(format::kTraceOverflow);
    return thread;
  }
  thread->record->index = thread->index;
  thread->record->parent = parent;
  thread->record->state = ThreadState::Created;
  thread->record->frame_count = count;
  auto* out = reinterpret_cast<format::TraceFrame*>(payload_of(thread->record));
  for (uint32_t i = 0; i < count; ++i) out[i] = frames[i];
  file_.publish();
  return thread;
}

// Gives the calling thread a map of every open module.
void Recorder::attach(Thread* thread) {
  thread->pointer = thread_pointer();
  thread->live_position = live_.size();
  if (!live_.push(thread)) return;
  current = thread;
  for (Module* module : modules_) {
    if (module->abi != nullptr) module->point(thread->pointer, take_map(*module, *thread));
  }
  if (thread->record != nullptr) store_release(thread->record->state, ThreadState::Running);
}

// The reverse, and the thread's coverage as lists. Hits that still come land in the guards.
void Recorder::detach(Thread* thread) {
  for (Module* module : modules_) {
    if (module->abi != nullptr) module->point(thread->pointer, nullptr);
  }
  for (size_t i = 0; i < thread->maps.size(); ++i) {
    give_map(*modules_[i], *thread);
    thread->maps[i] = nullptr;
  }
  if (thread->record != nullptr) store_release(thread->record->state, ThreadState::Ended);
  live_[thread->live_position] = live_[live_.size() - 1];
  live_[thread->live_position]->live_position = thread->live_position;
  live_.pop();
  spare_.push(thread);
  current = nullptr;
}

Thread* Recorder::thread_created(const CallChain& chain) {
  adopt_unknown_child();
  if (!recording()) return nullptr;
  const Guard guard(lock_);
  return new_thread(current != nullptr ? current->index : format::kTraceNone, chain);
}

void Recorder::thread_not_started(Thread* thread) {
  const Guard guard(lock_);
  if (thread->record != nullptr) thread->record->state = ThreadState::NotStarted;
  spare_.push(thread);
}

void Recorder::thread_started(Thread* thread) {
  const Guard guard(lock_);
  attach(thread);
}

void Recorder::thread_ended(Thread* thread) {
  const KeepErrno keep;
  adopt_unknown_child();
  const Guard guard(lock_);
  if (current == thread && recording_) detach(thread);
}

void Recorder::fork_prepare() { lock_.lock(); }
void Recorder::fork_parent() { lock_.unlock(); }

void Recorder::fork_child() {
  lock_.reset();
  const KeepErrno keep;
  const Guard guard(lock_);
  restart_in_child();
}

// Children of raw fork and clone system calls run no handlers; they keep writing to the maps they inherited,
// as the thread that forked, until they get here.
void Recorder::adopt_unknown_child() {
  if (fork_witness_ == nullptr || __atomic_load_n(fork_witness_, __ATOMIC_RELAXED) != 0) return;
  fork_child();
}

void Recorder::restart_in_child() {
  if (fork_witness_ != nullptr) __atomic_store_n(fork_witness_, 1, __ATOMIC_RELAXED);
  if (!recording_) return;
  const uint32_t parent_pid = file_.header().pid;
  const uint32_t parent_thread = current != nullptr ? current->index : format::kTraceNone;
  const uintptr_t self = thread_pointer();
  for (Module* module : modules_) {
    if (module->abi != nullptr) {
      module->point(self, nullptr);
      module->abi->shared_map = nullptr;
      fold_guards(*module, nullptr);
    }
    module->free_maps.clear();
    module->shared = nullptr;
  }
  live_.clear();
  spare_.clear();
  current = nullptr;
  next_thread_ = 0;
  reserve_ = 0;
  recording_ = false;
  file_.abandon();
  open_trace(parent_pid, parent_thread, true);
}

void Recorder::finish() {
  const KeepErrno keep;
  adopt_unknown_child();
  const Guard guard(lock_);
  if (!recording_) return;
  for (Module* module : modules_) {
    if (!has_guard_hits(*module)) continue;
    file_.set_flag(format::kTraceUnattributed);
    fold_guards(*module, shared_map(*module));
  }
  file_.set_flag(format::kTraceFinished);
  file_.trim();
}

}  // namespace simrt::runtime
