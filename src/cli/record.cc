// `simrt record`.
#include "pipeline/record.h"

#include <memory>

#include "cli/command.h"

namespace simrt::cli {
namespace {

struct Flags {
  pipeline::RecordRequest request;
  std::string format = "text";
};

Result<int> run(Flags flags, const GlobalOptions& global) {
  flags.request.directory = global.directory;
  flags.request.database = global.database;
  InterruptToken token;
  InterruptScope scope(token);
  flags.request.interrupt = &token;
  const auto summary = pipeline::run_record(flags.request);
  if (!summary) return fail(summary.error());
  if (Status done = print(flags.format == "json" ? pipeline::render_record_json(*summary)
                                                 : pipeline::render_record(*summary));
      !done)
    return fail(done.error());
  if (token.requested())
    return fail(ErrorCode::Interrupted, "interrupted; what was recorded is kept",
                "run simrt record again to go on");
  return 0;
}

}  // namespace

void add_record(Commands commands) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = commands.app.add_subcommand(
      "record", "Run the tests once and store what each thread of each test covers");
  command->footer(
      "Needs an instrumented build (cmake --toolchain \"$(simrt toolchain)\") of the checked-out commit.\n"
      "Killed at any moment, it loses at most the tests that were running; run it again to go on.\n"
      "Examples:\n"
      "  simrt record -j 8\n"
      "  simrt record --shard 2/4      # one part of a CI matrix; join them with: simrt history merge\n"
      "  simrt record --only 'Cache*'");
  command->add_option("-j,--jobs", flags->request.jobs,
                      "Tests at once (default: as configured, else one a processor)");
  command->add_option("--shard", flags->request.shard, "Only this part of the tests: i/n, split by name");
  command->add_option("--only", flags->request.only,
                      "Only tests whose name matches a glob (repeatable); the rest stays as recorded");
  command->add_option("--timeout", flags->request.timeout_seconds, "Seconds a test may take")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--again", flags->request.again, "Run tests whose program did not change, too");
  command->add_flag("--facts-only", flags->request.facts_only, "Parse the sources, run no test");
  command->add_flag("--allow-dirty", flags->request.allow_dirty,
                    "Record although tracked files are modified (they are taken as committed)");
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([flags, commands] {
    commands.chosen = [flags, &global = commands.global] { return run(*flags, global); };
  });
}

}  // namespace simrt::cli
