#include "pipeline/facts_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "history/blob_frame.h"
#include "history/facts_codec.h"
#include "support/files.h"
#include "support/hash.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLengthDigits = 16;  // of the first part, in front of it

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1)
    lines.emplace_back(text.substr(begin, end - begin));
  return lines;
}

/// The two sealed parts of an entry: questions and facts.
struct Entry {
  std::string bytes;
  std::string_view questions, facts;

  static std::optional<Entry> read(const std::string& file) {
    auto bytes = read_file(file);
    if (!bytes || bytes->size() < kLengthDigits) return std::nullopt;
    Entry entry{std::move(*bytes), {}, {}};
    const std::string_view all = entry.bytes;
    const std::size_t length = std::strtoull(entry.bytes.substr(0, kLengthDigits).c_str(), nullptr, 16);
    if (length > all.size() - kLengthDigits) return std::nullopt;
    entry.questions = all.substr(kLengthDigits, length);
    entry.facts = all.substr(kLengthDigits + length);
    return entry;
  }
};

struct File {
  fs::file_time_type used;
  std::uint64_t size = 0;
  std::string path;
};

/// Files below a directory of the cache, the last used first.
template <class Iterator>
std::vector<File> files_of(const std::string& directory) {
  std::vector<File> files;
  std::error_code error;
  for (Iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process prunes
    if (!it->is_regular_file(gone)) continue;
    File file{it->last_write_time(gone), 0, it->path().string()};
    if (!gone) file.size = it->file_size(gone);
    if (!gone) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return std::tie(b.used, a.path) < std::tie(a.used, b.path); });
  return files;
}

}  // namespace

FactsCache::FactsCache(std::string directory, std::uint64_t tool, std::uint64_t byte_limit)
    : directory_(directory.empty() ? std::string() : directory + "/facts"),
      tool_(tool),
      byte_limit_(byte_limit) {}

std::string FactsCache::directory_of(const std::string& path, std::uint64_t command,
                                     std::uint64_t known) const {
  const std::uint64_t unit = hash_combine(hash_combine(hash_bytes(path), command), known);
  return fmt::format("{}/{:016x}", directory_, hash_combine(unit, tool_));
}

std::optional<UnitFacts> FactsCache::find(const std::string& path, std::uint64_t command, std::uint64_t known,
                                          const Answers& answers) const {
  if (directory_.empty()) return std::nullopt;
  for (const File& file : files_of<fs::directory_iterator>(directory_of(path, command, known))) {
    const auto entry = Entry::read(file.path);
    if (!entry) continue;
    std::string scratch;
    const auto questions = history::unseal(entry->questions, history::kFactsCodec, scratch, "a cached parse");
    if (!questions) continue;
    const std::string name = fmt::format("{:016x}", answers(split(*questions)));
    if (fs::path(file.path).filename() != name) continue;
    auto unit = history::decode_unit(entry->facts);
    if (!unit || unit->path != path || unit->command != command) continue;
    std::error_code read_only;
    fs::last_write_time(file.path, fs::file_time_type::clock::now(), read_only);
    return std::move(*unit);
  }
  return std::nullopt;
}

void FactsCache::store(const UnitFacts& unit, std::uint64_t known, const Questions& questions,
                       const Answers& answers) const {
  if (directory_.empty() || questions.empty()) return;
  const std::string first = history::seal(joined(questions), history::kFactsCodec);
  const std::string bytes = fmt::format("{:016x}", first.size()) + first + history::encode_unit(unit);
  const std::string directory = directory_of(unit.path, unit.command, known);
  if (!make_directories(directory)) return;
  static_cast<void>(write_file_atomically(fmt::format("{}/{:016x}", directory, answers(questions)), bytes));
}

void FactsCache::prune() const {
  if (directory_.empty()) return;
  std::vector<File> files = files_of<fs::recursive_directory_iterator>(directory_);
  std::uint64_t bytes = 0;
  for (const File& file : files) bytes += file.size;
  if (bytes <= byte_limit_) return;
  // Well below the limit, so that not every run has to prune.
  for (; bytes > byte_limit_ / 4 * 3 && !files.empty(); files.pop_back()) {
    std::error_code gone;
    fs::remove(files.back().path, gone);
    bytes -= files.back().size;
  }
}

std::uint64_t identity_of_this_program() {
  const fs::path program = "/proc/self/exe";
  std::error_code error;
  const std::uint64_t size = fs::file_size(program, error);
  const auto built = fs::last_write_time(program, error).time_since_epoch().count();
  return hash_combine(hash_combine(hash_bytes(SIMRT_VERSION), size), static_cast<std::uint64_t>(built));
}

}  // namespace simrt::pipeline
