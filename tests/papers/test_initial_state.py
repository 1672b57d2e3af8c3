"""What a run begins with, for an experiment of every kind."""

import piste


def test_initial_state_of_every_kind():
    state = piste.initial_state(piste.preset("kernels/thm-1-softmax"))
    assert state["tokens"].shape == (8, 4, 8) and "targets" in state
    small = {"task.train-samples": 8, "task.batch": 8, "task.test-samples": 4}
    small |= {"task.validation-samples": 4}
    state = piste.initial_state(piste.preset("kernels/pathfinder-desk", **small))
    assert state["train.tokens"].shape == (8, 256)
    assert state["blocks.1.query"].shape == (64, 64)
    state = piste.initial_state(piste.preset("decision-lists/empirics"))
    assert {"lists", "permutation"} <= set(state)
