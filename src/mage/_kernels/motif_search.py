"""Branch and bound over families of connected sets: the motifs of largest total weight.

A motif S of sign σ is worth σ · (Σ node[i] + Σ pair[i, j] + Σ triple[i, j, k]) over its members, pairs and triples. The
search grows one motif at a time, one vertex at a time, then opens the next. What has been tried at a search node is
closed to its later branches, so every family is met once.
"""

import numpy as np

from mage._core.typing import AnyArray, Floats, Integers
from mage._kernels.jit import kernel

# What an undecided vertex may still do: join the motif under way, or a later positive or negative one.
NOW, LATER_POSITIVE, LATER_NEGATIVE = 0, 1, 2


@kernel
def _top_sum(values: Floats, count: int, most: int) -> float:
    """Sum of the ``most`` largest positive values among the first ``count``; reorders them."""
    part = np.sort(values[:count])
    total = 0.0
    for j in range(count - 1, max(count - 1 - most, -1), -1):
        if part[j] <= 0.0:
            break
        total += part[j]
    return total


@kernel
def split_pairs(node: Floats, pair: Floats, max_nodes: int, rounds: int) -> Floats:
    """Share each pair's weight between its ends so that the search's bound is as low as possible.

    Any skew-symmetric λ leaves Σ over pairs in S unchanged when i sees pair[i, j]/2 + λ[i, j]. The bound takes for each
    i its best partners separately and is therefore a Lagrangian relaxation of "i and j agree on whether they are
    together" (Caprara, Pisinger and Toth, 1999). A subgradient method lowers it.

    Returns:
        What each i sees of each j.
    """
    n = len(node)
    shares = 0.5 * pair
    best = shares.copy()
    lowest = np.inf
    seen = np.zeros((n, n))
    potential = np.empty(n)
    step = 1.0
    stalled = 0
    for _ in range(rounds):
        seen[:] = 0.0
        for i in range(n):
            order = np.argsort(-shares[i])
            total = node[i]
            picked = 0
            for j in order:
                if picked == max_nodes - 1 or shares[i, j] <= 0.0:
                    break
                if j != i:
                    total += shares[i, j]
                    seen[i, j] = 1.0
                    picked += 1
            potential[i] = total
        ranking = np.argsort(-potential)
        bound = 0.0
        chosen = np.zeros(n)
        for position in range(min(max_nodes, n)):
            i = ranking[position]
            if potential[i] <= 0.0:
                break
            bound += potential[i]
            chosen[i] = 1.0
        if bound < lowest - 1e-12 * abs(bound):
            lowest = bound
            best[:] = shares
            stalled = 0
        else:
            stalled += 1
            if stalled == 10:
                step *= 0.5
                stalled = 0
                shares[:] = best
        norm = 0.0
        for i in range(n):
            for j in range(i):
                disagreement = chosen[i] * seen[i, j] - chosen[j] * seen[j, i]
                norm += disagreement * disagreement
        if norm == 0.0:
            break
        size = 0.05 * step * bound / norm
        for i in range(n):
            for j in range(i):
                change = size * (chosen[i] * seen[i, j] - chosen[j] * seen[j, i])
                shares[i, j] -= change
                shares[j, i] += change
    return best


@kernel
def _partner_sum(i: int, most: int, eligible: AnyArray, shares: Floats, ranking: Integers) -> float:
    """Sum of the best ``most`` positive shares that i sees among the eligible."""
    total = 0.0
    picked = 0
    for place in range(len(eligible)):
        j = ranking[i, place]
        share = shares[i, j]
        if picked == most or share <= 0.0:
            break
        if eligible[j] and j != i:
            total += share
            picked += 1
    return total


@kernel
def _cubic_partner_sum(
    i: int, most: int, eligible: AnyArray, coupling: Floats, triple_top: Floats, sign: float, scratch: Floats
) -> float:
    """The same where triples count: half of each pair, and a sixth of the best triples over each pair."""
    width = 0
    for j in range(len(eligible)):
        if eligible[j] and j != i:
            scratch[width] = 0.5 * sign * coupling[i, j] + triple_top[i, j]
            width += 1
    return _top_sum(scratch, width, most)


