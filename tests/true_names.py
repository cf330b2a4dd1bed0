"""The names of the levels that a shared frame withholds, for tests that compare it with the whole one."""


def true_levels(shared, whole):
    """Return the level that each name of a shared frame stands for, by feature and name."""
    of_shared, of_whole = (frame[(frame["kind"] == "summary") & frame["level"].notna()] for frame in (shared, whole))
    keys = zip(of_shared["feature"], of_shared["level"], strict=True)
    return dict(zip(keys, of_whole["level"], strict=True))


def with_true_levels(shared, whole):
    """Return the shared frame with the names of the levels that it withholds."""
    names = true_levels(shared, whole)
    keys = zip(shared["feature"], shared["level"], strict=True)
    return shared.assign(level=shared["level"].where(shared["level"].isna(), [names.get(key) for key in keys]))
