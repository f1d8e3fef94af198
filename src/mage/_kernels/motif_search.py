"""Branch and bound over families of connected sets: the motifs of largest total weight.

The search grows one motif at a time, one vertex at a time, then opens the next. At each search node an undecided vertex
has three options: to join the motif under way (0), or a later motif of the first side (1) or of the second (2). What
has been tried at a search node is closed to its later branches, so every family is met once.

The state of depth d, at which d vertices are taken, lies in rows 3d + option of ``may`` (open or closed), ``gain``
(what the vertex adds by joining), ``sides`` (whose weights count) and ``slots`` (which block of ``seen`` counts).
"""

import numpy as np

from mage._core.typing import Floats, Integers
from mage._kernels.jit import kernel


@kernel
def best_family(
    starts: Integers,
    neighbours: Integers,
    seen: Floats,
    ranking: Integers,
    view_starts: Integers,
    view_others: Integers,
    view_shares: Floats,
    join_starts: Integers,
    join_pairs: Integers,
    join_shares: Floats,
    may: Integers,
    gain: Floats,
    sides: Integers,
    slots: Integers,
    opened: Integers,
    taken: Integers,
    path: Integers,
    worth: Floats,
    bounds: Floats,
    reach: Integers,
    queue: Integers,
    potential: Floats,
    partners: Floats,
    merging: int,
    num_motifs: int,
    max_nodes: int,
    to_beat: float,
    tolerance: float,
    node_limit: int,
) -> tuple[float, int, int]:
    """At most ``num_motifs`` disjoint connected sets with at most ``max_nodes`` vertices in all, worth most together.

    The bound: what the vertices X of an option add, Σ gain[i] + Σ coupling[i, j] + Σ weight[i, j, k], is at most the
    sum over i in X of gain[i] and the best partners of i, each judged by what i sees of it. What i and j see adds up to
    their coupling, and likewise for triples, so any division between them gives a bound; see
    :mod:`mage.motifs.solvers.relaxation` for how good ones are found.

    Everything is allocated by the caller and all integers have 64 bits: both halve the time to compile.

    Args:
        starts: Where the list of each vertex starts in ``neighbours``; one more entry than vertices.
        neighbours: Adjacency lists, one after the other.
        seen: What i sees of j, row slot · n + i; −∞ on the diagonal. Slots 0 and 1 are those of the two sides, slot
            d + 1 is written at depth d where there are triples.
        ranking: All j by falling share that i sees of them, row side · n + i.
        view_starts: Where the list of (i, j) starts, row side · n + i; one more column than vertices.
        view_others: Third vertices k of the triples that i sees with j.
        view_shares: What i sees of the triple, where positive; or, negative, the price that i pays for having both j
            and k. Within a list the positive ones come last, in falling order.
        join_starts: Where the list of each vertex starts in ``join_pairs``.
        join_pairs: Pairs (i, j) whose view changes when the vertex joins.
        join_shares: By how much, for each side.
        may: 1 for what is open; rows 1 and 2 are given.
        gain: Rows 3d + 1 and 3d + 2 are given: what a vertex is worth alone, on each side.
        sides: 3d + 1 and 3d + 2 are given: 0 and 1.
        slots: 3d + 1 and 3d + 2 are given: 0 and 1.
        opened: Motifs opened so far, by depth.
        taken: The vertex taken last, by depth.
        path: Row 0 receives the vertices of the best family, row 1 their motifs; path[0, 0] their number.
        worth: Worth of the vertices taken so far, by depth.
        bounds: Upper bounds by depth.
        reach: Room for a number per vertex.
        queue: Room for a number per vertex.
        potential: Room for four numbers per vertex.
        partners: Room for a number per vertex after a first one, which is infinite.
        merging: 1 where no weight is negative and one side counts, so that adjacent motifs may be merged at no loss.
        num_motifs: m.
        max_nodes: M.
        to_beat: Only families worth more than this are of interest.
        tolerance: What counts as equal.
        node_limit: Give up after this many search nodes.

    Returns:
        The worth of the best family (``to_beat`` if none beats it), the depth where the search stopped (−1 where it is
        complete) and the number of search nodes.
    """
    n = len(reach)
    plain = len(view_others) == 0
    best = to_beat
    limit = best + tolerance
    visited = 0
    depth = 0
    while depth >= 0 and visited < node_limit:
        visited += 1
        now = 3 * depth
        left = max_nodes - depth
        # Who can still join the motif under way: within reach of it through vertices that may join it.
        for i in range(n):
            reach[i] = -may[now, i]
        tail = 0
        for level in range(1, depth + 1):
            if opened[level] == opened[depth]:
                queue[tail] = taken[level]
                tail += 1
        head = 0
        while head < tail:
            i = queue[head]
            head += 1
            for place in range(starts[i], starts[i + 1]):
                j = neighbours[place]
                if reach[j] < 0:
                    reach[j] = reach[i] + 1
                    queue[tail] = j
                    tail += 1
        # What each vertex could bring at most by each option, and (row 3) by the best of them.
        for i in range(n):
            if reach[i] < 0 or reach[i] > left:
                may[now, i] = 0
            elif merging * reach[i] == 1:
                may[now + 1, i] = 0
                may[now + 2, i] = 0
        for i in range(n):
            highest = 0.0
            for option in range(3):
                row = now + option
                if may[row, i] > 0:
                    ours = n * sides[row] + i
                    line = n * slots[row] + i
                    value = gain[row, i]
                    # The largest shares so far lie in partners[1 … width], in falling order; partners[0] is infinite.
                    width = 0
                    for rank in range(n):
                        j = ranking[ours, rank]
                        share = seen[line, j]
                        if plain and (share <= 0.0 or width == left - 1):
                            break
                        if may[row, j] > 0:
                            picked = 2
                            for place in range(view_starts[ours, j], view_starts[ours, j + 1]):
                                if picked < left and may[row, view_others[place]] > 0:
                                    share += view_shares[place]
                                    if view_shares[place] > 0.0:
                                        picked += 1
                                    else:
                                        value -= 0.5 * view_shares[place]
                            if share > 0.0 and width < left - 1:
                                width += 1
                                partners[width] = 0.0
                            if share > partners[width]:
                                place = width
                                while partners[place - 1] < share:
                                    partners[place] = partners[place - 1]
                                    place -= 1
                                partners[place] = share
                    for place in range(1, width + 1):
                        value += partners[place]
                    potential[option, i] = value
                    highest = value if value > highest else highest
            potential[3, i] = highest
        # The largest potentials make the bound; what the last of them is worth is the price for others to come in.
        bound = worth[depth]
        price = 0.0
        for i in range(n):
            highest = potential[3, i]
            rank = 0
            for j in range(n):
                if potential[3, j] > highest or (potential[3, j] == highest and j < i):
                    rank += 1
            if rank < left:
                bound += highest
                price = highest if rank == left - 1 else price
        bounds[depth] = bound
        # Close what cannot be part of a better family. Grow the motif under way by its most promising neighbour; where
        # it has none left, open the next motif.
        chosen = -1
        choice = 0
        highest = -np.inf
        for option in range(3):
            for i in range(n):
                if may[now + option, i] > 0:
                    value = potential[option, i]
                    leaving = potential[3, i] if potential[3, i] > price else price
                    if bound + value - leaving <= limit:
                        may[now + option, i] = 0
                    elif value > highest and (option > 0 or reach[i] == 1):
                        chosen = i
                        choice = option
                        highest = value
            if option == 0 and chosen >= 0:
                highest = np.inf
        if chosen < 0:
            depth -= 1
            continue
        row = now + choice
        first = n * slots[row]
        may[row, chosen] = 0
        depth += 1
        now += 3
        worth[depth] = worth[depth - 1] + gain[row, chosen]
        opened[depth] = opened[depth - 1] + (choice > 0)
        taken[depth] = chosen
        sides[now] = sides[row]
        slots[now] = slots[row]
        later = (opened[depth] < num_motifs) * (depth < max_nodes)
        for i in range(n):
            gain[now, i] = gain[row, i] + seen[first + chosen, i] + seen[first + i, chosen]
            may[now, i] = may[row, i]
            may[now + 1, i] = may[now - 2, i] * later
            may[now + 2, i] = may[now - 1, i] * later
        may[now + 1, chosen] = 0
        may[now + 2, chosen] = 0
        if len(join_pairs) > 0:
            slots[now] = depth + 1
            line = n * (depth + 1)
            for i in range(n):
                for j in range(n):
                    seen[line + i, j] = seen[first + i, j]
            for place in range(join_starts[chosen], join_starts[chosen + 1]):
                seen[line + join_pairs[place, 0], join_pairs[place, 1]] += join_shares[sides[now], place]
        if worth[depth] > limit:
            best = worth[depth]
            limit = best + tolerance
            path[0, 0] = depth
            for level in range(1, depth + 1):
                path[0, level] = taken[level]
                path[1, level] = opened[level]
    return best, depth, visited
