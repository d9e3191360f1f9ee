// Locks, threads, atomics and other ordering, in the standard library, POSIX and C11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract_testing.h"

namespace simrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Locks, StandardGuards) {
  const UnitFacts unit = facts_of(R"(
#include <chrono>
#include <mutex>
#include <shared_mutex>
std::mutex m1, m2; std::shared_mutex sm; std::timed_mutex tm; int g;
void guard() { std::lock_guard<std::mutex> l(m1); g = 1; }
void shared() { std::shared_lock l(sm); std::scoped_lock both(m1, m2); }
void unique() { std::unique_lock<std::mutex> l(m1, std::defer_lock); l.lock(); l.unlock(); auto k = std::move(l); k.release(); }
void attempt() { std::unique_lock<std::mutex> l(m1, std::try_to_lock); std::unique_lock t(tm, std::chrono::seconds(1)); }
void adopt() { std::lock(m1, m2); std::lock_guard<std::mutex> a(m1, std::adopt_lock); std::scoped_lock b(std::adopt_lock, m2); }
void plain() { m1.lock(); m1.unlock(); sm.lock_shared(); sm.unlock_shared(); if (m2.try_lock()) m2.unlock(); }
std::unique_lock<std::mutex> take() { return std::unique_lock<std::mutex>(m1); }
void taken() { auto l = take(); std::unique_lock<std::mutex> other; other = std::move(l); }
void nameless() { std::lock_guard<std::mutex>{m1}; g = 1; }
struct Holder { std::unique_lock<std::mutex> held; Holder() : held(m1) {} Holder(Holder&& o) : held(std::move(o.held)) {} void drop() { held.unlock(); } ~Holder() {} };
)");
  EXPECT_THAT(event_lines(unit, "guard"),
              ElementsAre("guard-bind guard()::l: m1", "write g", "guard-release guard()::l"));
  EXPECT_THAT(event_lines(unit, "shared"),
              ElementsAre("guard-bind shared shared()::l: sm", "guard-bind shared()::both: m1 m2",
                          "guard-release shared()::both", "guard-release shared shared()::l"));
  EXPECT_THAT(
      event_lines(unit, "unique"),
      ElementsAre("guard-defer unique()::l: m1", "guard-acquire unique()::l", "guard-release unique()::l",
                  "guard-move unique()::k from unique()::l", "guard-move from unique()::k",
                  "guard-release unique()::k", "guard-release unique()::l"));
  EXPECT_THAT(event_lines(unit, "attempt"),
              ElementsAre("guard-defer attempt()::l: m1", "try-acquire attempt()::l: m1",
                          "guard-defer attempt()::t: tm", "try-acquire attempt()::t: tm",
                          "guard-release attempt()::t", "guard-release attempt()::l"));
  EXPECT_THAT(event_lines(unit, "adopt"),
              ElementsAre("acquire: m1 m2", "guard-adopt adopt()::a: m1", "guard-adopt adopt()::b: m2",
                          "guard-release adopt()::b", "guard-release adopt()::a"));
  EXPECT_THAT(event_lines(unit, "plain"),
              ElementsAre("acquire: m1", "release: m1", "acquire shared: sm", "release shared: sm",
                          "try-acquire: m2", "release: m2"));
  EXPECT_THAT(event_lines(unit, "take"), ElementsAre("guard-bind take::return: m1"));
  EXPECT_THAT(event_lines(unit, "taken"),
              ElementsAre("call direct take", "guard-move taken()::l from take::return",
                          "guard-move taken()::other from taken()::l", "guard-release taken()::other",
                          "guard-release taken()::l"));
  EXPECT_THAT(event_lines(unit, "nameless"), ElementsAre("guard-bind nameless()::temporary: m1",
                                                         "guard-release nameless()::temporary", "write g"))
      << "the famous mistake: unlocked at once";
  EXPECT_THAT(event_lines(unit, "Holder::Holder()"), ElementsAre("guard-bind Holder::held of this: m1"));
  EXPECT_THAT(event_lines(unit, "Holder::Holder(Holder &&)"),
              ElementsAre("guard-move Holder::held of this from Holder::held of p0"));
  EXPECT_THAT(event_lines(unit, "Holder::drop"), ElementsAre("guard-release Holder::held of this"));
  EXPECT_THAT(event_lines(unit, "Holder::~Holder"), ElementsAre("guard-release Holder::held of this"));
}

