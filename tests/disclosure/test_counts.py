"""From the numbers of rows that a shared report shows, nobody can compute a small one."""

from itertools import product

from clinclust.disclosure.counts import are_small_rows
from clinclust.files.row_choice import RowCounts


def shown(counts, n_subjects, threshold):
    """Return what a reader sees: all numbers, or only that of the subjects."""
    return None if are_small_rows(counts, n_subjects, threshold) else counts


def test_shown_numbers_hold_no_small_one_and_withheld_ones_could_be_any():
    threshold, n_subjects, sizes = 4, 10, range(7)
    all_counts = [
        (not_meeting, unknown, further, after, outside)
        for not_meeting, unknown, further, after, outside in product(sizes, sizes, sizes, sizes, (0, 2, 6))
        if unknown <= not_meeting
    ]
    seen = {}
    for each in all_counts:
        not_meeting, unknown, further, after, outside = each
        n_rows = n_subjects + not_meeting + further + after + outside
        counts = RowCounts(n_rows, not_meeting, unknown, further, outside)
        seen.setdefault(shown(counts, n_subjects, threshold), []).append(each)
    for what, possible in seen.items():
        if what is None:
            assert all(max(column) - min(column) >= threshold for column in zip(*possible, strict=True))
        else:
            (only,) = possible
            small = [*only, only[0] - only[1]]
            assert not any(0 < number < threshold for number in small)
