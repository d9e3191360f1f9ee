// See supervisor.h. A program of its own: small, so that forking from it is cheap however large simrt has
// grown. Plain system calls and stack memory only; statically linked, so that the environment of the program
// under test (LD_PRELOAD, LD_LIBRARY_PATH) is not its own.
#include "support/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>

namespace simrt::supervisor {
namespace {

constexpr int kStartFailed = 127;

std::int64_t now_milliseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void write_fully(int descriptor, const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

/// close_range(2) is Linux 5.9; before it one descriptor at a time, up to the limit.
void close_range_of(unsigned first, unsigned last) {
  if (::syscall(SYS_close_range, first, last, 0U) == 0) return;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const unsigned end = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, 65'536));
  for (unsigned descriptor = first; descriptor <= last && descriptor < end; ++descriptor) {
    ::close(static_cast<int>(descriptor));
  }
}

/// Closes all descriptors from 3 up except `keep` (at most four of them, ascending).
void close_others(std::array<int, 4> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned from = 3;
  for (const int kept : keep) {
    if (kept < static_cast<int>(from)) continue;
    if (kept > static_cast<int>(from)) close_range_of(from, static_cast<unsigned>(kept) - 1);
    from = static_cast<unsigned>(kept) + 1;
  }
  close_range_of(from, ~0U);
}

/// What the caller asked for. Its descriptors are inherited and lose to nobody: become_program() replaces
/// them.
struct Job {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  const char* directory = nullptr;  ///< empty: stay
  int output = -1;
  int errors = -1;   ///< may equal output
  int control = -1;  ///< commands are read from here
  int report = -1;   ///< reports are written here
  int linger_milliseconds = 0;
};

struct StartFailure {
  Step step = Step::None;
  std::int32_t error = 0;
};

/// Every signal to its default action. By the system call: glibc's posix_spawn() leaves its two internal
/// signals ignored, and its signal() refuses to touch them.
void reset_signals() {
  constexpr std::array<std::uint64_t, 4> kDefault = {};  // the kernel's sigaction with handler SIG_DFL
  constexpr std::size_t kMaskBytes = 8;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, kDefault.data(), nullptr, kMaskBytes);
  }
}

[[noreturn]] void become_program(const Job& job, int failure_pipe) {
  const auto give_up = [&](Step step) {
    const StartFailure failure{step, errno};
    write_fully(failure_pipe, &failure, sizeof failure);
    ::_exit(kStartFailed);
  };
  ::setsid();
  reset_signals();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);

  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) give_up(Step::Descriptors);
  // Descriptors 0 to 2 of the caller may be closed, so the sources may be among the targets: copy up first.
  const int output = ::fcntl(job.output, F_DUPFD_CLOEXEC, 3);
  const int errors = ::fcntl(job.errors, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || errors < 0 || ::dup2(null, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(errors, 2) < 0) {
    give_up(Step::Descriptors);
  }
  if (null > 2) ::close(null);
  if (*job.directory != '\0' && ::chdir(job.directory) != 0) give_up(Step::Directory);
  ::execve(job.program, job.arguments, environ);
  give_up(Step::Execute);
  ::_exit(kStartFailed);
}

struct Process {
  pid_t parent = 0;
  pid_t session = 0;
  bool zombie = false;
};

/// Reads /proc/PID/NAME into the buffer, zero-terminated; the length, or 0.
std::size_t read_proc(pid_t process, const char* name, char* buffer, std::size_t size) {
  char path[64] = "/proc/";
  char digits[16];
  std::size_t count = 0;
  for (pid_t rest = process; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  std::size_t length = 6;
  while (count > 0) path[length++] = digits[--count];
  path[length++] = '/';
  std::strncpy(path + length, name, sizeof path - length - 1);
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t got = ::read(descriptor, buffer, size - 1);
  ::close(descriptor);
  buffer[got > 0 ? got : 0] = '\0';
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

/// Fields of /proc/PID/stat behind the command name, which may itself contain blanks and parentheses.
bool read_stat(pid_t process, Process& result) {
  char buffer[512];
  const std::size_t length = read_proc(process, "stat", buffer, sizeof buffer);
  const std::string_view text(buffer, length);
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos || close + 4 > text.size()) return false;
  result.zombie = text[close + 2] == 'Z' || text[close + 2] == 'X';
  long fields[3] = {0, 0, 0};  // parent, process group, session
  std::size_t at = close + 3;
  for (long& field : fields) {
    while (at < text.size() && text[at] == ' ') ++at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') field = field * 10 + (text[at++] - '0');
  }
  result.parent = static_cast<pid_t>(fields[0]);
  result.session = static_cast<pid_t>(fields[2]);
  return true;
}

struct DirectoryEntry {  // linux_dirent64, which no header declares
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

/// Calls `visit(pid, process)` for every living process. As a subreaper this process is the parent of every
/// descendant whose own parent has died.
template <class Visit>
void for_each_process(Visit visit) {
  const int directory = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  alignas(DirectoryEntry) char buffer[8192];
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->length;
      pid_t id = 0;
      const char* digit = entry->name;
      while (*digit >= '0' && *digit <= '9') id = id * 10 + (*digit++ - '0');
      Process process;
      if (*digit != '\0' || id == 0 || !read_stat(id, process)) continue;
      if (!process.zombie) visit(id, process);
    }
  }
  ::close(directory);
}

class Supervisor {
 public:
  explicit Supervisor(const Job& job) : job_(job) {}

  void run() {
    if (start()) supervise();
    report_.final = 1;
    write_fully(job_.report, &report_, sizeof report_);
  }

