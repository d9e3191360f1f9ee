"""Kendall's rank correlation with ties (tau-b), over all points or only between points of one stratum.

M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).
"""
import collections
import math


def tied_terms(values):
    counts = [n for n in collections.Counter(values).values() if n > 1]
    return (sum(n * (n - 1) // 2 for n in counts), sum(n * (n - 1) * (n - 2) for n in counts),
            sum(n * (n - 1) * (2 * n + 5) for n in counts))


def concordance(xs, ys):
    """Concordant less discordant pairs."""
    total = 0
    for i in range(len(xs)):
        for j in range(i):
            product = (xs[i] - xs[j]) * (ys[i] - ys[j])
            total += (product > 0) - (product < 0)
    return total


def tau_b(strata):
    """(tau, two-sided p by the normal approximation, pairs compared) over a list of (xs, ys). A stratum counts where both
    sides vary; None for tau and p where there is none. The approximation takes points as independent."""
    score = free_x = free_y = pairs = 0
    variance = 0.0
    for xs, ys in strata:
        n = len(xs)
        if n < 2:
            continue
        all_pairs = n * (n - 1) // 2
        (x1, x2, x3), (y1, y2, y3) = tied_terms(xs), tied_terms(ys)
        if all_pairs in (x1, y1):
            continue
        pairs += all_pairs
        free_x += all_pairs - x1
        free_y += all_pairs - y1
        score += concordance(xs, ys)
        variance += (n * (n - 1) * (2 * n + 5) - x3 - y3) / 18 + 2 * x1 * y1 / (n * (n - 1))
        if n > 2:
            variance += x2 * y2 / (9 * n * (n - 1) * (n - 2))
    if pairs == 0:
        return None, None, pairs
    return (score / math.sqrt(free_x * free_y), math.erfc(abs(score) / math.sqrt(variance) / math.sqrt(2)), pairs)


def sign_test(wins, losses):
    """Two-sided p that so unequal a split comes from a fair coin."""
    n, k = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n) if n else 1.0
