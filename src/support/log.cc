// See log.h. One mutex guards the stream, so that messages and the status line never interleave.
#include "support/log.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace simrt::log {
namespace {

std::atomic<Verbosity> g_verbosity{Verbosity::Normal};

struct Sink {
  std::mutex mutex;
  std::FILE* stream = nullptr;  ///< null: stderr
  bool redirected_terminal = false;
  std::string status;
};

Sink& sink() {
  static Sink* instance = new Sink;  // never destroyed: messages may come from static destructors
  return *instance;
}

bool stderr_is_terminal() {
  static const bool result = [] {
    const char* name = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && name != nullptr && std::string_view(name) != "dumb";
  }();
  return result;
}

bool is_terminal(const Sink& to) {
  return to.stream != nullptr ? to.redirected_terminal : stderr_is_terminal();
}

void put(const Sink& to, std::string_view text) {
  std::FILE* stream = to.stream != nullptr ? to.stream : stderr;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

constexpr std::string_view kEraseLine = "\r\x1b[K";

void put_lines(std::string_view text) {
  Sink& to = sink();
  const std::scoped_lock lock(to.mutex);
  std::string out;
  if (!to.status.empty()) out += kEraseLine;
  out += text;
  out += to.status;
  put(to, out);
}

std::string_view prefix(Level level) {
  switch (level) {
    case Level::Error:
      return "error: ";
    case Level::Warning:
      return "warning: ";
    case Level::Info:
    case Level::Detail:
      break;
  }
  return "";
}

std::string layout(Level level, std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string text(prefix(level));
  for (const char c : message) {
    text += c;
    if (c == '\n') text += "  ";
  }
  text += '\n';
  return text;
}

bool admitted(Level level) {
  switch (level) {
    case Level::Error:
      return true;
    case Level::Warning:
    case Level::Info:
      return verbosity() != Verbosity::Quiet;
    case Level::Detail:
      break;
  }
  return verbosity() == Verbosity::Verbose;
}

}  // namespace

void set_verbosity(Verbosity verbosity) { g_verbosity.store(verbosity, std::memory_order_relaxed); }

Verbosity verbosity() { return g_verbosity.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message) {
  if (admitted(level)) put_lines(layout(level, message));
}

void error(const Error& error) {
  std::string message = error.message;
  if (!error.hint.empty()) message += "\nhint: " + error.hint;
  write(Level::Error, message);
}

void set_status_line(std::string_view line) {
  Sink& to = sink();
  const std::scoped_lock lock(to.mutex);
  if (!is_terminal(to) || (line.empty() && to.status.empty())) return;
  to.status = line;
  put(to, std::string(kEraseLine) + to.status);
}

bool terminal() {
  Sink& to = sink();
  const std::scoped_lock lock(to.mutex);
  return is_terminal(to);
}

unsigned terminal_width() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void redirect(std::FILE* stream, bool as_terminal) {
  Sink& to = sink();
  const std::scoped_lock lock(to.mutex);
  to.stream = stream;
  to.redirected_terminal = as_terminal;
  to.status.clear();
}

}  // namespace simrt::log
