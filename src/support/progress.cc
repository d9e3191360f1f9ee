// See progress.h.
#include "support/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/log.h"

namespace simrt {
namespace {

double fraction_done(const ProgressState& state) {
  double fraction = 0;
  if (state.work_total > 0) {
    fraction = state.work_done / state.work_total;
  } else if (state.total > 0) {
    fraction = static_cast<double>(state.done) / static_cast<double>(state.total);
  }
  return std::clamp(fraction, 0.0, 1.0);
}

/// Assumes that the rest goes as fast as what is done.
std::optional<double> seconds_left(const ProgressState& state) {
  const double fraction = fraction_done(state);
  if (fraction <= 0 || state.done == 0 || state.done >= state.total) return std::nullopt;
  return state.elapsed_seconds * (1 - fraction) / fraction;
}

std::string bar(double fraction) {
  constexpr unsigned kCells = 20;
  const auto filled = static_cast<unsigned>(fraction * kCells);
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(kCells - filled, ' '));
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
  const std::uint64_t hours = whole / 3600;
  const std::uint64_t minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string format_progress(const ProgressState& state, unsigned width) {
  std::string text = state.label;
  if (state.total > 0) {
    text += fmt::format(" {} {}/{}", bar(fraction_done(state)), state.done, state.total);
  } else {
    text += fmt::format(" {}", state.done);
  }
  if (state.done > 0 && state.elapsed_seconds > 0) {
    text += fmt::format("  {:.1f}/s", static_cast<double>(state.done) / state.elapsed_seconds);
  }
  if (const auto left = seconds_left(state)) text += fmt::format("  {} left", format_duration(*left));
  if (!state.current.empty()) text += "  " + state.current;
  if (text.size() >= width) {
    std::size_t cut = width > 0 ? width - 1 : 0;  // the last column would wrap on some terminals
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;  // not inside UTF-8
    text.resize(cut);
  }
  return text;
}

std::string format_progress_line(const ProgressState& state) {
  if (state.total == 0) return fmt::format("{}: {}", state.label, state.done);
  std::string text = fmt::format("{}: {} of {} ({:.0f} %)", state.label, state.done, state.total,
                                 std::floor(100 * fraction_done(state)));
  if (const auto left = seconds_left(state)) text += fmt::format(", {} left", format_duration(*left));
  return text;
}

Progress::Progress(std::string label, std::uint64_t total, double total_work)
    : start_(Clock::now()), last_drawn_(start_) {
  state_.label = std::move(label);
  state_.total = total;
  state_.work_total = total_work;
  const std::scoped_lock lock(mutex_);
  if (log::terminal()) draw(start_);
}

Progress::~Progress() { finish(); }

void Progress::advance(std::string_view current, double work) {
  constexpr auto kBarInterval = std::chrono::milliseconds(100);
  constexpr auto kLineInterval = std::chrono::seconds(10);
  const std::scoped_lock lock(mutex_);
  ++state_.done;
  state_.work_done += work;
  state_.current = current;
  const auto now = Clock::now();
  const auto since = now - last_drawn_;
  if (finished_ || (log::terminal() ? since < kBarInterval : since < kLineInterval)) return;
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  last_drawn_ = now;
  if (log::verbosity() == log::Verbosity::Quiet) return;
  state_.elapsed_seconds = std::chrono::duration<double>(now - start_).count();
  if (log::terminal()) {
    log::set_status_line(format_progress(state_, log::terminal_width()));
  } else {
    log::write(log::Level::Info, format_progress_line(state_));
  }
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;
  finished_ = true;
  log::set_status_line({});
}

}  // namespace simrt
