"""Features with other roles, and sentences on features that do not form subtypes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clinclust.control_characters import on_one_line
from clinclust.errors import SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted
from clinclust.nearest import did_you_mean
from clinclust.roles import NEEDS_LIKELIHOOD, ROLES
from clinclust.schema.feature import Feature, FeatureError

WRITE_LIKELIHOOD = (
    "write one on its line, as `likelihood: gaussian` (a measurement) or `likelihood: categorical, levels: [...]` "
    "(groups)"
)
_USE_ONE = "To use one, give it `role: cluster`."


def with_roles(features: Sequence[Feature], roles: Mapping[str, str]) -> list[Feature]:
    """Return the features with other roles for some of them (see `FeatureSchema.with_roles`)."""
    problems = role_problems(roles, [feature.name for feature in features])
    changed = []
    for feature in features:
        role = roles.get(feature.name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None:
            problems.append(f"{needs_likelihood(feature.name, role)}, and the schema gives it none: {WRITE_LIKELIHOOD}")
            continue
        if role not in ROLES:
            continue
        try:
            changed.append(feature if role == feature.role else Feature(**{**feature.content(), "role": role}))
        except FeatureError as error:
            problems += error.problems
    if problems:
        raise SchemaError(problems)
    return changed


def role_problems(roles: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return one sentence for each unknown role and each unknown column."""
    known = tuple(names)
    problems = []
    for name, role in roles.items():
        if name not in known:
            problems.append(f"{shortened(str(name))}: there is no such column.{did_you_mean(str(name), known)}")
        if role not in ROLES:
            hint = did_you_mean(str(role), ROLES)
            known_roles = ", ".join(ROLES)
            problems.append(f"{shortened(str(name))}: role: must be one of {known_roles}, not {quoted(role)}.{hint}")
    return problems


def needs_likelihood(name: str, role: str) -> str:
    """Return the beginning of the sentence on a feature without the likelihood that its role needs."""
    return f"{shortened(name)}: role {role} needs a likelihood"


def on_unused(features: Iterable[Feature], *, most: int | None = None, repair: str = _USE_ONE) -> str:
    """Return the sentence that names features that do not form subtypes (`most` of them); empty if there are none."""
    unused = [feature for feature in features if not (feature.is_clustered or feature.is_id)]
    if not unused:
        return ""
    unused.sort(key=lambda feature: ROLES.index(feature.role))
    words = [f"{shortened(on_one_line(feature.name))} ({feature.role})" for feature in unused]
    more = "" if most is None or len(words) <= most else f" and {len(words) - most:,} more"
    return f"Not used to form subtypes: {', '.join(words[:most])}{more}. {repair}"
