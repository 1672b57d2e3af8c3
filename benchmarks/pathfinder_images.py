"""How many Pathfinder images one core draws per second, by level and canvas.

Run ``python benchmarks/pathfinder_images.py``.
"""

import argparse
import time

from piste.datasets.pathfinder import PADDLES, PathfinderImages, generate


def rate(settings: PathfinderImages, count: int) -> float:
    """Images per second of this process, once tables are made and code is compiled."""
    generate(settings, 1, seed=0)
    began = time.process_time()
    generate(settings, count, seed=1)
    return count / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=4000, help="images at 32 pixels")
    parser.add_argument("--canvas", type=int, nargs="*", default=[16, 32, 64, 128])
    options = parser.parse_args()
    print(f"{'canvas':<8}{'quirks':<8}" + "".join(f"{level:>14}" for level in PADDLES))
    for canvas in options.canvas:
        count = max(20, min(options.count, options.count * 32**3 // canvas**3))
        for quirks in (False, True):
            rates = [
                rate(PathfinderImages(level, canvas=canvas, quirks=quirks), count)
                for level in PADDLES
            ]
            shown = "".join(f"{found:>12.0f}/s" for found in rates)
            print(f"{canvas:<8}{'yes' if quirks else 'no':<8}{shown}")


if __name__ == "__main__":
    main()