TEST(Locks, OwnLockablesAreCallsAndTheirObjectsStayApart) {
  const UnitFacts unit = facts_of(R"(
#include <mutex>
struct Mutex { void lock() { mu.lock(); } void unlock() { mu.unlock(); } std::mutex mu; };
struct Pair { Mutex a, b; int v; void f(Pair& o) { a.lock(); o.b.lock(); v = 1; o.b.unlock(); a.unlock(); } void g() { std::lock_guard<Mutex> l(b); } };
)");
  EXPECT_THAT(event_lines(unit, "Mutex::lock"), ElementsAre("acquire: Mutex::mu of this"));
  EXPECT_THAT(
      event_lines(unit, "Pair::f"),
      ElementsAre("call direct &Pair::a of this . Mutex::lock", "call direct &Pair::b of p0 . Mutex::lock",
                  "write Pair::v of this", "call direct &Pair::b of p0 . Mutex::unlock",
                  "call direct &Pair::a of this . Mutex::unlock"));
  EXPECT_THAT(event_lines(unit, "Pair::g"),
              ElementsAre("guard-bind Pair::g()::l: Pair::b of this", "guard-release Pair::g()::l"));
}

TEST(Locks, ConditionVariables) {
  const UnitFacts unit = facts_of(R"(
#include <condition_variable>
std::mutex mu; std::condition_variable cv; bool ready;
void producer() { { std::lock_guard<std::mutex> l(mu); ready = true; } cv.notify_one(); cv.notify_all(); }
void consumer() { std::unique_lock<std::mutex> l(mu); cv.wait(l); cv.wait(l, [] { return ready; }); }
)");
  EXPECT_THAT(event_lines(unit, "producer"),
              ElementsAre("guard-bind producer()::l: mu", "write ready", "guard-release producer()::l",
                          "notify-one cv", "notify-all cv"));
  EXPECT_THAT(event_lines(unit, "consumer"),
              ElementsAre("guard-bind consumer()::l: mu", "guard-release consumer()::l", "condition-wait cv",
                          "guard-acquire consumer()::l", "guard-release consumer()::l", "condition-wait cv",
                          "guard-acquire consumer()::l", "call direct consumer::lambda#0",
                          "guard-release consumer()::l"));
}

