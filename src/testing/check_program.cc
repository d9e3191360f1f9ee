#include "testing/check_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include "support/subprocess.h"
#include "testing/stall.h"

namespace simrt::testing {
namespace {

using Clock = std::chrono::steady_clock;
using format::RunState;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t load(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

void wake(const std::uint32_t& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

// Returns early when the word changes.
void wait_on(const std::uint32_t& word, std::uint32_t value, std::chrono::nanoseconds limit) {
  const struct timespec time = {static_cast<time_t>(limit.count() / 1'000'000'000),
                                static_cast<long>(limit.count() % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &time, nullptr, 0);
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// In the new process: only calls that are safe between fork and exec.
[[noreturn]] void execute(const char* program, char** arguments, char** environment, const char* directory,
                          const char* output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  personality(ADDR_NO_RANDOMIZE);
  if (*directory != '\0' && chdir(directory) != 0) _exit(127);
  const int null = open("/dev/null", O_RDONLY);
  const int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (null < 0 || out < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
  close_range(3, ~0U, 0);
  execve(program, arguments, environment);
  _exit(127);
}

std::string tail_of(const std::string& path, std::size_t limit) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const auto size = static_cast<std::size_t>(in.tellg());
  std::string text(std::min(size, limit), '\0');
  in.seekg(static_cast<std::streamoff>(size - text.size()));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

CheckEnd end_of(const Execution& execution, int wait_status, bool killed) {
  switch (execution.state) {
    case RunState::Deadlock:
      return CheckEnd::Deadlock;
    case RunState::Livelock:
      return CheckEnd::Livelock;
    case RunState::Diverged:
      return CheckEnd::Diverged;
    case RunState::Stopped:
      return CheckEnd::Stopped;
    case RunState::PointLimit:
      return CheckEnd::Limit;
    case RunState::TimeLimit:
      return CheckEnd::TimedOut;
    default:
      break;
  }
  // However long it ran: nobody has come for the plan. Killed before main, somebody has.
  const bool nobody_came = execution.state == RunState::NotStarted && execution.pid == 0;
  if (killed && !nobody_came) return execution.outside > 0 ? CheckEnd::WaitsOutside : CheckEnd::TimedOut;
  if (execution.state == RunState::NotStarted || execution.state == RunState::Failed)
    return CheckEnd::NotUnderPlan;
  return WIFSIGNALED(wait_status) ? CheckEnd::Crashed : CheckEnd::Finished;
}

}  // namespace

Result<CheckProgram> CheckProgram::create(CheckOptions options) {
  auto file = RunFile::create(options.run_directory, options.run_bytes, options.plan_bytes);
  if (!file) return fail(file.error());
  auto scratch = Scratch::create();
  if (!scratch) return fail(scratch.error());
  scratch->announce(options.environment);
  return CheckProgram(std::move(options), std::move(*file), std::move(*scratch));
}

CheckProgram::CheckProgram(CheckOptions options, RunFile file, Scratch scratch)
    : options_(std::move(options)), file_(std::move(file)), scratch_(std::move(scratch)) {
  if (options_.pinned) claim_ = ProcessorClaim::take(options_.run_directory);
}

CheckProgram::CheckProgram(CheckProgram&& other) noexcept
    : options_(std::move(other.options_)),
      file_(std::move(other.file_)),
      claim_(std::move(other.claim_)),
      scratch_(std::move(other.scratch_)),
      process_(std::exchange(other.process_, 0)),
      serving_(other.serving_),
      can_serve_(other.can_serve_) {}

CheckProgram::~CheckProgram() { stop(); }

void CheckProgram::stop() {
  if (process_ == 0) return;
  if (const std::uint32_t child = load(file_.header().server.child); serving_ && child != 0)
    kill(-static_cast<pid_t>(child), SIGKILL);
  kill(-process_, SIGKILL);
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  serving_ = false;
}

Status CheckProgram::start(const CheckPlan& plan) {
  scratch_.clear();
  file_.clear();
  if (Status written = file_.write(plan); !written) return written;
  auto changes = options_.environment;
  changes[format::kRunVariable] = file_.path();
  auto environment = environment_with(changes);
  const char* path = std::getenv("PATH");
  std::string program = find_program(options_.command.at(0), options_.directory, path != nullptr ? path : "");
  if (program.empty()) program = options_.command[0];
  const std::string output = file_.path() + ".out";
  auto arguments = options_.command;
  const auto argument_pointers = pointers(arguments), environment_pointers = pointers(environment);
  const pid_t child = fork();
  if (child == 0)
    execute(program.c_str(), const_cast<char**>(argument_pointers.data()),
            const_cast<char**>(environment_pointers.data()), options_.directory.c_str(), output.c_str());
  if (child < 0)
    return fail(ErrorCode::Execution, fmt::format("no process for {}: {}", program, std::strerror(errno)));
  process_ = child;
  return {};
}

// Waits until done() or the time limit; nudges an execution that passes no points. True when it is done.
template <class Done>
bool CheckProgram::watch(Done done, format::RunMode mode, const InterruptToken* interrupt) {
  const auto start = Clock::now();
  StallWatch stall(file_.header());
  FreeRunWatch free_run(file_.header());
  while (!done()) {
    if (seconds_since(start) > options_.timeout_seconds) return false;
    if (interrupt != nullptr && interrupt->requested()) return false;
    if (mode == format::RunMode::Control) {
      stall.look();
    } else if (free_run.is_stuck()) {
      return false;
    }
  }
  return true;
}

// Starts the server and brings it before main. False when the program cannot serve.
bool CheckProgram::serve(const CheckPlan& plan) {
  if (process_ != 0) return true;
  if (!start(plan)) return false;
  const auto start_time = Clock::now();
  auto& server = file_.header().server;
  while (load(server.ready) == 0) {
    wait_on(server.ready, 0, std::chrono::milliseconds(10));
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      return false;
    }
    if (seconds_since(start_time) > options_.timeout_seconds) break;
  }
  serving_ = load(server.ready) == 1;
  if (!serving_) stop();
  return serving_;
}

Result<CheckResult> CheckProgram::run(const CheckPlan& wanted, const InterruptToken* interrupt) {
  if (!file_.has_room_for(wanted)) {
    CheckResult nothing;
    nothing.end = CheckEnd::PlanTooLong;
    return nothing;
  }
  CheckPlan plan = wanted;
  if (const auto processor = claim_.processor(); processor && plan.mode == format::RunMode::Control) {
    plan.flags |= format::kPlanPinToProcessor;
    plan.processor = *processor;
  }
  if (options_.fork_server && can_serve_) {
    plan.flags |= format::kPlanForkServer | format::kPlanCaptureOutput;
    can_serve_ = serve(plan);
    if (can_serve_) {
      auto& server = file_.header().server;
      scratch_.clear();
      file_.clear_execution();
      if (Status written = file_.write(plan); !written) return fail(written.error());
      const auto start_time = Clock::now();
      const std::uint32_t request = load(server.request) + 1;
      __atomic_store_n(&server.request, request, __ATOMIC_RELEASE);
      wake(server.request);
      bool gone = false;
      const auto done = [&] {
        const std::uint32_t seen = load(server.reply);
        if (seen == request) return true;
        wait_on(server.reply, seen, std::chrono::milliseconds(10));
        if (load(server.reply) == request) return true;
        int status = 0;
        gone = waitpid(process_, &status, WNOHANG) == process_;
        return gone;
      };
      const bool ended = watch(done, plan.mode, interrupt);
      if (!ended) {
        if (const std::uint32_t child = load(server.child); child != 0)
          kill(-static_cast<pid_t>(child), SIGKILL);
        const auto kill_time = Clock::now();
        while (!done() && seconds_since(kill_time) < 5) {
        }
      }
      if (gone) {
        process_ = 0;
        serving_ = false;
      }
      return finish(server.wait_status, !ended, seconds_since(start_time), interrupt);
    }
    plan.flags &= ~std::uint32_t{format::kPlanForkServer | format::kPlanCaptureOutput};
  }
  if (Status started = start(plan); !started) return fail(started.error());
  const auto start_time = Clock::now();
  int status = 0;
  const auto done = [&] {
    if (waitpid(process_, &status, WNOHANG) == process_) return true;
    const struct timespec pause = {0, 500'000};
    nanosleep(&pause, nullptr);
    return false;
  };
  const bool ended = watch(done, plan.mode, interrupt);
  if (ended) {
    kill(-process_, SIGKILL);  // what it left behind
    process_ = 0;
  } else {
    stop();
  }
  return finish(status, !ended, seconds_since(start_time), interrupt);
}

Result<CheckResult> CheckProgram::finish(int wait_status, bool killed, double seconds,
                                         const InterruptToken* interrupt) {
  // The program's own doing looks otherwise: this is no failure of the test.
  if (!killed && WIFSIGNALED(wait_status) && file_.is_out_of_room())
    return fail(ErrorCode::Storage,
                fmt::format("{}: the file system is full, the program died of it", file_.path()),
                "free space there, or name a larger directory in TMPDIR");
  CheckResult result;
  result.interrupted = interrupt != nullptr && interrupt->requested();
  auto execution = file_.read();
  if (execution) result.execution = std::move(*execution);
  result.end = end_of(result.execution, wait_status, killed);
  result.status = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  result.seconds = seconds;
  result.output = tail_of(file_.path() + ".out", options_.output_limit);
  return result;
}

}  // namespace simrt::testing
