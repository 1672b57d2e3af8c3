"""Contours and distractors, grown paddle by paddle in compiled code.

One image at a time, with a random stream of its own. A *snake* is five whole numbers: the
row and column of its pivot, its heading, and the row and column of its last stamp. A
*path* has the last three for each of its paddles.

All compiled code is in this file, because numba looks at no other when it decides whether
what it kept on disk is still good. It is written in scalars: slices are slow to compile.
"""

import inspect

import numpy as np
from numba import njit

PADDLE_TRIES = 3
DISTRACTOR_TRIES = 5
FULL = 459
"""Two stamps overlap where their sum reaches 1.8 of 255."""
FREE = 76
"""A pixel is free up to 0.3 of 255."""
DARK = 38
"""A pixel of a stroke is dark up to 0.15 of 255, a quarter of the stroke's peak."""
LEAST_WEIGHT = 1e-4
LEAST_FREE = 0.01


def compiled(function):
    """Compile at the first call, and keep the code on disk where that is possible."""
    # While tests run, functions come wrapped in a check of their annotations.
    plain = inspect.unwrap(function)
    try:
        return njit(cache=True, nogil=True)(plain)
    except RuntimeError:  # no folder to write to
        return njit(nogil=True)(plain)


# --- random numbers: SplitMix64 (Steele, Lea and Flood 2014), a stream for each image -


