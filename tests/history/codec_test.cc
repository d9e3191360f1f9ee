#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "history/blob_frame.h"
#include "history/coverage_codec.h"
#include "history/facts_codec.h"
#include "history/failure.h"
#include "history/links.h"
#include "history/test_codec.h"
#include "sample.h"

namespace simrt::history {
namespace {

/// What the database keeps beside the blob.
FunctionFacts columns_of(const FunctionFacts& function) {
  FunctionFacts columns;
  columns.id = function.id;
  columns.body = function.body;
  columns.name = function.name;
  columns.file = function.file;
  columns.begin_line = function.begin_line;
  columns.end_line = function.end_line;
  return columns;
}

TEST(FactsCodec, FunctionsRoundTrip) {
  Sampler sampler(1);
  for (int i = 0; i < 200; ++i) {
    const FunctionFacts function = sampler.function("f" + std::to_string(i), "a.cc", 100);
    FunctionFacts decoded = columns_of(function);
    ok(decode_function(seal(encode_function(function), kFactsCodec), decoded));
    ASSERT_TRUE(decoded == function);
  }
}

TEST(FactsCodec, UnitsRoundTripAndDamageIsSeen) {
  Sampler sampler(3);
  UnitFacts unit;
  unit.path = "a.cc";
  unit.command = 77;
  unit.files = {{"a.cc", 1, 2}, {"a.h", 3, 4}};
  unit.errors = 2;
  unit.messages = {"a.cc:1:1: no", ""};
  for (int i = 0; i < 50; ++i) {
    unit.functions.push_back(sampler.function("f" + std::to_string(i), "a.cc", 100));
    unit.points.push_back({unit.functions.back().id, {{0, {{100, 3}, {0, 0}}}}});
    unit.variables.push_back(sampler.variable_facts("v" + std::to_string(i), "a.h", 7));
  }
  const std::string blob = encode_unit(unit);
  EXPECT_TRUE(ok(decode_unit(blob)) == unit);
  for (std::size_t at = 0; at < blob.size(); at += 7) {
    std::string damaged = blob;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(decode_unit(damaged)) << at;
  }
  EXPECT_FALSE(decode_unit(blob.substr(0, blob.size() / 2)));
}

TEST(FactsCodec, PointsAndVariablesRoundTrip) {
  Sampler sampler(2);
  const FunctionFacts function = sampler.function("f", "a.cc", 100);
  const FunctionPoints points = sampler.points(function);
  FunctionPoints decoded{function.id, {}};
  ok(decode_points(seal(encode_points(points, 100), kFactsCodec), 100, decoded));
  EXPECT_TRUE(decoded == points);

  const VariableFacts variable = sampler.variable_facts("ns::x", "h.h", 7);
  VariableFacts read;
  read.id = variable.id;
  read.at.line = 7;
  ok(decode_variable(seal(encode_variable(variable), kFactsCodec), read));
  EXPECT_TRUE(read == variable);
}

TEST(FactsCodec, AFunctionThatOnlyMovedKeepsItsBytes) {
  const FunctionFacts before = Sampler(3).function("f", "a.cc", 100);
  const FunctionFacts after = Sampler(3).function("f", "a.cc", 160);
  ASSERT_FALSE(before == after);
  EXPECT_EQ(encode_function(before), encode_function(after));
}

TEST(FactsCodec, AnUnknownLineStaysUnknown) {
  FunctionFacts function;
  function.begin_line = 5;
  function.blocks.push_back(
      {0, 0, {{1, {}, {}, {}, {0, 0}, {}}, {2, {}, {}, {}, {5, 1}, {}}, {3, {}, {}, {}, {2, 1}, {}}}, {}});
  FunctionFacts decoded = columns_of(function);
  ok(decode_function(seal(encode_function(function), kFactsCodec), decoded));
  EXPECT_TRUE(decoded == function);
}

TEST(FactsCodec, EveryFlippedByteIsAnErrorAndNeverACrash) {
  const FunctionFacts function = Sampler(4).function("f", "a.cc", 100);
  const std::string blob = seal(encode_function(function), kFactsCodec);
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      FunctionFacts decoded = columns_of(function);
      const Status status = decode_function(damaged, decoded);
      ASSERT_FALSE(status.has_value()) << "byte " << i;
      EXPECT_EQ(status.error().code, ErrorCode::History);
    }
  }
  for (std::size_t size = 0; size < blob.size(); ++size) {
    FunctionFacts decoded = columns_of(function);
    ASSERT_FALSE(decode_function(blob.substr(0, size), decoded).has_value());
  }
}

TEST(FactsCodec, ForgedPayloadsWithARightChecksumNeverCrash) {
  const std::string bytes = encode_function(Sampler(5).function("f", "a.cc", 100));
  Sampler random(6);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string forged = bytes;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
      forged[random.below(forged.size())] = static_cast<char>(random.below(256));
    FunctionFacts decoded;
    decoded.begin_line = 100;
    refused += decode_function(seal(forged, kFactsCodec), decoded).has_value() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(FactsCodec, AnotherVersionIsRefusedWithAHint) {
  FunctionFacts decoded;
  const Status status = decode_function(seal(encode_function({}), kFactsCodec + 1), decoded);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("another version"), std::string::npos);
  EXPECT_FALSE(status.error().hint.empty());
}