@kernel
def best_family(
    neighbours: Integers,
    starts: Integers,
    node: Floats,
    pair: Floats,
    triple: Floats,
    shares: Floats,
    ranking: Integers,
    use_sign: AnyArray,
    required: AnyArray,
    forbidden: AnyArray,
    merging: bool,
    num_motifs: int,
    max_nodes: int,
    to_beat: float,
    tolerance: float,
    node_limit: int,
) -> tuple[float, Integers, float, int]:
    """At most ``num_motifs`` disjoint connected sets with at most ``max_nodes`` vertices in all, worth most together.

    Args:
        neighbours: Adjacency lists, one after the other.
        starts: Where each list starts; one more entry than vertices.
        node: Weight of each vertex.
        pair: Weight of each pair, symmetric, zero on the diagonal.
        triple: Weight of each triple, symmetric, zero where two indices agree; of shape [0, 0, 0] where there are none.
        shares: From :func:`split_pairs`, for positive and for negative motifs.
        ranking: For each sign and i, all j by descending share.
        use_sign: Whether positive, and whether negative motifs are looked for.
        required: 1 for vertices that must be in some motif.
        forbidden: 1 for vertices that must be in none.
        merging: True where all weights have one sign, so that adjacent motifs may be merged at no loss.
        num_motifs: m.
        max_nodes: M.
        to_beat: Only families worth more than this are of interest.
        tolerance: What counts as equal.
        node_limit: Give up after this many search nodes.

    Returns:
        The worth of the best family (``to_beat`` if none beats it), each vertex's motif as ±(1 … m) with the motif's
        sign or 0 for none, an upper bound on the worth of any family, and the number of search nodes.
    """
    n = len(node)
    cubic = triple.shape[0] == n
    levels = max_nodes + 2
    # State by depth, which is the number of vertices taken so far.
    motif = np.zeros((levels, n), dtype=np.int64)
    may = np.zeros((levels, 3, n), dtype=np.int8)
    gain = np.zeros((levels, n))
    coupling = np.zeros((levels if cubic else 1, n, n))
    worth = np.zeros(levels)
    opened = np.zeros(levels, dtype=np.int64)
    sign_now = np.zeros(levels)
    level_bound = np.zeros(levels)
    distance = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    eligible = np.zeros((3, n), dtype=np.int8)
    potential = np.empty((3, n))
    top = np.empty(n)
    in_top = np.zeros(n, dtype=np.int8)
    scratch = np.empty(n)
    triple_top = np.zeros((2, n, n))
    best_motif = np.zeros(n, dtype=np.int64)
    best = to_beat
    visited = 0
    first_required = -1
    for i in range(n):
        if required[i] and first_required < 0:
            first_required = i
        for option in (LATER_POSITIVE, LATER_NEGATIVE):
            may[0, option, i] = use_sign[option - 1] and not forbidden[i]
    if cubic:
        for i in range(n):
            for j in range(n):
                if i != j:
                    triple_top[0, i, j] = _top_sum(triple[i, j], n, max_nodes - 2) / 6.0
                    triple_top[1, i, j] = _top_sum(-triple[i, j], n, max_nodes - 2) / 6.0
    depth = 0
    finished = True
    while depth >= 0:
        visited += 1
        if visited > node_limit:
            finished = False
            break
        left = max_nodes - depth
        under_way = opened[depth]
        more_motifs = under_way < num_motifs
        # Who can still join the motif under way: within reach of it through vertices that may join it.
        head, tail = 0, 0
        for i in range(n):
            distance[i] = -1
            if depth > 0 and abs(motif[depth, i]) == under_way:
                distance[i] = 0
                queue[tail] = i
                tail += 1
        while head < tail:
            i = queue[head]
            head += 1
            if distance[i] == left:
                continue
            for place in range(starts[i], starts[i + 1]):
                j = neighbours[place]
                if distance[j] < 0 and may[depth, NOW, j]:
                    distance[j] = distance[i] + 1
                    queue[tail] = j
                    tail += 1
        possible = left > 0
        missing = 0
        for i in range(n):
            free = motif[depth, i] == 0
            eligible[NOW, i] = free and distance[i] > 0
            eligible[LATER_POSITIVE, i] = free and more_motifs and may[depth, LATER_POSITIVE, i]
            eligible[LATER_NEGATIVE, i] = free and more_motifs and may[depth, LATER_NEGATIVE, i]
            if free and required[i]:
                missing += 1
                if not (eligible[0, i] or eligible[1, i] or eligible[2, i]):
                    possible = False
        if missing > left or not possible:
            depth -= 1
            continue
        bound = 0.0
        hopeless = False
        passes = 0
        again = True
        while again:
            again = False
            passes += 1
            # What each vertex could bring at most: what it adds to the motif under way, and its best partners.
            count = 0
            forced = 0.0
            for i in range(n):
                top[i] = -np.inf
                in_top[i] = 0
                for option in range(3):
                    if not eligible[option, i]:
                        continue
                    sign = 0
                    if option == LATER_NEGATIVE or (option == NOW and sign_now[depth] < 0):
                        sign = 1
                    factor = 1.0 - 2.0 * sign
                    value = gain[depth, i] if option == NOW else factor * node[i]
                    if cubic:
                        matrix = coupling[depth] if option == NOW else pair
                        value += _cubic_partner_sum(
                            i, left - 1, eligible[option], matrix, triple_top[sign], factor, scratch
                        )
                    else:
                        value += _partner_sum(i, left - 1, eligible[option], shares[sign], ranking[sign])
                    potential[option, i] = value
                    top[i] = max(top[i], value)
                if top[i] == -np.inf:
                    continue
                if required[i]:
                    forced += top[i]
                elif top[i] > 0.0:
                    place = count
                    while place > 0 and top[queue[place - 1]] < top[i]:
                        queue[place] = queue[place - 1]
                        place -= 1
                    queue[place] = i
                    count += 1
            room = left - missing
            bound = worth[depth] + forced
            for place in range(min(room, count)):
                bound += top[queue[place]]
                in_top[queue[place]] = 1
            # What the last place of a full list is worth: the price for anybody else to come in.
            price = top[queue[room - 1]] if 0 < room <= count else 0.0
            if bound <= best + tolerance:
                hopeless = True
                break
            for i in range(n):
                for option in range(3):
                    if eligible[option, i]:
                        with_it = bound + potential[option, i]
                        if required[i] or in_top[i]:
                            with_it -= top[i]
                        elif room > 0:
                            with_it -= price
                        else:
                            with_it = -np.inf
                        if with_it <= best + tolerance:
                            eligible[option, i] = 0
                            may[depth, option, i] = 0
                            again = passes < 4
                            if merging and option == NOW and distance[i] == 1:
                                may[depth, LATER_POSITIVE, i] = eligible[LATER_POSITIVE, i] = 0
                                may[depth, LATER_NEGATIVE, i] = eligible[LATER_NEGATIVE, i] = 0
        level_bound[depth] = bound
        if hopeless:
            depth -= 1
            continue
        # Grow the motif under way by its most promising neighbour; when it has none left, open the next motif.
        chosen, chosen_option = -1, NOW
        for i in range(n):
            if eligible[NOW, i] and distance[i] == 1 and (chosen < 0 or potential[NOW, i] > potential[NOW, chosen]):
                chosen = i
        if chosen < 0:
            for i in range(n):
                if depth == 0 and first_required >= 0 and i != first_required:
                    continue
                for option in (LATER_POSITIVE, LATER_NEGATIVE):
                    if not eligible[option, i]:
                        continue
                    if chosen < 0 or potential[option, i] > potential[chosen_option, chosen]:
                        chosen, chosen_option = i, option
        if chosen < 0:
            depth -= 1
            continue
        following = depth + 1
        motif[following] = motif[depth]
        may[following] = may[depth]
        if chosen_option == NOW:
            factor = sign_now[depth]
            opened[following] = under_way
            worth[following] = worth[depth] + gain[depth, chosen]
            for i in range(n):
                step = coupling[depth, chosen, i] if cubic else pair[chosen, i]
                gain[following, i] = gain[depth, i] + factor * step
            if cubic:
                coupling[following] = coupling[depth] + triple[chosen]
            may[depth, NOW, chosen] = 0
            if merging:
                may[depth, LATER_POSITIVE, chosen] = 0
                may[depth, LATER_NEGATIVE, chosen] = 0
        else:
            factor = 1.0 if chosen_option == LATER_POSITIVE else -1.0
            opened[following] = under_way + 1
            worth[following] = worth[depth] + factor * node[chosen]
            for i in range(n):
                gain[following, i] = factor * (node[i] + pair[chosen, i])
                may[following, NOW, i] = may[depth, chosen_option, i]
            if cubic:
                coupling[following] = pair + triple[chosen]
            may[depth, chosen_option, chosen] = 0
        sign_now[following] = factor
        motif[following, chosen] = np.int64(factor) * opened[following]
        depth = following
        if worth[depth] > best + tolerance:
            complete = True
            for i in range(n):
                if required[i] and motif[depth, i] == 0:
                    complete = False
                    break
            if complete:
                best = worth[depth]
                best_motif[:] = motif[depth]
    upper = best
    if not finished:
        for level in range(depth + 1):
            upper = max(upper, level_bound[level])
    return best, best_motif, upper, min(visited, node_limit)
