"""A first look at piste from Python. Run it with `python examples/first_look.py`.

Each block is a cell: it reads the same in a notebook.
"""

# %% An experiment is a value; change any field by its dotted name.
import piste

experiment = piste.preset("signgd/stages-quick", seed=1)
print(experiment.digest, experiment.task)

# %% Running it gives a labelled dataset of everything the paper looks at.
trajectory = piste.run(experiment, quiet=True)
print(trajectory.query_noise.dims, trajectory.query_noise.attrs["meaning"])

# %% The stages, each with the evidence that cut it.
timeline = piste.stages(trajectory)
print(timeline)
print(timeline.boundaries["II"].sentence())

# %% The claims of the paper, judged on this very run.
for judgement in piste.verify("signgd", trajectory):
    print(judgement.claim.name, "→", judgement.summary_text())

# %% The data and the weights as plain arrays, to check it with code of your own.
state = piste.initial_state(experiment)
v = (state["value_plus"] - state["value_minus"]).mean(axis=0)
by_hand = state["labels"] * (state["tokens"][:, 1] @ v)
difference = abs(by_hand - trajectory.value_noise.isel(step=0).values).max()
print(f"⟨v, y_iξ_i⟩ at t = 0 by hand differs by {difference:.1e}")

# %% One word changed: an experiment that no paper has.
lion = piste.run(
    piste.preset("signgd/stages-quick", rule="lion", steps=400), quiet=True
)
print(f"Lion's training loss after 400 steps: {float(lion.train_loss[-1]):.3f}")

# %% And a picture.
picture = piste.figures.overview(trajectory)
picture.savefig("overview.png", dpi=120)
