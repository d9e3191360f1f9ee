// See case_listing.h.
#include "testing/case_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>

#include "support/files.h"
#include "support/subprocess.h"

namespace simrt::testing {
namespace {

constexpr std::size_t kListingLimit = 64 << 20;

/// Calls `visit` with each line, without its line end.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// GoogleTest's own rule: the pattern "DISABLED_*:*/DISABLED_*" on the suite or on the case.
bool gtest_disabled(std::string_view suite, std::string_view name) {
  const auto matches = [](std::string_view text) {
    return text.starts_with("DISABLED_") || text.find("/DISABLED_") != std::string_view::npos;
  };
  return matches(suite) || matches(name);
}

/// Later cases of the same name are selected together with the first one.
void keep_first_of_each(std::vector<ListedCase>& cases) {
  std::set<std::string> seen;
  std::erase_if(cases, [&](const ListedCase& listed) { return !seen.insert(listed.name).second; });
}

struct Listing {
  std::vector<std::string> arguments;
  std::string json_file;  ///< GoogleTest writes its list here, apart from what else is printed
};

Listing listing_arguments(const ListingRequest& request, const TemporaryDirectory& directory) {
  switch (request.main) {
    case TestMain::GoogleTest: {
      const std::string file = directory.file("list.json");
      return {{"--gtest_list_tests", "--gtest_output=json:" + file}, file};
    }
    case TestMain::Catch2V2: {
      Listing listing{{"--list-test-names-only"}, {}};
      if (request.filter.chosen.empty()) listing.arguments.emplace_back("~[.]");
      return listing;
    }
    case TestMain::Catch2V3: {
      Listing listing{{"--list-tests", "--verbosity", "quiet"}, {}};
      if (request.filter.chosen.empty()) listing.arguments.emplace_back("~[.]");
      return listing;
    }
    case TestMain::Doctest:
      return {{"--dt-list-test-cases", "--dt-reporters=xml", "--dt-no-skip=true"}, {}};
    case TestMain::None:
      break;
  }
  return {};
}

std::optional<std::vector<ListedCase>> parse(TestMain main, const Listing& listing,
                                             const std::string& output) {
  switch (main) {
    case TestMain::GoogleTest:
      if (const auto json = read_file(listing.json_file)) return parse_gtest_json(*json);
      return parse_gtest_text(output);  // older than 1.8.1
    case TestMain::Catch2V2:
    case TestMain::Catch2V3:
      return parse_catch_names(output);
    case TestMain::Doctest:
      return parse_doctest_xml(output);
    case TestMain::None:
      break;
  }
  return std::nullopt;
}

/// Empty when the program ended as a lister may end. Catch2 2 returns the number of cases.
std::string failure_of(const ProcessResult& process, TestMain main, double timeout) {
  using End = ProcessResult::End;
  switch (process.end) {
    case End::NotStarted:
      return process.notes.empty() ? "it could not be started" : process.notes.front();
    case End::Signalled:
      return fmt::format("it crashed while listing its cases: {}", signal_name(process.code));
    case End::TimedOut:
      return fmt::format("it did not list its cases within {} s", timeout);
    case End::Interrupted:
      return "interrupted";
    case End::Exited:
      break;
  }
  if (process.code != 0 && main != TestMain::Catch2V2) {
    return fmt::format("it ended with status {} when asked to list its cases", process.code);
  }
  return {};
}

}  // namespace

std::optional<std::vector<ListedCase>> parse_gtest_json(std::string_view json) {
  const auto document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_object() || !document.contains("testsuites")) return std::nullopt;
  std::vector<ListedCase> cases;
  try {
    for (const auto& suite : document.at("testsuites")) {
      const auto suite_name = suite.at("name").get<std::string>();
      for (const auto& test : suite.at("testsuite")) {
        const auto name = test.at("name").get<std::string>();
        cases.push_back({suite_name + "." + name, gtest_disabled(suite_name, name)});
      }
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  keep_first_of_each(cases);
  return cases;
}

std::optional<std::vector<ListedCase>> parse_gtest_text(std::string_view output) {
  std::vector<ListedCase> cases;
  std::string suite;
  for_each_line(output, [&](std::string_view line) {
    const std::size_t comment = line.find("  # ");  // "  # GetParam() = ...", "  # TypeParam = ..."
    const std::string_view text = line.substr(0, comment);
    if (text.starts_with("  ") && text.size() > 2 && text[2] != ' ') {
      if (suite.empty()) return;
      const std::string_view name = text.substr(2);
      cases.push_back({suite + "." + std::string(name), gtest_disabled(suite, name)});
    } else if (text.ends_with('.') && text.size() > 1 && text.find(' ') == std::string_view::npos) {
      suite = text.substr(0, text.size() - 1);
    } else {
      suite.clear();  // somebody else's output
    }
  });
  if (cases.empty()) return std::nullopt;
  keep_first_of_each(cases);
  return cases;
}

std::optional<std::vector<ListedCase>> parse_catch_names(std::string_view output) {
  std::vector<ListedCase> cases;
  for_each_line(output, [&](std::string_view line) {
    while (line.starts_with(' ')) line.remove_prefix(1);  // Catch2 trims names when it selects
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (line.starts_with("\"#") && line.ends_with('"')) line = line.substr(1, line.size() - 2);
    if (!line.empty()) cases.push_back({std::string(line), false});
  });
  keep_first_of_each(cases);
  return cases;
}

std::optional<std::vector<ListedCase>> parse_doctest_xml(std::string_view output) {
  const std::size_t begin = output.find("<?xml");  // the program may print before
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view end_tag = "</doctest>";
  const std::size_t end = output.rfind(end_tag);
  if (end == std::string_view::npos || end < begin) return std::nullopt;
  pugi::xml_document document;
  // Names keep their blanks and line breaks.
  constexpr unsigned kOptions = pugi::parse_default & ~static_cast<unsigned>(pugi::parse_wconv_attribute);
  const std::string_view xml = output.substr(begin, end + end_tag.size() - begin);
  if (!document.load_buffer(xml.data(), xml.size(), kOptions)) return std::nullopt;
  std::vector<ListedCase> cases;
  for (const pugi::xml_node& node : document.child("doctest").children("TestCase")) {
    cases.push_back({node.attribute("name").as_string(), node.attribute("skipped").as_bool()});
  }
  // Of several cases with one name, all are selected together: disabled only if all are.
  std::set<std::string> enabled;
  for (const ListedCase& listed : cases) {
    if (!listed.disabled) enabled.insert(listed.name);
  }
  for (ListedCase& listed : cases) listed.disabled = !enabled.contains(listed.name);
  keep_first_of_each(cases);
  return cases;
}

Result<std::vector<ListedCase>> list_cases(const ListingRequest& request, const InterruptToken* interrupt) {
  const auto directory = TemporaryDirectory::create("simrt-list");
  if (!directory) return fail(directory.error());
  const Listing listing = listing_arguments(request, *directory);
  ProcessSpec spec;
  spec.command = request.filter.base;
  spec.command.insert(spec.command.end(), request.filter.chosen.begin(), request.filter.chosen.end());
  spec.command.insert(spec.command.end(), listing.arguments.begin(), listing.arguments.end());
  spec.directory = request.directory;
  spec.environment = request.environment;
  spec.unset_environment = request.unset_environment;
  spec.timeout_seconds = request.timeout_seconds;
  spec.output_limit = kListingLimit;
  spec.separate_errors = true;
  const auto process = run_process(spec, interrupt);
  if (!process) return fail(process.error());
  if (process->end == ProcessResult::End::Interrupted) return fail(ErrorCode::Interrupted, "interrupted");
  if (std::string why = failure_of(*process, request.main, request.timeout_seconds); !why.empty()) {
    return fail(ErrorCode::Execution, std::move(why));
  }
  auto cases = parse(request.main, listing, process->output);
  if (!cases) return fail(ErrorCode::Execution, "it printed no list of its cases");
  return std::move(*cases);
}

}  // namespace simrt::testing
