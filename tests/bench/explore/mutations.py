"""Variants of a program whose synchronisation was removed, by mechanical rules over its text.

Each rule is applied at each place where it matches, one place a variant; `locks` removes all locks at once, as the MAP
paper does. Weaker memory orders are left out: controlled executions are sequentially consistent, so they change nothing.
"""
import itertools
import re

# A call on an object, as it is written: `queue.guard`, `node->lock`, `forks[left]`.
OBJECT = r"(?:\w+(?:\[[^\]\n]*\])?(?:\.|->))*\w+(?:\[[^\]\n]*\])?"


def closing(text, at):
    """Index behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def arguments(text):
    """Splits what stands between brackets at commas outside of inner ones."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    parts.append(text[begin:].strip())
    return parts


def calls(text, pattern):
    """(match, arguments, end) of each call; `pattern` ends with an opening bracket."""
    for match in re.finditer(pattern, text):
        end = closing(text, match.end() - 1)
        yield match, arguments(text[match.end():end - 1]), end


def statement_end(text, at):
    return at + 1 if text[at:at + 1] == ";" else None


def edits_guard(text):
    """Declarations of guards."""
    for match, _, end in calls(text, r"(?:const )?std::(?:lock_guard|scoped_lock|unique_lock|shared_lock)(?:<[^;(]*>)? \w+\("):
        if statement_end(text, end):
            yield [(match.start(), end + 1, ";")]


def edits_lock(text):
    """A lock with the unlocks that follow, up to the next lock of the same object."""
    families = [(rf"\b({OBJECT})\.(?:lock|lock_shared)\(\);", r"\b{}\.(?:unlock|unlock_shared)\(\);"),
                (r"\bpthread_mutex_lock\(([^;]*)\);", r"\bpthread_mutex_unlock\({}\);"),
                (r"\bpthread_rwlock_(?:rd|wr)lock\(([^;]*)\);", r"\bpthread_rwlock_unlock\({}\);")]
    for take, give in families:
        found = list(re.finditer(take, text))
        for match in found:
            later = [m.start() for m in found if m.start() > match.start() and m.group(1) == match.group(1)]
            end = min(later, default=len(text))
            unlocks = re.compile(give.format(re.escape(match.group(1)))).finditer(text, match.end(), end)
            yield [(m.start(), m.end(), ";") for m in [match, *unlocks]]


def removed_calls(text, pattern):
    for match, _, end in calls(text, pattern):
        if statement_end(text, end):
            yield [(match.start(), end + 1, ";")]


def edits_wait(text):
    yield from removed_calls(text, rf"\b{OBJECT}\.(?:wait|wait_for|arrive_and_wait|acquire)\(")
    yield from removed_calls(text, r"\b(?:pthread_cond_wait|pthread_barrier_wait|sem_wait)\(")


def edits_notify(text):
    yield from removed_calls(text, rf"\b{OBJECT}\.(?:notify_one|notify_all|release|count_down)\(")
    yield from removed_calls(text, r"\b(?:pthread_cond_signal|pthread_cond_broadcast|sem_post)\(")


def edits_join(text):
    """The thread goes its own way."""
    for match in re.finditer(rf"\b({OBJECT})\.join\(\);", text):
        yield [(match.start(), match.end(), match.group(1) + ".detach();")]
    for match, given, end in calls(text, r"\bpthread_join\("):
        yield [(match.start(), end, f"pthread_detach({given[0]})")]


def edits_split(text):
    """An atomic read-modify-write becomes a load and a store."""
    operators = {"fetch_add": "old + ({})", "fetch_sub": "old - ({})", "fetch_or": "old | ({})",
                 "fetch_and": "old & ({})", "exchange": "({})"}
    for match, given, end in calls(text, rf"\b({OBJECT})\.(fetch_add|fetch_sub|fetch_or|fetch_and|exchange)\("):
        value = operators[match.group(2)].format(given[0])
        yield [(match.start(), end, "[&] {{ auto old = {0}.load(); {0}.store({1}); return old; }}()".format(match.group(1), value))]
    for match, given, end in calls(text, rf"\b({OBJECT})\.compare_exchange_(?:strong|weak)\("):
        yield [(match.start(), end, "[&] {{ auto old = {0}.load(); if (old != {1}) {{ {1} = old; return false; }} "
                "{0}.store({2}); return true; }}()".format(match.group(1), given[0], given[1]))]


def edits_once(text):
    for match, given, end in calls(text, r"\b(?:std::call_once|pthread_once)\("):
        yield [(match.start(), end, "(({})({}), 0)".format(given[1], ", ".join(given[2:])))]


RULES = {"guard": edits_guard, "lock": edits_lock, "wait": edits_wait, "notify": edits_notify, "join": edits_join,
         "split": edits_split, "once": edits_once}


def applied(text, edits):
    for begin, end, instead in sorted(edits, reverse=True):
        text = text[:begin] + instead + text[end:]
    return text


def variants(text, most=1000):
    """{name: text}: "guard1", "guard2", ... up to `most` of each rule, and "locks" where there is more than one lock."""
    made = {}
    for rule, edits_of in RULES.items():
        for number, edits in enumerate(itertools.islice(edits_of(text), most), 1):
            made[f"{rule}{number}"] = applied(text, edits)
    locks = [edit for rule in ("guard", "lock") for edits in RULES[rule](text) for edit in edits]
    if len(list(edits_guard(text))) + len(list(edits_lock(text))) > 1:
        made["locks"] = applied(text, set(locks))
    return made
