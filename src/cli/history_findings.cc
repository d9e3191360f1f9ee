// `simrt history findings | suppress`: what simrt check found, and what is not to fail a check for a while.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/history_commands.h"
#include "cli/history_output.h"
#include "history/finding_store.h"

namespace simrt::cli {
namespace {

struct FindingFlags {
  std::string format = "text", finding, reason;
  double days = 90;
  bool potential = false;
};

std::int64_t now_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

Result<int> findings(const FindingFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadOnly);
  if (!opened) return fail(opened.error());
  const auto known = history::known_findings(opened->database);
  if (!known) return fail(known.error());
  const auto suppressed = history::suppressions(opened->database);
  if (!suppressed) return fail(suppressed.error());
  report::Table table{
      {"finding", "status", "harm", "title", "sightings", "last_seen", "tests", "witness", "suppressed"}, {}};
  for (const history::KnownFinding& finding : *known) {
    if (finding.record.status == FindingStatus::Potential && !flags.potential) continue;
    std::string reason;
    for (const history::Suppression& suppression : *suppressed)
      if (suppression.fingerprint == finding.record.fingerprint && suppression.expires_at > now_seconds())
        reason = suppression.reason;
    table.rows.push_back({fingerprint_text(finding.record.fingerprint), to_string(finding.record.status),
                          to_string(finding.record.harm), finding.record.title, finding.sightings,
                          report::format_time(finding.last_seen),
                          fmt::format("{}", fmt::join(finding.tests, ", ")), finding.witness, reason});
  }
  return show(table, flags.format);
}

/// By its fingerprint, or a beginning of it that fits one finding.
Result<std::uint64_t> find(history::Database& database, const std::string& text) {
  const auto known = history::known_findings(database);
  if (!known) return fail(known.error());
  std::uint64_t found = 0, count = 0;
  for (const history::KnownFinding& finding : *known)
    if (fingerprint_text(finding.record.fingerprint).starts_with(text))
      found = finding.record.fingerprint, ++count;
  if (count == 1) return found;
  return fail(ErrorCode::Usage, fmt::format("'{}' fits {} findings", text, count),
              "simrt history findings --potential lists them");
}

Result<int> suppress(const FindingFlags& flags, const GlobalOptions& global) {
  auto opened = open_for(global.directory, global.database, history::OpenMode::ReadWrite);
  if (!opened) return fail(opened.error());
  const auto id = find(opened->database, flags.finding);
  if (!id) return fail(id.error());
  history::Suppression suppression{*id, flags.reason, now_seconds(), 0};
  suppression.expires_at = suppression.created_at + static_cast<std::int64_t>(flags.days * 86400);
  if (Status done = history::put_suppression(opened->database, suppression); !done) return fail(done.error());
  return show({{"finding", "reason", "expires"},
               {{fingerprint_text(*id), flags.reason, report::format_time(suppression.expires_at)}}},
              flags.format);
}

using FindingAction = Result<int> (*)(const FindingFlags&, const GlobalOptions&);

CLI::App* add(CLI::App& parent, const Commands& commands, const std::string& name, const std::string& help,
              const std::shared_ptr<FindingFlags>& flags, FindingAction action) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, action, &chosen = commands.chosen, &global = commands.global] {
    chosen = [flags, action, &global] { return action(*flags, global); };
  });
  return command;
}

}  // namespace

void add_history_findings(CLI::App& history, const Commands& commands) {
  auto flags = std::make_shared<FindingFlags>();
  add(history, commands, "findings", "Bugs that simrt check proved, newest first", flags, findings)
      ->add_flag("--potential", flags->potential, "Predicted ones, too");
  flags = std::make_shared<FindingFlags>();
  CLI::App* command = add(history, commands, "suppress",
                          "Let a finding fail no check until the suppression expires", flags, suppress);
  command->add_option("finding", flags->finding, "Its id, or the beginning of it")->required();
  command->add_option("--reason", flags->reason, "Why")->required();
  command->add_option("--days", flags->days, "Days until it counts again")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace simrt::cli
