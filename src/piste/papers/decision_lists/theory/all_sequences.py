r"""Is every sequence classified right, also those of probability 0? Exact answers.

A query $a$ with label-determining token $d$ gets the label $\pi(d)$ rather than $y$ if

    Σ_{b in s} e^{W[b,a]} (V[π(d), b] − V[y, b]) > 0,

a sum over the tokens of the sequence. So for every $a$, $d$ and $y$ the worst sequence is
found by taking the smallest terms, and no sequence has to be listed.

Equal scores make a tie, which counts as wrong. Rounding makes a tie a lead of some 1e-16
times the scores, so whoever judges a lead must ask for more than that.
"""

import math

import numpy as np
from jaxtyping import Bool, Float, Int

from ..tasks import Instance


def label_leads(
    attention: Float[np.ndarray, "token token"],
    value: Float[np.ndarray, "label token"],
    instance: Instance,
    tokens: Int[np.ndarray, "sequence position"],
) -> Float[np.ndarray, "sequence position"]:
    """How far the logit of every label leads in the given sequences.

    With NumPy alone: no program has to be compiled for every number of sequences.
    """
    scores = attention[tokens[:, None, :], tokens[:, :, None]]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    logits = weights @ value.T[tokens]
    labels = np.asarray(instance.labels(tokens))[..., None]
    own = np.take_along_axis(logits, labels, -1)
    np.put_along_axis(logits, labels, -np.inf, -1)
    return own[..., 0] - logits.max(-1)


def ordering_margin(
    attention: Float[np.ndarray, "token token"],
    instance: Instance,
    repeats: bool | None = None,
) -> float:
    r"""Positive if and only if $V = cP$ classifies all sequences perfectly.

    Without repetition the scores must be in the order of the list,
    $W[a_1,a] > … > W[a_m,a] > W[b,a]$. With repetition a token may be outnumbered, so
    leads of $\log(n-1)$ are needed, $\log(n-2)$ if neither token is $a$ itself.
    ``repeats`` says which sequences are meant; by default, as the distribution has them.
    """
    repeats = instance.sequences.repeats if repeats is None else repeats
    leads = [np.inf]
    for a, m in enumerate(instance.list_lengths):
        for k, decider in enumerate(instance.lists[a, :m]):
            later = np.setdiff1d(
                np.arange(instance.vocabulary), instance.lists[a, : k + 1]
            )
            own = (later == a) | (decider == a)
            needed = [_needed_lead(instance, k, size, repeats) for size in (2, 3)]
            lead = attention[decider, a] - attention[later, a]
            leads.append(np.min(lead - np.where(own, *needed), initial=np.inf))
    return float(min(leads))


def _needed_lead(
    instance: Instance, absent: int, distinct: int, repeats: bool
) -> float:
    """The lead needed where so many tokens must be absent and so many must occur."""
    size, n = instance.vocabulary, instance.length
    if n < distinct or (not repeats and n > size - absent):
        return -np.inf
    return math.log(n - distinct + 1) if repeats else 0.0


def worst_case(
    attention: Float[np.ndarray, "token token"],
    value: Float[np.ndarray, "label token"],
    instance: Instance,
    repeats: bool = False,
) -> float:
    """Positive if and only if the two matrices classify all sequences perfectly.

    Sequences are sets of distinct tokens, or with ``repeats`` all of $[L]^n$. Beyond its
    sign the number says little: it is the worst of the sums above, with the largest
    weight 1.
    """
    attention, value = np.asarray(attention), np.asarray(value)
    worst = np.inf
    for a, m in enumerate(instance.list_lengths):
        weights = np.exp(attention[:, a] - attention[:, a].max())
        for k in range(int(m)):
            worst = min(worst, _worst_sum(weights, value, instance, a, k, repeats))
    return float(worst)


def _worst_sum(weights, value, instance: Instance, a: int, k: int, repeats: bool):
    """The smallest sum where place $k$ of the list of $a$ determines the label."""
    decider = int(instance.lists[a, k])
    label = instance.permutation[decider]
    terms = np.delete(weights * (value[label] - value), label, axis=0)
    present = np.unique([a, decider])
    absent = instance.lists[a, :k]
    free = np.setdiff1d(np.arange(instance.vocabulary), np.append(present, absent))
    places = instance.length - present.size
    if places < 0 or (not repeats and places > free.size):
        return np.inf
    sums = terms[:, present].sum(1)
    if places and repeats:
        sums += places * terms[:, np.append(present, free)].min(1)
    elif places:
        sums += np.partition(terms[:, free], places - 1, axis=1)[:, :places].sum(1)
    # A sum that is not a number is no proof that all is right.
    return sums.min() if np.isfinite(sums).all() else -np.inf


def repetition_travel(instance: Instance, scale: float, error: float = 0.0) -> float:
    r"""How far $W$ must be from 0, at least, to classify all of $[L]^n$ right.

    In the sequence $(a, b, …, b)$ with $b$ outside the list of $a$, the label of $a$ is
    right only if $W[a,a] - W[b,a]$ exceeds $\log(n-1)$, a little less where entries of
    $V$ are ``error`` away from $cP$. The smallest column with such a lead on all tokens
    outside has the square norm lead² · (L−m)/(L−m+1).
    """
    if instance.length < 2 or not 0 <= 2 * error < scale:
        return 0.0
    slack = math.log((scale - 2 * error) / (scale + 2 * error))
    lead = max(math.log(instance.length - 1) + slack, 0.0)
    outside = instance.vocabulary - instance.list_lengths
    return lead * math.sqrt((outside / (outside + 1)).sum())


def tied_for_ever(instance: Instance) -> bool:
    r"""Whether some set stays undecided under any training of $W$ from 0 with $V = cP$.

    The score of two tokens that no sequence of positive probability holds together has
    no gradient. If neither $d$ nor $b$ ever meets $a$, both scores stay 0, and a set of
    $a$, $d$ and $b$ in which $d$ determines the label of $a$ stays a tie.
    """
    met = _meetings(instance)
    for a, m in enumerate(instance.list_lengths):
        for k, decider in enumerate(instance.lists[a, :m]):
            later = np.setdiff1d(
                np.arange(instance.vocabulary), instance.lists[a, : k + 1]
            )
            possible = np.isfinite(_needed_lead(instance, k, 3, repeats=False))
            if possible and not met[decider, a] and not met[later, a].all():
                return True
    return False


def _meetings(instance: Instance) -> Bool[np.ndarray, "token token"]:
    """Which two tokens are in one sequence of positive probability."""
    tokens, probability = instance.sequences.rows()
    met = np.eye(instance.vocabulary, dtype=bool)
    for row in tokens[probability > 0]:
        met[np.ix_(row, row)] = True
    return met


def best_without_attention(instance: Instance) -> float:
    r"""The largest share of labels that any $V$ can get right with $W = 0$.

    Uniform attention makes all positions of a sequence alike, so that they get one label;
    at best it is the most frequent one of the sequence.
    """
    tokens, probability = instance.sequences.rows()
    labels = instance.labels(tokens)
    equal = (labels[:, :, None] == labels[:, None, :]).sum(-1)
    return float(probability @ equal.max(1)) / instance.length