TEST(Threads, StartsNameEntryObjectAndArguments) {
  const UnitFacts unit = facts_of(R"(
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>
int g; struct W { void operator()(int n) { g = n; } void run(int& out) { out = 1; } std::thread t; int v = 0; std::vector<std::thread> pool;
  void member() { t = std::thread(&W::run, this, std::ref(g)); t.join(); }
  void vector() { pool.emplace_back([this] { v = 1; }); pool.push_back(std::thread([] { g = 2; })); for (auto& th : pool) th.join(); }
  void bound() { std::thread b(std::bind(&W::run, this, std::ref(v))); b.detach(); }
};
void entry(int* p) {}
void plain(void (*f)(int*)) { int local = 0; std::thread t(entry, &local); std::thread u(f, &local); t.join(); u.join(); }
void functor() { std::jthread j(W(), 3); }
void stops() { std::jthread j([](std::stop_token, int* k) { *k = 1; }, &g); }
void async() { auto f = std::async(std::launch::async, entry, &g); f.get(); std::promise<int> p; p.set_value(1); }
void held() { auto t = std::make_unique<std::thread>([] { g = 4; }); t->join(); }
)");
  EXPECT_THAT(event_lines(unit, "W::member"),
              ElementsAre("bind W::run::this := W::member::this", "bind W::run()::out := &g",
                          "call spawn W::member::this . W::run (&g)", "thread-spawn W::t of this",
                          "write W::t of this [whole]", "thread-join W::t of this"));
  const std::vector<std::string> pool = event_lines(unit, "W::vector");
  EXPECT_THAT(pool, Contains("call spawn W::vector::lambda#0"));
  EXPECT_THAT(pool, Contains("call spawn W::vector::lambda#1"));
  EXPECT_THAT(pool, Contains("thread-spawn *W::pool of this").Times(2));
  EXPECT_THAT(pool, Contains("bind W::vector()::th := &*W::pool of this"));
  EXPECT_THAT(pool, Contains("thread-join *W::vector()::th"));
  EXPECT_THAT(pool, Not(Contains(HasSubstr("callback"))));
  EXPECT_THAT(event_lines(unit, "W::bound"),
              ElementsAre("bind W::run::this := W::bound::this", "bind W::run()::out := &W::v of this",
                          "call spawn W::bound::this . W::run (&W::v of this)", "thread-spawn W::bound()::b",
                          "thread-detach W::bound()::b"));
  EXPECT_THAT(event_lines(unit, "plain"),
              ElementsAre("write plain()::local [own-constructor]", "bind entry()::p := &plain()::local",
                          "call spawn entry (&plain()::local)", "thread-spawn plain()::t",
                          "call spawn plain()::f . (thread entry) (&plain()::local)",
                          "thread-spawn plain()::u", "thread-join plain()::t", "thread-join plain()::u"));
  EXPECT_THAT(events_of(unit, "functor"), HasSubstr("W::operator() (?)\nthread-spawn functor()::j"));
  EXPECT_THAT(event_lines(unit, "functor"), Contains("thread-join functor()::j"))
      << "a jthread joins when it dies";
  EXPECT_THAT(event_lines(unit, "stops"),
              ElementsAre("bind stops::lambda#0()::k := &g", "call spawn stops::lambda#0 (&g)",
                          "thread-spawn stops()::j", "thread-join stops()::j"));
  EXPECT_THAT(event_lines(unit, "async"),
              ElementsAre("bind entry()::p := &g", "call spawn entry (&g)", "thread-spawn async()::f",
                          "future-get async()::f", "promise-set async()::p"));
  EXPECT_THAT(event_lines(unit, "held"),
              ElementsAre("call spawn held::lambda#0", "thread-spawn *held()::t", "thread-join *held()::t"));
}

TEST(Atomics, Standard) {
  const UnitFacts unit = facts_of(R"(
#include <atomic>
struct Node { Node* next; int v; };
std::atomic<Node*> head; std::atomic<int> n; std::atomic_flag flag; int plain; std::memory_order chosen;
void orders() { n.store(1, std::memory_order_release); n.load(std::memory_order_acquire); n.fetch_add(1, std::memory_order_relaxed); n.exchange(2, std::memory_order_acq_rel); n.load(chosen); }
void operators() { n = 1; int x = n; n++; n += 2; (void)x; }
void flags() { flag.test_and_set(std::memory_order_acquire); flag.clear(std::memory_order_release); }
void push(Node* node) { node->next = head.load(std::memory_order_relaxed); while (!head.compare_exchange_weak(node->next, node, std::memory_order_acq_rel)) {} }
int first() { return head.load()->v; }
void waits() { n.wait(0); n.notify_one(); std::atomic_thread_fence(std::memory_order_release); std::atomic_ref<int> r(plain); r.store(1); std::atomic_store(&n, 2); }
)");
  EXPECT_THAT(event_lines(unit, "orders"),
              ElementsAre("write n (release)", "read n (acquire)", "read n (relaxed)", "write n (relaxed)",
                          "read n (acq_rel)", "write n (acq_rel)", "read chosen", "read n (relaxed)"))
      << "an order known only when run vouches for nothing";
  EXPECT_THAT(event_lines(unit, "operators"),
              ElementsAre("write n (seq_cst)", "read n (seq_cst)", "read n (seq_cst)", "write n (seq_cst)",
                          "read n (seq_cst)", "write n (seq_cst)"));
  EXPECT_THAT(event_lines(unit, "flags"),
              ElementsAre("read flag (acquire)", "write flag (acquire)", "write flag (release)"));
  EXPECT_THAT(event_lines(unit, "push"),
              ElementsAre("read head (relaxed)", "write Node::next of p0", "bind Node::next of p0 := head",
                          "read head (acq_rel)", "write head (acq_rel)", "write Node::next of p0",
                          "bind head := push()::node", "bind Node::next of p0 := head"));
  EXPECT_THAT(event_lines(unit, "first"),
              ElementsAre("read head (seq_cst)", "read Node::v of head", "bind first::return := ?"));
  EXPECT_THAT(event_lines(unit, "waits"),
              ElementsAre("read n (seq_cst)", "atomic-wait n (seq_cst)", "atomic-notify n", "fence (release)",
                          "bind waits()::r := &plain", "write *waits()::r (seq_cst)", "write n (seq_cst)"));
}

