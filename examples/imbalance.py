r"""Heavy-tailed class imbalance: gradient flow keeps the rare classes waiting.

    piste reproduce --with examples/imbalance.py imbalance

The simplest setting of Kunstner et al. (2024): class $k\leq c$ has the input $e_k$ and the
frequency $\pi_k\propto 1/k$; logits $We_k$ from $W=0$; population loss $\sum_k\pi_k\ell_k$.
The gradient in column $k$ is $\pi_k(p-e_k)$: columns evolve alone and, by symmetry, through
the margin $m$ of the right logit alone: $\ell_k=\log(1+(c-1)e^{-m})$. With $\tau=\pi_kt$:

- Gradient flow: $\dot m=\pi_kc/(c-1+e^m)$, hence $c\tau=(c-1)m+e^m-1$: one curve in $\tau$
  for all classes. It ends as $\ell_k=\frac{c-1}{c\,\pi_kt}(1+\delta)$ with
  $|\delta|\leq\log(1+c\tau)/(\tau-\log(1+c\tau))$, because $e^m\leq 1+c\tau$.
- Sign descent: every entry moves by $\eta$: $m=2\eta t$, $\ell_k\approx(c-1)e^{-2\eta t}$.
"""

from functools import partial

import jax
import numpy as np
import pandas as pd

from piste import claims, figures, models, papers, probes, rules, tasks, training
from piste import reproduction as repro
from piste.experiment import Experiment, Schedule
from piste.values import option

PAPER = papers.Paper(
    name="imbalance",
    title="Heavy-Tailed Class Imbalance in a Linear Softmax Classifier",
    authors="after Kunstner, Yadav, Milligan, Schmidt and Bietti",
    venue="NeurIPS 2024",
    link="arXiv:2402.19449",
    summary="Classes have frequencies like 1/k. Under gradient flow the loss of class k "
    "falls like 1/(π_k t): rare classes wait. Under sign descent all fall alike.",
    package=__name__,
    presets={
        "flow": papers.Preset("gradient flow, 100 classes", "~5 s"),
        "sign": papers.Preset("sign descent, 100 classes", "~3 s"),
    },
)


@tasks.task("zipf-classes")
class ZipfClasses(tasks.AbstractTask):
    r"""Class $k$ of $c$ has the input $e_k$ and the frequency $\pi_k\propto 1/k$."""

    random = False
    classes: int = option(default=100, minimum=2)

    def datasets(self, loaded, *, seed):
        weights = 1 / np.arange(1.0, self.classes + 1)
        return weights / weights.sum(), None


@models.model("linear-softmax")
class LinearSoftmax(models.AbstractModel):
    random = False

    def draw_weights(self, task, *, key):
        return np.zeros((task.classes, task.classes))


@training.autodiff_form("full", for_task=ZipfClasses, for_model=LinearSoftmax)
class View(training.LossView):
    """The weights with the frequencies: what is differentiated, and what probes see."""

    def class_loss(self):
        wrong = self.weights.at[np.diag_indices(len(self.data))].set(-np.inf)
        return jax.nn.softplus(jax.nn.logsumexp(wrong, 0) - self.weights.diagonal())

    def loss(self):
        return self.data @ self.class_loss()


words = {"symbol": r"$\ell_k$", "meaning": "loss of each class", "dims": ("k",)}
probes.probe("class_loss", of=View, **words)(View.class_loss)

FLOW, SIGN = rules.Flow(time_step=1.0, rtol=1e-9), rules.SignGD(learning_rate=0.01)
train = partial(Experiment, model=LinearSoftmax(), record=Schedule(dense=16))
flow = partial(train, task=ZipfClasses(100), rule=FLOW, steps=2**20)
sign = partial(train, task=ZipfClasses(100), rule=SIGN, steps=2000)
NAMES = {"flow": "gradient flow", "sign": "sign descent"}


def studies(quick):
    few = {"task": ZipfClasses(10)} if quick else {}
    yield repro.RunStudy("flow", NAMES["flow"], (flow(**few),))
    yield repro.RunStudy("sign", NAMES["sign"], (sign(**few),))


def records(evidence, study):
    """A row per record and class: its loss, the late law, both ratios to what we derive."""
    rows = evidence.runs(study)[0].class_loss.to_dataframe().reset_index()
    rows = rows[rows.step > 0]
    c, k, t, loss = rows.k.max() + 1, rows.k + 1, rows.step, rows.class_loss
    pi, m = 1 / k / (1 / np.arange(1, c + 1)).sum(), np.log((c - 1) / np.expm1(loss))
    if study == "flow":
        law, exact = (1 - 1 / c) / (pi * t), ((c - 1) * m + np.expm1(m)) / (c * pi * t)
    else:
        rate = 2 * SIGN.learning_rate
        law, exact = (c - 1) * np.exp(-rate * t), m / (rate * t)
    return rows.assign(study=study, k=k, π=pi, law=law, late=loss / law, exact=exact)


def claim(study, ratio, begin, limit, statement):
    def judge(evidence):
        rows = records(evidence, study)
        error = abs(rows[rows.step >= begin * rows.step.max()][ratio] - 1)
        said = f"relative error ≤ {limit}"
        return [claims.compare("all classes", error, maximum=limit, predicted=said)]

    name = f"{NAMES[study]}, {'at the end' if begin else 'at all times'}"
    return claims.Claim(name, statement, judge, (study,), "losses")


CLAIMS = (
    claim("flow", "exact", 0, 1e-6, "Margins of all k: (c − 1) m + e^m − 1 = c π_k t."),
    claim("flow", "late", 1, 0.01, "Losses of all k: ℓ_k ≈ (1 − 1/c)/(π_k t)."),
    claim("sign", "exact", 0, 1e-9, "Margins of all k: m = 2ηt: ℓ_k ≈ (c−1) e^(−2ηt)."),
)


def some_classes(evidence):
    rows = pd.concat(records(evidence, study) for study in evidence)
    return rows[rows.k.isin([1, 3, 10, 30, 100])].groupby(["study", "k"])


@figures.styled
def losses(evidence):
    figure, axes = figures.canvas(1, len(evidence), 2.7)
    for (study, k), rows in some_classes(evidence):
        is_flow, panel = study == "flow", axes[0, list(evidence).index(study)]
        t, loss, colour = rows.step, rows.class_loss, figures.shade(np.log10(k) / 2)
        panel.plot(t, loss, color=colour, lw=1.8 if is_flow else 6 / k**0.35)
        panel.plot(t, rows.law, "k:", lw=1)
        label = f"$k = {k}$" if is_flow else "all $k$" * (k == 1)
        figures.end_label(panel, float(t.max()), loss.min(), label, colour)
        panel.set(xscale="log" if is_flow else "linear", yscale="log", ylim=(None, 20))
        panel.set(title=NAMES[study], xlabel="$t$", ylabel=r"loss $\ell_k$")
    words = "Losses of some classes. Dotted: (1 − 1/c)/(π_k t) and (c − 1) e^(−2ηt)."
    return figures.Picture(figure, some_classes(evidence).obj, words)


def classes(evidence):
    return some_classes(evidence).last().reset_index()


FIGURES = (repro.Figure("losses", losses),)
TABLES = (repro.Table("classes", "Some classes at the end, and both laws.", classes),)
