// The caller's half of run_process(): prepares, starts the supervisor, collects output and enforces the
// timeout.
#include "support/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "support/supervisor.h"

extern char** environ;

namespace simrt {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

bool open_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  return true;
}

/// Keeps the last `limit` bytes of what is appended.
class Tail {
 public:
  explicit Tail(std::size_t limit) : limit_(limit) {}
  void append(const char* bytes, std::size_t size) {
    text_.append(bytes, size);
    if (text_.size() > 2 * limit_ + 4096) trim();  // amortised: not at every append
  }
  std::string take() {
    trim();
    return std::move(text_);
  }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void trim() {
    if (text_.size() <= limit_) return;
    dropped_ += text_.size() - limit_;
    text_.erase(0, text_.size() - limit_);
  }
  std::size_t limit_;
  std::string text_;
  std::uint64_t dropped_ = 0;
};

std::vector<std::string> merged_environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) merged.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const std::string& name : spec.unset_environment) merged.erase(name);
  for (const auto& [name, value] : spec.environment) merged[name] = value;
  std::vector<std::string> lines;
  lines.reserve(merged.size());
  for (const auto& [name, value] : merged) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

std::string path_variable(const std::vector<std::string>& environment) {
  for (const std::string& line : environment) {
    if (line.starts_with("PATH=")) return line.substr(5);
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// One run: everything between the supervisor's start and its end.
class Run {
 public:
  Run(const ProcessSpec& spec, const InterruptToken* interrupt)
      : spec_(spec), interrupt_(interrupt), output_(spec.output_limit), errors_(spec.output_limit) {}
  Result<ProcessResult> execute();

 private:
  bool start_supervisor(const std::string& program);
  void wait_for_end();
  int poll_timeout() const;
  void enforce_limits();
  void send(char command);
  /// False at the end of the stream.
  bool drain(const Descriptor& from, Tail& into);
  bool read_report();
  void conclude(ProcessResult& result);
  double since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const ProcessSpec& spec_;
  const InterruptToken* interrupt_;
  Pipe output_pipe_, errors_pipe_, control_pipe_, report_pipe_;
  Tail output_, errors_;
  Clock::time_point start_;
  pid_t supervisor_ = -1;
  supervisor::Report report_;
  bool reported_ = false;  ///< the program has ended
  double seconds_ = 0;
  bool timed_out_ = false, interrupted_ = false, killed_ = false;
  double terminated_at_ = 0;
};

/// posix_spawn() shares memory with its child until exec, so its cost does not grow with this process; fork()
/// took 0.25 s and more from a process of 1 GB.
bool Run::start_supervisor(const std::string& program) {
  const int image = supervisor::image();
  if (image < 0) return false;
  const int output = output_pipe_.write.get();
  const int errors = spec_.separate_errors ? errors_pipe_.write.get() : output;
  const int control = control_pipe_.read.get();
  const int report = report_pipe_.write.get();
  std::vector<std::string> arguments(supervisor::kFirstProgramArgument);
  arguments[supervisor::kName] = "simrt-supervise";
  arguments[supervisor::kOutput] = std::to_string(output);
  arguments[supervisor::kErrors] = std::to_string(errors);
  arguments[supervisor::kControl] = std::to_string(control);
  arguments[supervisor::kReport] = std::to_string(report);
  arguments[supervisor::kLinger] = std::to_string(static_cast<int>(spec_.linger_seconds * 1000));
  arguments[supervisor::kDirectory] = spec_.directory;
  arguments[supervisor::kProgram] = program;
  arguments.insert(arguments.end(), spec_.command.begin(), spec_.command.end());
  std::vector<std::string> environment = merged_environment(spec_);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  // Duplicating a descriptor onto itself clears close-on-exec, in the child only.
  for (const int inherited : {output, errors, control, report}) {
    ::posix_spawn_file_actions_adddup2(&actions, inherited, inherited);
  }
  sigset_t all;
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &all);  // it reads SIGCHLD from a signalfd
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  // A session of its own is out of reach of the terminal's Ctrl-C: what then happens is decided here.
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  start_ = Clock::now();
  const int error = ::posix_spawn(&supervisor_, fmt::format("/proc/self/fd/{}", image).c_str(), &actions,
                                  &attributes, pointers(arguments).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  errno = error;
  return error == 0;
}

bool Run::drain(const Descriptor& from, Tail& into) {
  std::array<char, 65'536> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

bool Run::read_report() {
  ssize_t got = 0;
  do {
    got = ::read(report_pipe_.read.get(), &report_, sizeof report_);  // shorter than PIPE_BUF: all or nothing
  } while (got < 0 && errno == EINTR);
  if (got != sizeof report_) return false;
  if (!reported_) seconds_ = since_start();
  reported_ = true;
  return true;
}

void Run::send(char command) {
  // The supervisor may be gone already; its closed pipe must not raise SIGPIPE in the caller.
  sigset_t pipe_signal;
  sigset_t previous;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &previous);
  if (::write(control_pipe_.write.get(), &command, 1) < 0 && errno == EPIPE) {
    const timespec now = {0, 0};
    ::sigtimedwait(&pipe_signal, nullptr, &now);
  }
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

int Run::poll_timeout() const {
  if (killed_) return -1;
  double until = 0;
  if (timed_out_ || interrupted_) {
    until = terminated_at_ + spec_.grace_seconds;
  } else if (spec_.timeout_seconds > 0 && !reported_) {
    until = spec_.timeout_seconds;
  } else {
    return -1;
  }
  const double left = until - since_start();
  return left <= 0 ? 0 : static_cast<int>(std::min(left * 1000 + 1, 3'600'000.0));
}

void Run::enforce_limits() {
  const double now = since_start();
  if (!timed_out_ && !interrupted_) {
    const bool stop = interrupt_ != nullptr && interrupt_->requested();
    const bool late = spec_.timeout_seconds > 0 && !reported_ && now >= spec_.timeout_seconds;
    if (!stop && !late) return;
    (stop ? interrupted_ : timed_out_) = true;
    terminated_at_ = now;
    send(supervisor::kTerminate);
  } else if (!killed_ && now >= terminated_at_ + spec_.grace_seconds) {
    killed_ = true;
    send(supervisor::kKill);
  }
}

/// Pumps output until the supervisor has made its final report or is gone.
void Run::wait_for_end() {
  bool output_open = true;
  bool errors_open = spec_.separate_errors;
  for (;;) {
    const bool watch = interrupt_ != nullptr && !interrupted_ && !timed_out_;
    std::array<pollfd, 4> events = {{{report_pipe_.read.get(), POLLIN, 0},
                                     {output_open ? output_pipe_.read.get() : -1, POLLIN, 0},
                                     {errors_open ? errors_pipe_.read.get() : -1, POLLIN, 0},
                                     {watch ? interrupt_->descriptor() : -1, POLLIN, 0}}};
    if (::poll(events.data(), events.size(), poll_timeout()) < 0 && errno != EINTR) return;
    if (events[1].revents != 0) output_open = drain(output_pipe_.read, output_);
    if (events[2].revents != 0) errors_open = drain(errors_pipe_.read, errors_);
    if (events[0].revents != 0 && (!read_report() || report_.final != 0)) return;
    enforce_limits();
  }
}

std::string describe_failure(const supervisor::Report& report, const ProcessSpec& spec) {
  const std::string reason = std::strerror(report.failed_errno);
  switch (report.failed_step) {
    case supervisor::Step::Directory:
      return fmt::format("cannot enter the directory {}: {}", spec.directory, reason);
    case supervisor::Step::Execute:
      return fmt::format("cannot execute {}: {}", spec.command.front(), reason);
    default:
      return fmt::format("cannot start {}: {}", spec.command.front(), reason);
  }
}

void Run::conclude(ProcessResult& result) {
  result.seconds = seconds_;
  result.peak_rss_bytes = static_cast<std::uint64_t>(report_.peak_rss_kilobytes) * 1024;
  result.output = output_.take();
  result.errors = errors_.take();
  result.output_dropped = output_.dropped() + errors_.dropped();
  if (report_.failed_step != supervisor::Step::None) {
    result.end = ProcessResult::End::NotStarted;
    result.code = report_.failed_errno;
    result.notes.push_back(describe_failure(report_, spec_));
    return;
  }
  const int status = report_.wait_status;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  result.end = interrupted_          ? ProcessResult::End::Interrupted
               : timed_out_          ? ProcessResult::End::TimedOut
               : WIFSIGNALED(status) ? ProcessResult::End::Signalled
                                     : ProcessResult::End::Exited;
  result.left_behind_count = report_.leftover_count;
  for (std::size_t i = 0; i < std::min<std::size_t>(report_.leftover_count, report_.leftovers.size()); ++i) {
    const supervisor::Leftover& leftover = report_.leftovers[i];
    result.left_behind.push_back({leftover.process, leftover.name.data(), leftover.detached != 0});
  }
}

Result<ProcessResult> Run::execute() {
  ProcessResult result;
  if (spec_.command.empty())
    return fail(ErrorCode::Execution, "cannot start a program: the command is empty");
  const std::string path = path_variable(merged_environment(spec_));
  const std::string program = find_program(spec_.command.front(), spec_.directory, path);
  if (program.empty()) {
    result.code = ENOENT;
    result.notes.push_back(fmt::format("cannot find the program {} in PATH", spec_.command.front()));
    return result;
  }
  if (!open_pipe(output_pipe_) || !open_pipe(control_pipe_) || !open_pipe(report_pipe_) ||
      (spec_.separate_errors && !open_pipe(errors_pipe_)) || !start_supervisor(program)) {
    return fail(
        ErrorCode::Execution, fmt::format("cannot start {}: {}", spec_.command.front(), std::strerror(errno)),
        supervisor::image() < 0
            ? "simrt runs a small program from memory; the setting vm.memfd_noexec=2 forbids that"
            : "the limit of processes or open files may be too low (ulimit -u, ulimit -n); use fewer jobs");
  }
  output_pipe_.write.close();
  errors_pipe_.write.close();
  control_pipe_.read.close();
  report_pipe_.write.close();
  wait_for_end();
  control_pipe_.write.close();  // should the supervisor still live, it now kills what is left and ends
  while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (report_.final == 0) {
    return fail(ErrorCode::Execution,
                fmt::format("the process that supervises {} was killed", spec_.command.front()));
  }
  ::fcntl(output_pipe_.read.get(), F_SETFL, O_NONBLOCK);
  const auto drain_rest = [](const Descriptor& from, Tail& into) {
    std::array<char, 65'536> buffer;
    for (ssize_t got = 0; (got = ::read(from.get(), buffer.data(), buffer.size())) > 0;) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    }
  };
  drain_rest(output_pipe_.read, output_);
  if (spec_.separate_errors) {
    ::fcntl(errors_pipe_.read.get(), F_SETFL, O_NONBLOCK);
    drain_rest(errors_pipe_.read, errors_);
  }
  conclude(result);
  return result;
}

}  // namespace

Result<ProcessResult> run_process(const ProcessSpec& spec, const InterruptToken* interrupt) {
  return Run(spec, interrupt).execute();
}

std::string find_program(const std::string& program, const std::string& directory, const std::string& path) {
  if (program.find('/') != std::string::npos) return program;
  std::size_t from = 0;
  while (from <= path.size()) {
    std::size_t to = path.find(':', from);
    if (to == std::string::npos) to = path.size();
    const std::string folder = to == from ? std::string(1, '.') : path.substr(from, to - from);
    from = to + 1;
    const std::string candidate = folder + "/" + program;
    const bool relative = candidate.front() != '/';
    const std::string seen_from_here =
        relative && !directory.empty() ? directory + "/" + candidate : candidate;
    if (::access(seen_from_here.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string signal_name(int signal) {
  const char* description = ::sigdescr_np(signal);
  const char* abbreviation = ::sigabbrev_np(signal);
  if (description == nullptr || abbreviation == nullptr) return fmt::format("signal {}", signal);
  return fmt::format("{} (SIG{})", description, abbreviation);
}

}  // namespace simrt
