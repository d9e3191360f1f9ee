// The model of mutexes and spin locks, for the interposers that share it.
#pragma once

#include <pthread.h>
#include <time.h>

#include "intercept/check/call.h"

namespace simrt::rt {

/// Whether the mutex must stay with libc: robust or shared with other processes.
bool stays_real(const pthread_mutex_t* mutex);
Object& model_of(const pthread_mutex_t* mutex);

/// Error numbers as pthread_mutex_lock and friends return them.
int model_lock(control::Thread* self, Object& lock, uint64_t deadline, uintptr_t pc);
int model_try_lock(control::Thread* self, Object& lock, uintptr_t pc);
int model_unlock(control::Thread* self, Object& lock, uintptr_t pc);

/// Around the wait of a condition variable: all levels of a recursive lock, without points of their own.
uint32_t release_for_wait(control::Thread* self, Object& lock, uintptr_t pc);
void take_after_wait(control::Thread* self, Object& lock, uint32_t depth, uintptr_t pc);

}  // namespace simrt::rt
