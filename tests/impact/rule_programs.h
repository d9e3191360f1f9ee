// The programs that the tests of several impact rules change.
#pragma once

#include <string>

namespace simrt::impact {

inline const std::string kCounter = R"(
var Counter::mu_ std::mutex mutex
var Counter::log_mu_ std::mutex mutex
var Counter::value_ int
var Counter::last_ int
fn Counter::Add(n) g
B1 -> B0
  guard g this.Counter::mu_
  R this.Counter::value_; W this.Counter::value_
  W this.Counter::last_
  grel g
fn Counter::Get() g
B1 -> B0
  guard g this.Counter::mu_
  R this.Counter::value_
  grel g
)";

inline const std::string kWrapper = R"(
var PortMutex::raw_ pthread_mutex_t mutex
var PortLock::mutex_ PortMutex*
var Cache::mutex_ PortMutex
var Cache::key_ int
fn PortMutex::Lock()
B1 -> B0
  lock this.PortMutex::raw_
fn PortMutex::Unlock()
B1 -> B0
  unlock this.PortMutex::raw_
fn PortLock::PortLock(mutex) !ctor
B1 -> B0
  bind this.PortLock::mutex_ := mutex
  call PortMutex::Lock() on this.PortLock::mutex_
fn PortLock::~PortLock() !dtor
B1 -> B0
  call PortMutex::Unlock() on this.PortLock::mutex_
fn Cache::Put(key) lock
B1 -> B0
  call PortLock::PortLock(&this.Cache::mutex_) on &lock
  W this.Cache::key_
  call PortLock::~PortLock() on &lock
fn Cache::Find(key)
B1 -> B0
  call PortMutex::Lock() on &this.Cache::mutex_
  R this.Cache::key_
  call PortMutex::Unlock() on &this.Cache::mutex_
)";

inline const std::string kHandoff = R"(
var Handoff::payload_ int
var Handoff::ready_ std::atomic<bool> atomic
fn Handoff::Publish(payload)
B1 -> B0
  W this.Handoff::payload_
  #s W this.Handoff::ready_ release
fn Handoff::Take() r
B3 -> B2 F, B1 T
  #l R this.Handoff::ready_ acquire
B2 -> B0
  text return false
B1 -> B0
  R this.Handoff::payload_
)";

inline const std::string kMailbox = R"(
var Mailbox::mu std::mutex mutex
var Mailbox::cv std::condition_variable
var Mailbox::full bool
var Mailbox::message int
fn Mailbox::Send(m) g
B1 -> B0
  guard g this.Mailbox::mu
  W this.Mailbox::message
  W this.Mailbox::full
  notify this.Mailbox::cv
  grel g
fn Mailbox::Receive() g
B1 -> B0
  guard g this.Mailbox::mu
  #w cb Mailbox::Receive::lambda(); wait this.Mailbox::cv
  W this.Mailbox::full
  R this.Mailbox::message
  grel g
fn Mailbox::Receive::lambda() !lambda in=Mailbox::Receive
B1 -> B0
  #r R this.Mailbox::full; bind return := 0
)";

inline const std::string kWorker = R"(
var Worker::thread_ std::thread
var Worker::result_ int
fn Worker::Run(limit)
B1 -> B0
  W this.Worker::result_
fn Worker::RunTwice(limit)
B1 -> B0
  W this.Worker::result_
fn Worker::Start(limit)
B1 -> B0
  #s spawn Worker::Run(limit) on this; start this.Worker::thread_
fn Worker::Finish()
B1 -> B0
  #j join this.Worker::thread_
fn Worker::Result()
B1 -> B0
  R this.Worker::result_
fn test() w
B1 -> B0
  call Worker::Start(0) on &w
  call Worker::Finish() on &w
  call Worker::Result() on &w
)";

inline const std::string kPlain = R"(
var S::a int
var S::b int
fn S::Set(v)
B1 -> B0
  #x W this.S::a
  #y R this.S::b; call Log(0)
fn S::Get()
B1 -> B0
  R this.S::a
  R this.S::b
fn Log(n)
B1 -> B0
  W log_size
var log_size int
)";

}  // namespace simrt::impact