TEST(BlobFrame, CompressesOnlyWherePays) {
  const std::string noise = [] {
    Sampler random(7);
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(random.below(256)));
    return bytes;
  }();
  EXPECT_LT(seal(std::string(1000, 'a'), 1).size(), 100U);
  EXPECT_EQ(seal(noise, 1).size(), noise.size() + 6);
  std::string scratch;
  EXPECT_EQ(ok(unseal(seal(noise, 1), 1, scratch, "noise")), noise);
  EXPECT_EQ(ok(unseal(seal("", 1), 1, scratch, "nothing")), "");
}

TEST(CoverageCodec, RoundTripsAndIsCanonical) {
  const TestRun run =
      test_run("t", block_set({1, 2, 3, 70000}), block_set({9, 4000000000U}), block_set({5, 6, 7, 8}));
  const std::string bytes = encode_coverage(run.coverage);
  EXPECT_TRUE(same_coverage(ok(decode_coverage(seal_coverage(bytes))), run.coverage));

  TestCoverage other = run.coverage;
  std::swap(other.single[0], other.single[1]);
  other.several.runOptimize();
  other.single[0].blocks.add(77);
  other.single[0].blocks.remove(77);
  EXPECT_EQ(encode_coverage(other), bytes);
}

TEST(CoverageCodec, LoadedSetsComputeLikePlainOnes) {
  // Runs, bitsets and arrays side by side, as real coverage has them.
  Sampler random(9);
  for (int round = 0; round < 50; ++round) {
    std::set<BlockNumber> plain[2];
    BlockSet sets[2];
    for (int which : {0, 1}) {
      for (std::uint64_t runs = random.below(300); runs > 0; --runs) {
        const auto begin = static_cast<BlockNumber>(random.below(200'000));
        for (BlockNumber i = begin; i < begin + 1 + random.below(60); ++i) plain[which].insert(i);
      }
      for (std::uint64_t scattered = random.below(6000); scattered > 0; --scattered)
        plain[which].insert(static_cast<BlockNumber>(random.below(65536)));
      for (const BlockNumber number : plain[which]) sets[which].add(number);
    }
    const TestRun run = test_run("t", sets[0], {}, sets[1]);
    const TestCoverage loaded = ok(decode_coverage(seal_coverage(encode_coverage(run.coverage))));
    std::set<BlockNumber> both = plain[0], common;
    both.insert(plain[1].begin(), plain[1].end());
    std::set_intersection(plain[0].begin(), plain[0].end(), plain[1].begin(), plain[1].end(),
                          std::inserter(common, common.end()));
    const BlockSet all = loaded.all();
    ASSERT_EQ(std::set<BlockNumber>(all.begin(), all.end()), both);
    if (loaded.single.empty()) continue;
    ASSERT_EQ(loaded.single[0].blocks.and_cardinality(loaded.several), common.size());
    ASSERT_EQ(loaded.single[0].blocks.intersect(loaded.several), !common.empty());
  }
}

TEST(CoverageCodec, DamageIsAnError) {
  testing::internal::CaptureStderr();  // CRoaring says on stderr what it dislikes
  const TestRun run = test_run("t", block_set({1, 2, 3}), block_set({9}), block_set({5}));
  const std::string bytes = encode_coverage(run.coverage);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(decode_coverage(seal_coverage(bytes.substr(0, i))).has_value()) << i;
  Sampler random(8);
  for (int round = 0; round < 2000; ++round) {
    std::string forged = bytes;
    forged[random.below(forged.size())] = static_cast<char>(random.below(256));
    (void)decode_coverage(seal_coverage(forged));  // must return, whatever it says
  }
  testing::internal::GetCapturedStderr();
}

TEST(TestCodec, RoundTripsEveryField) {
  const TestCase test = test_case("Suite.Case");
  TestCase decoded;
  decoded.id = test.id;
  decoded.name = test.name;
  ok(decode_test_case(seal_test_case(encode_test_case(test)), decoded));
  EXPECT_EQ(decoded.ctest, test.ctest);
  EXPECT_EQ(decoded.selector, test.selector);
  EXPECT_EQ(decoded.framework, test.framework);
  EXPECT_EQ(decoded.command, test.command);
  EXPECT_EQ(decoded.directory, test.directory);
  EXPECT_EQ(decoded.environment, test.environment);
  EXPECT_EQ(decoded.timeout_seconds, test.timeout_seconds);
  EXPECT_EQ(decoded.disabled, test.disabled);
  EXPECT_EQ(decoded.will_fail, test.will_fail);
  EXPECT_EQ(decoded.skip_codes, test.skip_codes);
  EXPECT_EQ(decoded.labels, test.labels);
  EXPECT_TRUE(decoded.rules == test.rules);
}

TEST(Links, RoundTripAnyOrder) {
  const std::vector<Link> links = {{5, 100}, {3, 7}, {1'000'000'000'000, 0}, {3, 4'000'000'000U}};
  const std::vector<Link> read = unpack_links(pack_links(links));
  ASSERT_EQ(read.size(), links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    EXPECT_EQ(read[i].version, links[i].version);
    EXPECT_EQ(read[i].line, links[i].line);
  }
  EXPECT_EQ(unpack_rows(pack_rows({4, 1, 9})), (std::vector<std::int64_t>{4, 1, 9}));
  EXPECT_THROW(unpack_rows("nonsense"), Failure);
}

}  // namespace
}  // namespace simrt::history
