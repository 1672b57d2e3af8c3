"""Settle what a rule leaves open until the form and its start are known."""

import dataclasses

from piste.rules import Flow, Rule

from ._base import AbstractForm


def settled(rule: Rule, form: AbstractForm) -> Rule:
    """The rule with every ``auto`` replaced by what it means for this form."""
    if isinstance(rule, Flow) and rule.solver == "auto":
        solver = "kvaerno5" if form.stiff(rule.time_step) else "tsit5"
        return dataclasses.replace(rule, solver=solver)
    return rule