@compiled
def _mixed(bits):
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def start_stream(seed, index, state):
    """Begin the stream of one image."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    state[0] = _mixed(_mixed(seed + golden) + np.uint64(index) * golden)


@compiled
def uniform(state):
    """A number in [0, 1) with 53 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return (_mixed(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def below(count, state):
    """A whole number in [0, count)."""
    return np.int64(uniform(state) * count)


# --- stamps on the canvas -------------------------------------------------------------


@compiled
def _copy(source, target):
    for row in range(target.shape[0]):
        for column in range(target.shape[1]):
            target[row, column] = source[row, column]


@compiled
def paint(canvas, stamps, heading, row, column):
    """Put a stamp at a place, the brighter of the two everywhere."""
    half, size = stamps.shape[1] // 2, canvas.shape[0]
    for y in range(max(0, row - half), min(size, row + half + 1)):
        for x in range(max(0, column - half), min(size, column + half + 1)):
            level = stamps[heading, y - row + half, x - column + half]
            canvas[y, x] = max(canvas[y, x], level)


@compiled
def _fits(canvas, stamps, heading, row, column):
    half, size = stamps.shape[1] // 2, canvas.shape[0]
    for y in range(max(0, row - half), min(size, row + half + 1)):
        for x in range(max(0, column - half), min(size, column + half + 1)):
            level = np.int64(stamps[heading, y - row + half, x - column + half])
            if level + np.int64(canvas[y, x]) >= FULL:
                return False
    return True


# --- one more paddle ------------------------------------------------------------------


@compiled
def extend(snake, taken, tables, sums, state):
    """Add a paddle to a snake if there is room; its last one is then in the way."""
    heading = snake[2]
    row = snake[0] + tables.steps[heading, 0]
    column = snake[1] + tables.steps[heading, 1]
    total = _weigh(heading, row, column, taken, tables, sums)
    if total < LEAST_WEIGHT:
        return False
    for _ in range(PADDLE_TRIES):
        k = _chosen(sums, uniform(state) * total)
        y, x = row + tables.candidates[k, 0], column + tables.candidates[k, 1]
        if _fits(taken, tables.places, 360 + k, y, x):
            paint(taken, tables.places, heading, snake[3], snake[4])
            _put(snake, row, column, 360 + k, y, x)
            return True
    return False


@compiled
def _put(snake, row, column, heading, stamp_row, stamp_column):
    snake[0], snake[1], snake[2] = row, column, heading
    snake[3], snake[4] = stamp_row, stamp_column


@compiled
def _weigh(heading, row, column, taken, tables, sums):
    """Cumulative weights of the candidates: small turns into free pixels."""
    size, total = taken.shape[0], 0.0
    for k in range(sums.size):
        y, x = row + tables.candidates[k, 0], column + tables.candidates[k, 1]
        weight = tables.turns[heading, k]
        if weight > 0 and 0 <= y < size and 0 <= x < size:
            total += weight * (1 - _largest(taken, tables.near, y, x) / 255)
        sums[k] = total
    return total


@compiled
def _largest(canvas, offsets, row, column):
    """The largest of the pixels at these offsets that are on the canvas."""
    size, found = canvas.shape[0], 0
    for k in range(offsets.shape[0]):
        y, x = row + offsets[k, 0], column + offsets[k, 1]
        if 0 <= y < size and 0 <= x < size:
            found = max(found, np.int64(canvas[y, x]))
    return found


@compiled
def _chosen(sums, number):
    """The first candidate whose cumulative weight is above a number."""
    k = 0
    while k < sums.size - 1 and sums[k] <= number:
        k += 1
    return k


# --- the two contours -----------------------------------------------------------------


@compiled
def _seed(snake, heading, row, column, size, tables):
    """Put a first paddle here; whether its ends are on the canvas."""
    pivot_row = row + tables.pivots[heading, 0]
    pivot_column = column + tables.pivots[heading, 1]
    _put(snake, pivot_row, pivot_column, heading, row, column)
    y, x = row + tables.heads[heading, 0], column + tables.heads[heading, 1]
    low = min(pivot_row, pivot_column, y, x)
    return low >= 0 and max(pivot_row, pivot_column, y, x) < size


@compiled
def _seed_both(one, other, size, tables, state):
    heading = below(360, state)
    count = tables.origin_counts[heading]
    if count == 0:
        return False
    place = below(count, state)
    row, column = tables.origins[heading, place, 0], tables.origins[heading, place, 1]
    if not _seed(one, heading, row, column, size, tables):
        return False
    for _ in range(PADDLE_TRIES):
        heading, place = below(360, state), below(360, state)
        y, x = row + tables.ring[place, 0], column + tables.ring[place, 1]
        if _seed(other, heading, y, x, size, tables):
            return True
    return False


@compiled
def _note(path, paddle, snake):
    for part in range(3):
        path[paddle, part] = snake[2 + part]


@compiled
def grow_both(path, other_path, snake, other, taken, tables, sums, state):
    """Grow two contours in turn; the paths get every stamp."""
    if not _seed_both(snake, other, taken.shape[0], tables, state):
        return False
    _note(path, 0, snake)
    _note(other_path, 0, other)
    for paddle in range(1, path.shape[0]):
        if not extend(snake, taken, tables, sums, state):
            return False
        if not extend(other, taken, tables, sums, state):
            return False
        _note(path, paddle, snake)
        _note(other_path, paddle, other)
    # as in the original, the last paddle of the first contour is not in the way
    paint(taken, tables.places, other[2], other[3], other[4])
    return True


# --- distractors ----------------------------------------------------------------------


@compiled
def _find_free(heading, taken, free, tables):
    """List the tails at which a first paddle would fill free pixels only."""
    size, pixels = taken.shape[0], tables.print_sizes[heading]
    count = 0
    for row in range(size):
        for column in range(size):
            k = 0
            while k < pixels:
                y = row + tables.prints[heading, k, 0]
                x = column + tables.prints[heading, k, 1]
                if 0 <= y < size and 0 <= x < size and taken[y, x] > FREE:
                    break
                k += 1
            free[count] = row * size + column
            count += k == pixels
    return count


@compiled
def _is_full(taken):
    """Whether hardly a pixel is free."""
    count = 0
    for row in range(taken.shape[0]):
        for column in range(taken.shape[1]):
            count += taken[row, column] <= FREE
    return count < LEAST_FREE * taken.size


@compiled
def _seed_distractor(snake, taken, free, tables, state):
    if _is_full(taken):
        return False
    for _ in range(PADDLE_TRIES):
        heading = below(360, state)
        count = _find_free(heading, taken, free, tables) if tables.open[heading] else 0
        if count == 0:
            return False
        tail, size = free[below(count, state)], taken.shape[0]
        if _seed(snake, heading, tail // size, tail % size, size, tables):
            return True
    return False


@compiled
def _grow_distractor(path, snake, taken, free, tables, sums, state):
    if not _seed_distractor(snake, taken, free, tables, state):
        return False
    _note(path, 0, snake)
    for paddle in range(1, path.shape[0]):
        if not extend(snake, taken, tables, sums, state):
            return False
        _note(path, paddle, snake)
    paint(taken, tables.places, snake[2], snake[3], snake[4])
    return True


@compiled
def add_distractors(drawn, attempts, path, snake, taken, tables, sums, state):
    """Draw distractors one after another; how many found a place."""
    free, before = np.empty(taken.size + 1, np.int64), np.empty_like(taken)
    placed = 0
    for _ in range(attempts):
        for _ in range(DISTRACTOR_TRIES):
            _copy(taken, before)
            if _grow_distractor(path, snake, taken, free, tables, sums, state):
                draw(drawn, path, tables)
                placed += 1
                break
            _copy(before, taken)
    return placed


@compiled
def draw(drawn, path, tables):
    """Paint all strokes of a path."""
    for k in range(path.shape[0]):
        paint(drawn, tables.strokes, path[k, 0], path[k, 1], path[k, 2])


# --- whole images ---------------------------------------------------------------------


@compiled
def fill(seed, numbers, attempts, limit, apart, empty, tables, lengths, out):
    """Draw the images of some numbers; the place of one that failed, or -1.

    ``apart`` is the least distance of the markers and the gap between the contours,
    ``lengths`` are the paddles of a contour and of a distractor; ``out`` has room for the
    images, and what is known of each.
    """
    state, sums = np.zeros(1, np.uint64), np.zeros(tables.candidates.shape[0])
    snake, other = np.zeros(5, np.int64), np.zeros(5, np.int64)
    path = np.zeros((lengths[0], 3), np.int64)
    other_path = np.zeros_like(path)
    short, taken = np.zeros((lengths[1], 3), np.int64), empty.copy()
    one, two = empty.copy(), empty.copy()
    for k in range(out.labels.size):
        start_stream(seed, numbers[k], state)
        out.labels[k], out.marked[k] = below(2, state), below(2, state)
        grown = False
        while not grown and out.starts[k] < limit:
            out.starts[k] += 1
            _copy(empty, taken)
            grown = grow_both(
                path, other_path, snake, other, taken, tables, sums, state
            )
            if grown and apart[0] > 0:
                start, end = path, other_path
                if out.marked[k] == 1:
                    start, end = other_path, path
                if out.labels[k] == 1:
                    end = start
                grown = _are_apart(start, end, apart[0])
            if grown and apart[1] > 0:
                grown = _have_gap(
                    path, other_path, tables, np.int64(apart[1]), one, two
                )
        if not grown:
            return k
        _report(k, 0, path, tables, out)
        _report(k, 1, other_path, tables, out)
        out.placed[k] = add_distractors(
            out.distractors[k], attempts, short, snake, taken, tables, sums, state
        )
    return -1


@compiled
def _are_apart(start, end, distance):
    """Whether the first point of a path and the last one of a path are so far apart."""
    rows, columns = start[0, 1] - end[-1, 1], start[0, 2] - end[-1, 2]
    return rows * rows + columns * columns >= distance * distance


@compiled
def _have_gap(path, other_path, tables, gap, one, two):
    """Whether so many dark pixels lie between any lit ones of two contours."""
    for canvas, own in ((one, path), (two, other_path)):
        for row in range(canvas.shape[0]):
            for column in range(canvas.shape[1]):
                canvas[row, column] = 0
        draw(canvas, own, tables)
    size = one.shape[0]
    for row in range(size):
        for column in range(size):
            if one[row, column] <= DARK:
                continue
            for y in range(max(0, row - gap), min(size, row + gap + 1)):
                for x in range(max(0, column - gap), min(size, column + gap + 1)):
                    if two[y, x] > DARK:
                        return False
    return True


@compiled
def _report(k, contour, path, tables, out):
    draw(out.contours[k], path, tables)
    out.headings[k, contour] = path[0, 0] - 180
    for axis in range(2):
        out.origins[k, contour, axis] = path[0, 1 + axis]
        out.terminals[k, contour, axis] = path[-1, 1 + axis]
