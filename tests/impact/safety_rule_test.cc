// Rule 4, thread safety of a variable: one change per C++ reading; what must be impacted, why, and what must
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impact_case.h"
#include "rule_programs.h"

namespace simrt::impact {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SafetyRule, AtomicToPlainImpactsUnchangedFunctionsToo) {
  const std::string text = R"(
var hits std::atomic<int> atomic
fn hit()
B1 -> B0
  R hits seq_cst; W hits seq_cst
fn show()
B1 -> B0
  R hits seq_cst
)";
  const ImpactCase change(text, edit(text, {{"var hits std::atomic<int> atomic", "var hits int"},
                                            {"  R hits seq_cst; W hits seq_cst", "  R hits; W hits"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("hit R hits", "hit W hits", "show R hits"));
  EXPECT_EQ(change.rule("show R hits"), ImpactRule::SafetyDropped);
  EXPECT_EQ(change.cause("hit W hits"), "hits is no longer atomic");
}

TEST(SafetyRule, ThreadLocalDropped) {
  const std::string text = R"(
var scratch int thread_local
fn format()
B1 -> B0
  W scratch tls
)";
  const ImpactCase change(text, edit(text, {{"int thread_local", "int"}, {"W scratch tls", "W scratch"}}));
  EXPECT_EQ(change.rule("format W scratch"), ImpactRule::SafetyDropped);
  EXPECT_EQ(change.cause("format W scratch"), "scratch is no longer thread_local");
  EXPECT_THAT(change.pairs(), ElementsAre("format W scratch ~ format W scratch"));
}

TEST(SafetyRule, ThreadLocalItselfIsNotShared) {
  const std::string text = "var scratch int thread_local\nfn format()\nB1 -> B0\n  W scratch tls\n";
  const ImpactCase change(text, edit(text, {{"  W scratch tls", "  W scratch tls\n  R scratch tls"}}));
  EXPECT_THAT(change.impact.accesses, IsEmpty());
}

TEST(SafetyRule, TypeOfAFieldChanged) {
  const std::string text = R"(
var Gauge::level_ short
fn Gauge::Raise(by)
B1 -> B0
  R this.Gauge::level_; W this.Gauge::level_
)";
  const ImpactCase change(text, edit(text, {{"level_ short", "level_ long"}}));
  EXPECT_EQ(change.cause("Gauge::Raise W Gauge::level_"),
            "type of Gauge::level_ changed (was short, now long)");
}

TEST(SafetyRule, RenumberedLocalsAreNoChangedVariables) {
  const std::string text = "var x int\nfn f() p!\nB1 -> B0\n  W p\n  W x\n";
  const Program before = parse_program(text), after = parse_program(text);
  ProgramDiff diff;
  VariableFacts local;
  local.id = local_of(function_id("f"), 0);
  local.kind = VariableKind::Local;
  Program typed_before = before, typed_after = after;
  local.type = "int";
  typed_before.variables.push_back(local);
  local.type = "long";
  typed_after.variables.push_back(local);
  typed_before.index();
  typed_after.index();
  diff.variables = {local.id};
  EXPECT_THAT(analyse_impact(typed_before, typed_after, diff).accesses, IsEmpty());
}

TEST(SafetyRule, KindOfAMutexChangedImpactsWhatItProtects) {
  const ImpactCase change(kCounter,
                          edit(kCounter, {{"var Counter::mu_ std::mutex", "var Counter::mu_ NullMutex"}}));
  EXPECT_EQ(change.rule("Counter::Get R Counter::value_"), ImpactRule::SafetyDropped);
}

// struct Word { int whole; short half; }; to union Word
TEST(SafetyRule, MembersOfAUnionAreOneLocation) {
  const std::string text = R"(
var Word::whole int
var Word::half short
var Word::bytes char[4]
var Other::apart int
fn first()
B1 -> B0
  W this.Word::whole
  W this.Other::apart
fn second()
B1 -> B0
  R this.Word::half
fn third()
B1 -> B0
  R this.Word::bytes*
)";
  const ImpactCase change(text, edit(text, {{"whole int", "whole int shares=w"},
                                            {"half short", "half short shares=w"},
                                            {"bytes char[4]", "bytes char[4] shares=w"}}));
  EXPECT_THAT(change.pairs(), IsSupersetOf({"first W Word::whole ~ second R Word::half",
                                            "first W Word::whole ~ third R Word::bytes"}));
  EXPECT_THAT(change.pairs(), Not(Contains("first W Other::apart ~ first W Other::apart")));
  EXPECT_THAT(change.cause("first W Word::whole"),
              StartsWith("Word::whole now shares its memory with Word::"));
}

// A member that is a class: all that it has inside lies there.
TEST(SafetyRule, WhatAMemberOfAUnionHasInside) {
  const std::string text = R"(
var Message::request Request
var Message::reply Reply
var Request::id int
var Reply::status long
fn first()
B1 -> B0
  W this.Request::id
fn second()
B1 -> B0
  R this.Reply::status
)";
  const ImpactCase change(text, edit(text, {{"request Request", "request Request shares=m"},
                                            {"reply Reply", "reply Reply shares=m"}}));
  EXPECT_THAT(change.pairs(), Contains("first W Request::id ~ second R Reply::status"));
}

// A union that is as before: a lock given up around one member is found at the other one.
TEST(SafetyRule, MembersOfAUnionPairWhateverChanges) {
  const std::string text = R"(
var Word::whole int shares=w
var Word::half short shares=w
var mu std::mutex mutex
fn first()
B1 -> B0
  lock mu
  W this.Word::whole
  unlock mu
fn second()
B1 -> B0
  lock mu
  R this.Word::half
  unlock mu
)";
  const ImpactCase change(text, edit(text, {{"  lock mu\n", ""}, {"  unlock mu\n", ""}}));
  EXPECT_THAT(change.pairs(), Contains("first W Word::whole ~ second R Word::half"));
}

// int c; int d; to int c : 8; int d : 8;
TEST(SafetyRule, AdjacentBitFieldsAreOneLocation) {
  const std::string text = R"(
var S::c int
var S::d int
var S::e int
fn first()
B1 -> B0
  W this.S::c
fn second()
B1 -> B0
  W this.S::d
  W this.S::e
)";
  const ImpactCase change(
      text, edit(text, {{"var S::c int", "var S::c int bits"}, {"var S::d int", "var S::d unsigned bits"}}));
  EXPECT_THAT(change.pairs(), Contains("first W S::c ~ second W S::d"));
  EXPECT_THAT(change.pairs(), Not(Contains("first W S::c ~ second W S::e")));
}

// `[c]() mutable { c++; }` to `[&c]`: the closure's code is the same.
TEST(SafetyRule, ACopyCapturedByReferenceIsShared) {
  const std::string text = R"(
fn inner() c !lambda in=f
B1 -> B0
  text c++
  text done
fn f() c
B1 -> B0
  #l text [c]
  spawn inner()
  spawn inner()
)";
  const ImpactCase change(text, edit(text, {{"text c++", "text c++ | R local:f:0; W local:f:0"},
                                            {"f() c", "f() c!"},
                                            {"[c]", "[&c]"}}));
  EXPECT_THAT(change.impacted(), ElementsAre("inner R ?", "inner W ?"));
  EXPECT_EQ(change.rule("inner W ?"), ImpactRule::SafetyDropped);
}

}  // namespace
}  // namespace simrt::impact