TEST(Atomics, Order) {
  const auto hash = [](const char* order) {
    return function(
               facts_of(
                   std::string(
                       "#include <atomic>\nstd::atomic<int> n; void f() { n.store(1, std::memory_order_") +
                   order + "); }"),
               "f")
        .body;
  };
  EXPECT_NE(hash("release"), hash("relaxed"));
}

TEST(Ordering, LatchesSemaphoresBarriersOnce) {
  const UnitFacts unit = facts_of(R"(
#include <barrier>
#include <latch>
#include <mutex>
#include <semaphore>
std::latch l(2); std::counting_semaphore<4> s(0); std::barrier<> b(2); std::once_flag once; int inited;
void f() { l.count_down(); l.wait(); l.arrive_and_wait(); s.acquire(); s.release(); b.arrive_and_wait(); std::call_once(once, [] { inited = 1; }); }
)");
  EXPECT_THAT(
      event_lines(unit, "f"),
      ElementsAre("latch-arrive l", "latch-wait l", "latch-arrive l", "latch-wait l", "semaphore-acquire s",
                  "semaphore-release s", "barrier-wait b", "once-call once", "call direct f::lambda#0"));
}

// How many threads pass is a value that no access shows: constructions and set-up calls tell the object.
TEST(Ordering, CountsAreValues) {
  const UnitFacts unit = facts_of(R"(
#include <barrier>
#include <latch>
#include <memory>
#include <optional>
#include <pthread.h>
#include <semaphore>
#include <semaphore.h>
class Member { std::latch l{2}; std::counting_semaphore<4> s{1}; std::barrier<> b{2}; };
class Held { std::unique_ptr<std::latch> p = std::make_unique<std::latch>(1); std::optional<std::latch> o{2}; };
struct Aggregate { std::latch l; };
void members() { Member m; Held h; }
void local() { std::latch done(2); Aggregate a{std::latch(3)}; }
sem_t sem; pthread_barrier_t bar;
void posix() { sem_init(&sem, 0, 1); pthread_barrier_init(&bar, nullptr, 2); }
)");
  EXPECT_THAT(event_lines(unit, "Member::Member"),
              testing::IsSupersetOf({"bind Member::l of this := ?", "bind Member::s of this := ?",
                                     "bind Member::b of this := ?"}));
  EXPECT_THAT(event_lines(unit, "Held::Held"),
              testing::IsSupersetOf({"bind *Held::p of this := ?", "bind *Held::o of this := ?"}));
  EXPECT_THAT(event_lines(unit, "local"),
              testing::IsSupersetOf({"bind local()::done := ?", "bind Aggregate::l of l1 := ?"}));
  EXPECT_THAT(event_lines(unit, "posix"), ElementsAre("bind sem := ?", "bind bar := ?"));
}

