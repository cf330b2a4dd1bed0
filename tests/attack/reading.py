"""What a reader may do with a file: return what is in it, or say in a short message of its name what is wrong."""

import signal
import warnings
from contextlib import contextmanager

from clinclust.errors import CohortWarning, InputError, MissingPackageError

LONGEST_MESSAGE = 4096
_HUNG = 60


class HungError(BaseException):
    """Reading did not end; no handler of errors may catch this."""


@contextmanager
def ends_in_time():
    """Interrupt the block after a minute of computing, which a busy machine does not use up."""

    def interrupt(*_):
        raise HungError

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, _HUNG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome_of(read, path):
    """Return (what `read(path)` returned, its warnings, the message of its refusal, what broke), None for what is not.

    Only InputError, OSError and what a missing package raises are refusals.
    """
    found = message = broken = None
    told = []
    try:
        with ends_in_time(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = read(path)
    except (InputError, OSError, MissingPackageError) as error:
        message = str(error)
    except HungError:
        broken = f"{path.name}: hung"
    except Exception as error:
        broken = f"{path.name}: {type(error).__name__}: {str(error)[:200]}"
    else:
        told = [str(warning.message) for warning in caught if issubclass(warning.category, CohortWarning)]
        others = [warning for warning in caught if not issubclass(warning.category, CohortWarning)]
        if others:
            broken = f"{path.name}: {others[0].category.__name__}: {str(others[0].message)[:200]}"
    for text in [message, *told]:
        broken = broken or message_fault(text, path.name)
    return found, told, message, broken


def message_fault(text, name):
    """Return what is wrong with a message about a file, or None."""
    if text is None:
        return None
    if len(text.encode(errors="replace")) > LONGEST_MESSAGE:
        return f"{name}: a message of {len(text):,} characters: {text[:100]}"
    if name not in text:
        return f"{name}: a message without the name of the file: {text[:100]}"
    return None