 private:
  bool start();
  void supervise();
  void obey_caller();
  bool reap();
  void record_leftovers();
  void kill_everything();

  const Job& job_;
  Report report_;
  pid_t program_ = 0;
  bool running_ = false;  ///< the program itself has not been reaped
  bool killing_ = false;
  std::int64_t killing_since_ = 0;
  std::int64_t ended_at_ = 0;
};

/// Starts the program; false when it could not be started, with the reason in the report.
bool Supervisor::start() {
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    report_.failed_step = Step::Descriptors;
    report_.failed_errno = errno;
    return false;
  }
  program_ = ::fork();
  if (program_ == 0) become_program(job_, failure[1]);
  ::close(failure[1]);
  StartFailure why;
  if (program_ < 0) {
    why = {Step::Fork, errno};
  } else {
    ssize_t got = 0;
    do {
      got = ::read(failure[0], &why, sizeof why);  // end of file: execve succeeded and closed the pipe
    } while (got < 0 && errno == EINTR);
    if (got != sizeof why) why = {};
  }
  ::close(failure[0]);
  report_.failed_step = why.step;
  report_.failed_errno = why.error;
  if (why.step != Step::None) {
    if (program_ > 0) ::waitpid(program_, nullptr, 0);
    return false;
  }
  running_ = true;
  return true;
}

void Supervisor::supervise() {
  constexpr int kKillRoundMilliseconds = 5;
  constexpr std::int64_t kGiveUpMilliseconds = 10'000;  // processes in uninterruptible sleep
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (job_.output > 2) ::close(job_.output);  // else the caller would never see the end of the output
  if (job_.errors > 2 && job_.errors != job_.output) ::close(job_.errors);
  while (reap()) {
    int timeout = signals < 0 ? 10 : -1;
    if (!running_ && !killing_) {
      const std::int64_t left = ended_at_ + job_.linger_milliseconds - now_milliseconds();
      if (left <= 0) {
        record_leftovers();
        killing_ = true;
        killing_since_ = now_milliseconds();
      } else {
        timeout = static_cast<int>(left);
      }
    }
    if (killing_) {
      if (now_milliseconds() - killing_since_ > kGiveUpMilliseconds) return;
      kill_everything();
      timeout = kKillRoundMilliseconds;
    }
    pollfd events[2] = {{signals, POLLIN, 0}, {killing_ ? -1 : job_.control, POLLIN, 0}};
    ::poll(events, 2, timeout);
    if ((events[0].revents & POLLIN) != 0) {
      signalfd_siginfo ignored;
      while (::read(signals, &ignored, sizeof ignored) > 0) {
      }
    }
    if (events[1].revents != 0) obey_caller();
  }
}

void Supervisor::obey_caller() {
  char command = kKill;
  const ssize_t got = ::read(job_.control, &command, 1);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got == 1 && command == kTerminate && running_) {
    ::kill(-program_, SIGTERM);
    return;
  }
  killing_ = true;
  killing_since_ = now_milliseconds();
}

/// Collects whoever has ended; false when no descendant is left.
bool Supervisor::reap() {
  for (;;) {
    int status = 0;
    rusage usage = {};
    const pid_t ended = ::wait4(-1, &status, WNOHANG, &usage);
    if (ended == 0) return true;
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return false;
    if (ended != program_ || !running_) continue;
    running_ = false;
    ended_at_ = now_milliseconds();
    report_.wait_status = status;
    report_.peak_rss_kilobytes = usage.ru_maxrss;
    write_fully(job_.report, &report_, sizeof report_);
  }
}

void Supervisor::record_leftovers() {
  for_each_process([&](pid_t id, const Process& process) {
    if (process.parent != ::getpid() && process.session != program_) return;
    if (report_.leftover_count < report_.leftovers.size()) {
      Leftover& leftover = report_.leftovers[report_.leftover_count];
      leftover.process = id;
      leftover.detached = process.session != program_ ? 1 : 0;
      std::size_t length = read_proc(id, "comm", leftover.name.data(), leftover.name.size());
      if (length > 0 && leftover.name[length - 1] == '\n') leftover.name[length - 1] = '\0';
    }
    ++report_.leftover_count;
  });
}

/// One round; descendants of the killed ones become children of this process and go in the next round.
void Supervisor::kill_everything() {
  if (running_) ::kill(-program_, SIGKILL);
  for_each_process([&](pid_t id, const Process& process) {
    if (process.parent == ::getpid() || (process.session == program_ && id != ::getpid())) {
      ::kill(id, SIGKILL);
    }
  });
}

/// A decimal argument; -1 for anything else.
int number(const char* text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return *text == '\0' ? value : -1;
}

}  // namespace
}  // namespace simrt::supervisor

int main(int argc, char** argv) {
  using namespace simrt::supervisor;
  if (argc <= kFirstProgramArgument) return 2;
  Job job;
  job.output = number(argv[kOutput]);
  job.errors = number(argv[kErrors]);
  job.control = number(argv[kControl]);
  job.report = number(argv[kReport]);
  job.linger_milliseconds = number(argv[kLinger]);
  job.directory = argv[kDirectory];
  job.program = argv[kProgram];
  job.arguments = argv + kFirstProgramArgument;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
  ::prctl(PR_SET_NAME, "simrt-supervise", 0UL, 0UL, 0UL);
  for (const int own : {job.output, job.errors, job.control, job.report}) ::fcntl(own, F_SETFD, FD_CLOEXEC);
  close_others({job.output, job.errors, job.control, job.report});
  Supervisor(job).run();
  return 0;
}