// What the library makes of a class that has no constructor of its own; bases are told because nothing else
// does.
TEST(Construction, InsideALibraryTemplate) {
  const std::string classes = R"(
#include <memory>
struct Base { virtual ~Base() = default; virtual void run(); };
struct Middle : Base {};
struct Leaf : Middle { void run() override; };
struct Written : Base { Written(int); };
struct Plain { int x; };
namespace { struct Hidden : Base {}; }
)";
  const UnitFacts unit = facts_of(classes + R"(
void makes() { std::unique_ptr<Base> p = std::make_unique<Leaf>(); p = std::make_unique<Hidden>(); p = std::make_unique<Written>(1); auto q = std::make_unique<Plain>(); }
)");
  EXPECT_THAT(event_lines(unit, "makes"),
              testing::IsSupersetOf(
                  {"call direct Leaf::Leaf", "call direct Middle::Middle", "call direct Base::Base",
                   "call direct (anonymous namespace)::Hidden::Hidden", "call direct Written::Written (?)"}));
  EXPECT_THAT(event_lines(unit, "makes"), Not(Contains(HasSubstr("Plain::Plain"))));
  // The same identity as where a unit has a reason to declare the constructor.
  const UnitFacts other = facts_of(classes + "void declares() { Hidden h; Leaf l; }");
  const auto callee = [&](const UnitFacts& where, const char* caller, std::string_view name) {
    for (const Block& block : function(where, caller).blocks)
      for (const Element& element : block.elements)
        for (const Event& event : element.events)
          if (const auto* call = std::get_if<Call>(&event.what); call && call->name.ends_with(name))
            return call->callee;
    ADD_FAILURE() << name;
    return FunctionId{};
  };
  for (const char* name : {"Hidden::Hidden", "Leaf::Leaf"})
    EXPECT_EQ(callee(unit, "makes", name), callee(other, "declares", name)) << name;
}

TEST(Posix, LocksThreadsAndFriends) {
  const UnitFacts unit = facts_of(R"(
#include <pthread.h>
#include <semaphore.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_rwlock_t rw; pthread_cond_t c; sem_t sem; pthread_once_t once = PTHREAD_ONCE_INIT; pthread_spinlock_t spin; pthread_barrier_t bar; int g;
void* entry(void* arg) { *static_cast<int*>(arg) = 1; return nullptr; }
void setup() { g = 5; }
void locks() { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m); pthread_spin_lock(&spin); pthread_spin_unlock(&spin); }
void threads(int* value) { pthread_t t; pthread_create(&t, nullptr, entry, value); pthread_detach(t); }
void others() { sem_wait(&sem); sem_post(&sem); pthread_once(&once, setup); pthread_barrier_wait(&bar); pthread_cond_signal(&c); pthread_cond_broadcast(&c); pthread_mutex_init(&m, nullptr); }
)");
  EXPECT_THAT(event_lines(unit, "locks"),
              ElementsAre("acquire: m", "release: m", "condition-wait c", "acquire: m", "release: m",
                          "acquire shared: rw", "release: rw", "try-acquire: m", "release: m",
                          "acquire: spin", "release: spin"));
  EXPECT_THAT(event_lines(unit, "threads"),
              ElementsAre("bind entry()::arg := threads()::value", "call spawn entry (threads()::value)",
                          "thread-spawn threads()::t", "read threads()::t", "thread-detach threads()::t"));
  EXPECT_THAT(
      event_lines(unit, "others"),
      ElementsAre("semaphore-acquire sem", "semaphore-release sem", "once-call once", "call direct setup",
                  "barrier-wait bar", "notify-one c", "notify-all c", "bind m := ?"));
  EXPECT_EQ(variable(unit, "m").traits & kMutex, kMutex);
}

TEST(C11, ThreadsAndAtomics) {
  const UnitFacts unit = facts_of(Source{R"(
#include <stdatomic.h>
#include <threads.h>
static mtx_t lock; static cnd_t cond; static once_flag once = ONCE_FLAG_INIT; static atomic_int count; static _Atomic long plain; static int total; static _Thread_local int mine;
static int run(void *arg) { *(int *)arg = 1; return 0; }
static void init(void) { total = 1; }
void start(int *p) { thrd_t t; mtx_lock(&lock); cnd_wait(&cond, &lock); mtx_unlock(&lock); call_once(&once, init); thrd_create(&t, run, p); cnd_broadcast(&cond); }
void atomics(int *p) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); plain++; plain = 3; mine = atomic_load(&count); atomic_thread_fence(memory_order_acquire);
  __atomic_store_n(p, 1, __ATOMIC_RELEASE); __sync_fetch_and_add(p, 1); __sync_synchronize(); __asm__ volatile("" ::: "memory"); }
)",
                                         "x.c"});
  EXPECT_THAT(
      event_lines(unit, "start"),
      ElementsAre("acquire: lock", "release: lock", "condition-wait cond", "acquire: lock", "release: lock",
                  "once-call once", "call direct init", "bind run()::arg := start()::p",
                  "call spawn run (start()::p)", "thread-spawn start()::t", "notify-all cond"));
  EXPECT_THAT(event_lines(unit, "atomics"),
              ElementsAre("read count (relaxed)", "write count (relaxed)", "read plain (seq_cst)",
                          "write plain (seq_cst)", "write plain (seq_cst)", "read count (seq_cst)",
                          "write mine [thread-local]", "fence (acquire)", "write *atomics()::p (release)",
                          "read *atomics()::p (seq_cst)", "write *atomics()::p (seq_cst)", "fence (seq_cst)",
                          "fence (seq_cst)"));
}

