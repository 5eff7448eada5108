"""Where boxes and lines of the picture of the folders stand: layer by layer, so that lines cross least.

A line that passes a layer on its way has a place there as a box has. Such a passage is (target, row), one for all lines
to that target: they run together.
"""

import itertools

ROUNDS = 400
STRAIGHT = 8  # a passing line is so much less willing to bend than a box to move


def with_passages(layers, imports):
    """Rows from the top, of boxes and passages; and for each row the links to the one below."""
    depth = {box: row for row, layer in enumerate(layers) for box in layer}
    rows, links = [list(layer) for layer in layers], [set() for _ in layers]
    arrows = [(source, target) for source in depth for target in imports[source] if target in depth]
    for source, target in sorted(arrows):
        here = source
        for row in range(depth[source] + 1, depth[target] + 1):
            there = target if row == depth[target] else (target, row)
            if there not in rows[row]:
                rows[row].append(there)
            links[row - 1].add((here, there))
            here = there
    return rows, [sorted(pairs, key=str) for pairs in links]


def arranged(rows, links, width, gap, left, right):
    """The rows in a good order, and item → the x of its center, between `left` and `right`."""
    def offsets(row):
        """Where the centers lie if the items stand side by side from 0 on."""
        starts = itertools.accumulate((width(item) + gap for item in row[:-1]), initial=0)
        return [start + width(item) / 2 for start, item in zip(starts, row, strict=True)]

    def in_the_middle(row):
        places = offsets(row)
        shift = (left + right - places[-1] - width(row[-1]) / 2) / 2
        return {item: place + shift for item, place in zip(row, places, strict=True)}

    rows = best_order(rows, links, in_the_middle)
    centers = {item: x for row in rows for item, x in in_the_middle(row).items()}
    neighbours = {item: [] for item in centers}
    for above, below in itertools.chain(*links):
        weight = STRAIGHT if isinstance(above, tuple) and isinstance(below, tuple) else 1
        neighbours[above].append((below, weight))
        neighbours[below].append((above, weight))
    for _ in range(ROUNDS):
        for row in rows:
            wanted = [mean([(centers[other], weight) for other, weight in neighbours[item]] or [(centers[item], 1)])
                      for item in row]
            places = offsets(row)
            shifts = rising([want - place for want, place in zip(wanted, places, strict=True)])
            most = right - places[-1] - width(row[-1]) / 2
            centers |= {item: place + min(max(shift, left), most)
                        for item, place, shift in zip(row, places, shifts, strict=True)}
    ends = [(centers[item] - width(item) / 2, centers[item] + width(item) / 2) for item in centers]
    shift = (left + right - min(start for start, _ in ends) - max(end for _, end in ends)) / 2
    return rows, {item: round(x + shift) for item, x in centers.items()}


def best_order(rows, links, places_of):
    """The rows in the best order that is found from some beginnings, each a turn of the names' order."""
    def cost(rows, only=None):
        """Crossings, then lengths; of all links, or of those to and from one row."""
        places = {item: x for row in rows for item, x in places_of(row).items()}
        crossings = length = 0
        for pairs in links if only is None else links[max(only - 1, 0) : only + 1]:
            ends = [(places[above], places[below]) for above, below in pairs]
            length += sum(abs(above - below) for above, below in ends)
            crossings += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in itertools.combinations(ends, 2))
        return crossings, length

    def improved(rows):
        """No item has a better place in its row while the others have theirs."""
        before = None
        while rows != before:
            before = rows
            for row in [*range(len(rows)), *reversed(range(len(rows)))]:
                rows = min(([*rows[:row], order, *rows[row + 1 :]] for order in moves(rows[row])),
                           key=lambda rows, row=row: cost(rows, row))
        return rows

    turned = [[row[turn % len(row) :] + row[: turn % len(row)] for row in rows] for turn in range(max(map(len, rows)))]
    return min((improved(each) for begin in turned for each in (begin, [row[::-1] for row in begin])), key=cost)


def moves(row):
    """The row as it is, and with one item in another place."""
    yield row
    for start, end in itertools.permutations(range(len(row)), 2):
        others = row[:start] + row[start + 1 :]
        yield [*others[:end], row[start], *others[end:]]


def mean(weighted):
    return sum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)


def rising(values):
    """The nearest values, by least squares, of which none is below the one before (pool adjacent violators)."""
    blocks = []  # (sum, count)
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (total, count), (more, others) = blocks[-2:]
            blocks[-2:] = [(total + more, count + others)]
    return [total / count for total, count in blocks for _ in range(count)]
