"""The paper's statements on stages I to III and on their order, as claims."""

import numpy as np
import xarray as xr

from piste.claims import Claim, Condition, Timeline, Verdict, compare, decide

from .judging import about, at, change, during, each, fit, lacking, pace, reached
from .stages import ALIGNED
from .thresholds import EVEN_SPLIT, LINEAR, NEAR_START, NEGLIGIBLE, SAME_PACE, VOTE

ORDER = ("I", "II", "III", "IVa is o(1)", "IVb ends", "IVc ends")
"""The ends of the stages and of their parts, as the slides have them."""
NINE = (
    "I",
    "II",
    "III",
    "IVa leaves ½",
    "IVa is o(1)",
    "IVb starts",
    "IVb ends",
    "IVc starts",
    "IVc ends",
)


def _order(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """All nine boundaries, and the six ends one after the other."""
    missing = [timeline.boundaries[n] for n in NINE if not timeline.found(n)]
    steps = [timeline.step(name) for name in ORDER]
    ordered = not missing and bool((np.diff([0, *steps]) > 0).all())
    why = "; ".join(f"{b.name}: {b.status}" for b in missing)
    measured = ", ".join(timeline.boundaries[name].when() for name in ORDER)
    return decide(
        **about(run),
        holds=ordered,
        predicted="all nine boundaries, and I < II < III < s₂₁ = o(1) < key aligned < "
        "query aligned",
        measured=f"{measured} ({why})" if missing else measured,
        **lacking(run, missing),
    )


def _begins_after(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """The slides' text: an alignment begins when what comes before it is complete."""
    pairs = (
        ("IVa is o(1)", "IVb starts", "key noise turns when s₂₁ = o(1)"),
        ("IVb ends", "IVc starts", "query noise turns when the key has completed"),
    )
    found = []
    for before, after, words in pairs:
        first, second = timeline.step(before), timeline.step(after)
        done, turns = timeline.boundaries[before].span, timeline.boundaries[after].span
        fine = not (done and turns) or turns[0] >= done[1] or turns[1] < done[0]
        found.append(
            decide(
                **about(run, words),
                holds=bool(second >= first),
                predicted=f"{words}: not before",
                measured=f"turns at t = {timeline.boundaries[after].when()}, the other "
                f"is done at t = {timeline.boundaries[before].when()}",
                needs=[
                    reached(timeline, before, after),
                    Condition("records fine enough to tell", fine),
                ],
                numbers={"turns": second, "done": first},
            )
        )
    return found


def _linear_value(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage I.1: it rises at every record, and by a straight line."""
    later = run.value_noise.mean("sample").sel(
        step=slice(timeline.boundaries["I"].step or 0, None)
    )
    line = fit(later.step.values, later.values)
    falls = int((np.diff(later.values) <= 0).sum())
    said = f"slope {line['slope']:.3g}, R² {line['r2']:.4f}, falls at {falls} of "
    said += f"{later.size - 1} records"
    return decide(
        **about(run),
        holds=line["r2"] >= LINEAR and line["slope"] > 0 and falls == 0,
        predicted=f"mean ⟨v, y_iξ_i⟩ rises at every record after stage I, R² ≥ {LINEAR} "
        "of a straight line",
        measured="no line" if np.isnan(line["r2"]) else said,
        needs=[reached(timeline, "I")],
        numbers=line,
    )


def _near_start(names: dict[str, str], end: str):
    """The RMS change of some quantities up to the end of a stage."""

    def judge(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
        now = at(run, timeline, end)
        return [
            compare(
                **about(run, words),
                measured=change(run, now, name),
                most=NEAR_START,
                predicted=f"RMS change up to the end of {end} ≤ {NEAR_START} of the RMS "
                "at the start",
                needs=[reached(timeline, end)],
            )
            for name, words in names.items()
        ]

    return judge


SIGNALS = {"query_signal": "query signal", "key_signal": "key signal"}
NOISES = {"query_noise": "query noise", "key_noise": "key noise"}


def _negligible(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage I.2: what the value learns of the signal, against the noise."""
    now = at(run, timeline, "II")
    noise = float(np.abs(now.value_noise).mean())
    return compare(
        **about(run, "value signal"),
        measured=abs(float(now.value_signal)) / noise if noise else np.nan,
        most=NEGLIGIBLE,
        predicted=f"|⟨v, μ⟩| ≤ {NEGLIGIBLE} of the mean |⟨v, y_iξ_i⟩| at the end of II",
        needs=[reached(timeline, "I", "II")],
    )


def _aligned(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Stage II.1 and II.2: the signs align, and are evenly split."""
    boundary = timeline.boundaries["II"]
    asked = lacking(run, [timeline.boundaries[name] for name in ("I", "II")])
    asked["needs"] = [*asked["needs"], _not_yet_aligned(run)]
    share = float((at(run, timeline, "II").query_noise > 0).mean())
    return [
        decide(
            **about(run, "alignment"),
            holds=boundary.step is not None,
            predicted=f"query and key noise have one sign in a share ≥ {ALIGNED} of the "
            "pairs, and this lasts as long again",
            measured=boundary.evidence,
            **asked,
        ),
        compare(
            **about(run, "split"),
            measured=abs(share - 0.5),
            most=EVEN_SPLIT,
            predicted=f"positive and negative pairs nearly equal: |share − ½| ≤ "
            f"{EVEN_SPLIT}",
            needs=[reached(timeline, "II")],
            numbers={"positive": share},
        ),
    ]


def _not_yet_aligned(run: xr.Dataset) -> Condition:
    """Signs that agree from the start have not become aligned."""
    first = run.isel(step=0)
    share = float((first.query_noise * first.key_noise > 0).mean())
    name = f"a share of aligned pairs < {ALIGNED} at t = 0"
    return Condition(name, share < ALIGNED, f"{share:.3g}")


def _value_grows(run: xr.Dataset, timeline: Timeline) -> Verdict:
    """Stage II.3: the mean value noise continues to grow."""
    part = during(run, timeline, "I", "II").value_noise.mean("sample")
    return compare(
        **about(run, "value noise"),
        measured=np.diff(part.values),
        least=float(np.finfo(float).tiny),
        bounded=True,
        predicted="mean ⟨v, y_iξ_i⟩ rises at every record of stage II",
        needs=[reached(timeline, "I", "II")],
    )


def _stage_two(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    signals = _near_start(SIGNALS, "II")(run, timeline)
    return [_value_grows(run, timeline), *signals]


def _majority(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Stage III.1 and III.2, both directions, and that the signs are opposite."""
    now = at(run, timeline, "II")
    query = np.sign(run.query_signal.isel(step=-1))
    key = np.sign(run.key_signal.isel(step=-1))
    by_key = np.sign(now.key_noise.sum("sample"))
    by_query = np.sign(now.query_noise.sum("sample"))
    shares = {
        "Σ_i⟨w_K,s, y_iξ_i⟩ decides the sign of ⟨w_Q,s, μ⟩": by_key * query > 0,
        "Σ_i⟨w_Q,s, y_iξ_i⟩ decides −⟨w_K,s, μ⟩": by_query * key < 0,
        "⟨w_K,s, μ⟩ has the opposite sign of ⟨w_Q,s, μ⟩": query * key < 0,
    }
    return [
        compare(
            **about(run, words),
            measured=float(agree.mean()),
            least=VOTE,
            bounded=True,
            predicted=f"for a share ≥ {VOTE} of the neurons (vote at the end of II, "
            "signals at the last step)",
            needs=[reached(timeline, "II", "III")],
        )
        for words, agree in shares.items()
    ]


def _same_pace(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    """Stage III.3: the other quantities go on as in stage II."""
    before = during(run, timeline, "I", "II")
    here = during(run, timeline, "II", "III")
    found = []
    for name, words in (NOISES | {"value_noise": "value noise"}).items():
        rates = pace(before, name), pace(here, name)
        alike = np.log(rates[1] / rates[0]) if min(rates) > 0 else np.nan
        found.append(
            compare(
                **about(run, words),
                measured=float(np.exp(abs(alike))),
                most=SAME_PACE,
                predicted=f"the mean size grows in III as in II, within a factor "
                f"{SAME_PACE}",
                needs=[reached(timeline, "I", "II", "III")],
                numbers={"rate in II": rates[0], "rate in III": rates[1]},
            )
        )
    return found


def _others_in_one(run: xr.Dataset, timeline: Timeline) -> list[Verdict]:
    changes = _near_start(SIGNALS | NOISES, "I")(run, timeline)
    return [*changes, _negligible(run, timeline)]


CLAIMS = (
    Claim(
        "four stages, in order",
        "Training passes through four stages: I, II, III, then softmax decay and the "
        "alignment of key and query noise.",
        each(_order),
        needs=("stages",),
        figure="overview",
    ),
    Claim(
        "I: mean value noise grows linearly",
        "The mean value noise increases monotonically and stabilises into a linear "
        "relation with t.",
        each(_linear_value),
        needs=("stages",),
        figure="value_noise",
    ),
    Claim(
        "I: other quantities stay near their start",
        "During stage I the other quantities stay close to initialisation, and the mean "
        "value signal becomes negligible.",
        each(_others_in_one),
        needs=("stages",),
        figure="value_noise",
        remark="Near: the root mean square of the change against that of the start.",
    ),
    Claim(
        "II: signs align, evenly split",
        "Query and key noise align their signs; positive and negative neurons are nearly "
        "equal in number.",
        each(_aligned),
        needs=("stages",),
        figure="snapshots",
    ),
    Claim(
        "II: value noise grows, signals stay",
        "In stage II the mean value noise continues to grow, and query and key signals "
        "stay close to initialisation.",
        each(_stage_two),
        needs=("stages",),
        figure="query_key",
    ),
    Claim(
        "III: majority voting",
        "The key noise of a neuron votes for the sign of its query signal, its query noise "
        "for the opposite sign of its key signal.",
        each(_majority),
        needs=("stages",),
        figure="query_key",
    ),
    Claim(
        "III: other quantities go on as before",
        "The dynamics of the other quantities are unchanged in stage III.",
        each(_same_pace),
        needs=("stages",),
        figure="query_key",
    ),
    Claim(
        "IV: one alignment begins when the other is complete",
        "When softmax outputs are small enough the key noise begins to align; when it "
        "has completed, the query noise begins.",
        each(_begins_after),
        needs=("stages",),
        figure="stage_times",
        remark="The slides' words. Begins: the lowest point of the mean noise of the "
        "losing side.",
    ),
)