constexpr const char* kAnnotated = R"(
#define ATTR(x) __attribute__((x))
namespace ext {
class ATTR(capability("mutex")) Mutex { public: void Lock() ATTR(acquire_capability()); void Unlock() ATTR(release_capability()); bool TryLock() ATTR(try_acquire_capability(true)); void AssertHeld() ATTR(assert_capability(this)); };
class ATTR(scoped_lockable) MutexLock { public: explicit MutexLock(Mutex* mu) ATTR(acquire_capability(mu)); ~MutexLock() ATTR(release_capability()); };
class ATTR(scoped_lockable) ReaderLock { public: explicit ReaderLock(Mutex* mu) ATTR(acquire_shared_capability(mu)); ~ReaderLock() ATTR(release_capability()); };
void LockIt(Mutex& m) ATTR(acquire_capability(m));
}
)";

TEST(Attributes, LockFunctionsWithoutBody) {
  Source source{R"(
#include "/opt/ext/mutex.h"
struct R { ext::Mutex mu; int v; ext::Mutex* other;
  void plain() { mu.Lock(); v = 1; mu.Unlock(); }
  void scoped() { ext::MutexLock l(&mu); v = 2; }
  void shared() { ext::ReaderLock l(other); }
  void maybe() { if (mu.TryLock()) mu.Unlock(); mu.AssertHeld(); }
  void free() { ext::LockIt(mu); }
  void needs() ATTR(requires_capability(mu)) { v = 3; }
};
)"};
  source.headers = {{"/opt/ext/mutex.h", kAnnotated}};
  const UnitFacts unit = facts_of(source);
  EXPECT_THAT(event_lines(unit, "R::plain"), Contains("acquire: R::mu of this"));
  EXPECT_THAT(event_lines(unit, "R::plain"), Contains("release: R::mu of this"));
  EXPECT_THAT(event_lines(unit, "R::scoped"),
              ElementsAre("guard-bind R::scoped()::l: R::mu of this", "write R::v of this",
                          "guard-release R::scoped()::l"));
  EXPECT_THAT(event_lines(unit, "R::shared"),
              ElementsAre("read R::other of this", "guard-bind shared R::shared()::l: *R::other of this",
                          "guard-release R::shared()::l"));
  EXPECT_THAT(event_lines(unit, "R::maybe"),
              ElementsAre("try-acquire: R::mu of this", "release: R::mu of this", "assume: R::mu of this"));
  EXPECT_THAT(event_lines(unit, "R::free"), Contains("acquire: R::mu of this"));
  EXPECT_THAT(event_lines(unit, "R::needs"), ElementsAre("assume: R::mu of this", "write R::v of this"));
}

TEST(Attributes, OnTheRepositorysOwnFunctionsChangeNoHash) {
  const char* before =
      "struct __attribute__((capability(\"m\"))) M { void l(); }; struct S { M mu; void f(); }; void S::f() "
      "{ mu.l(); }";
  const char* after =
      "struct __attribute__((capability(\"m\"))) M { void l() __attribute__((acquire_capability())); }; "
      "struct S { M mu; void f(); }; void S::f() { mu.l(); }";
  EXPECT_EQ(function(facts_of(before), "S::f").body, function(facts_of(after), "S::f").body);
}

}  // namespace
}  // namespace simrt::analysis
