"""What all tests share."""

import gc
import os
import pickle
import signal
import zlib
from html import escape
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy import stats

import clinclust
from clinclust.errors import visible

_ROOT = Path(__file__).parents[1]


# Numba reads this when it is imported, which no test module has done yet.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".pytest_cache" / "numba"))
# Reports are compared byte by byte, and a minute may pass between two of them.
os.environ["SOURCE_DATE_EPOCH"] = "1600000000"
# Tests that start a process of their own find the package that is tested here.
_PACKAGE = str(Path(clinclust.__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_PACKAGE, os.environ.get("PYTHONPATH")]))


# How long an example takes is a matter of what else the machine does. The fast profile draws the same examples in every
# run, so that nobody's first run fails by luck; the thorough one draws new ones.
_ANY_MACHINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=6, derandomize=True, **_ANY_MACHINE)
settings.register_profile("thorough", max_examples=100, print_blob=True, **_ANY_MACHINE)


def pytest_addoption(parser):
    parser.addoption("--simulations", action="store_true", help="run the simulations too, and draw new examples")


def pytest_configure(config):
    settings.load_profile("thorough" if config.getoption("--simulations") else "fast")


@pytest.fixture
def some(request):
    """Return a function of cases that keeps the first few of them, and all in simulations."""
    return lambda cases, few: list(cases) if request.config.getoption("--simulations") else list(cases)[:few]


_LOOK_AT = ("adjustment", "browser", "figures", "first_page", "injection", "page", "texts")


@pytest.fixture(autouse=True, scope="module")
def undrawn(request):
    """Leave only the words for figures in pages where nobody looks at them: they take a third of a report's time."""
    is_looked_at = request.path.stem.removeprefix("test_") in _LOOK_AT
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--simulations") and not is_looked_at:
            patch.setattr("clinclust.reporting.page.as_svg", _undrawn)
        yield


def _undrawn(draw, *, name, title):
    return f'<svg id="{escape(name)}" role="img"><title>{escape(visible(title))}</title></svg>'


_FITS = {}


@pytest.fixture
def fits_once(monkeypatch):
    """Search the same table with the same parameters once: examples fit the same few cohorts again and again."""
    search = resolve_name("clinclust.estimators.fitting.found_fit")

    def search_once(settings, cohort, cancelled):
        if settings.random_state is None:
            return search(settings, cohort, cancelled)
        stated = vars(settings) | {"schema": cohort.schema.fingerprint, "n_jobs": None, "progress": None}
        key = pickle.dumps((stated, cohort.frame))
        if key not in _FITS:
            _FITS[key] = pickle.dumps(search(settings, cohort, cancelled))
        return pickle.loads(_FITS[key])

    monkeypatch.setattr("clinclust.estimators.mapdp.found_fit", search_once)


@pytest.fixture(autouse=True)
def same_luck(request, monkeypatch):
    """Give each test the same draws in every run, also where it names no seed."""
    seeds, seeded = np.random.SeedSequence(zlib.crc32(request.node.nodeid.encode())), np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: seeded(seeds.spawn(1)[0] if seed is None else seed))


@pytest.fixture
def heeds_ctrl_c():
    """Let Ctrl-C interrupt, which a shell that runs the tests in the background has turned off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_collection_finish():
    """Leave what is imported by now to itself: looking through it for garbage took a tenth of the time of the tests.

    A distribution of scipy writes no documentation of its own whenever its parameters are fixed: a third of that time.
    """
    for kind in (stats.rv_continuous, stats.rv_discrete):
        kind._construct_doc = lambda *_: None
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(config, items):
    """Leave simulations out unless they are asked for, and count no lines in tests of drawn examples.

    These run the same lines many times, and took half as long again.
    """
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.no_cover)
    if not config.getoption("--simulations"):
        left_out = [item for item in items if item.get_closest_marker("simulation")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("simulation")]
