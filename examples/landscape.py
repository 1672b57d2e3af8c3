"""The loss on a plane, for a function of your own. Run `python examples/landscape.py`.

Each block is a cell: it reads the same in a notebook.
"""

# %% Any JAX function of a tree of arrays is a loss.
import jax
import jax.numpy as jnp

from piste.landscape import metrics, planes, projection, surface

inputs = jax.random.normal(jax.random.key(0), (64, 4))
targets = jnp.sin(inputs.sum(axis=1))
params = {
    "hidden": jax.random.normal(jax.random.key(1), (16, 4)),
    "bias": jnp.zeros(16),
    "output": jax.random.normal(jax.random.key(2), (1, 16)) / 4,
}


def loss(params):
    hidden = jnp.tanh(inputs @ params["hidden"].T + params["bias"])
    return ((hidden @ params["output"][0] - targets) ** 2).mean()


# %% Train it in any way, and keep some snapshots.
@jax.jit
def step(params):
    return jax.tree.map(lambda w, g: w - 0.1 * g, params, jax.grad(loss)(params))


snapshots = [params]
for number in range(1, 201):
    params = step(params)
    if number % 10 == 0:
        snapshots.append(params)

# %% The plane that holds most of the way, and what it leaves out.
plane, shares = planes.pca(snapshots)
seen = projection.project(loss, plane, snapshots)
print(f"the plane explains {100 * seen.explained_share:.1f} % of the trajectory")
print(
    f"loss at the start: {seen.true_loss[0]:.3f} true, {seen.projected_loss[0]:.3f} seen"
)

# %% Its surface in numbers; other planes are random or those of largest curvature.
for name, chosen in {
    "pca": plane,
    "random": planes.random(params, key=jax.random.key(3)),
    "hessian": planes.hessian(loss, params)[0],
}.items():
    found = metrics.measure(surface.compute(loss, chosen, points=21))
    print(
        f"{name:<8} non-convex {found.non_convex:.2f}  1−R² {found.unexplained:.3f}  "
        f"minima {found.minima}  curvature {found.curvature_max:.3g}"
    )
