"""Named errors of the library.

Every error shown to users is a :class:`SinewError`: one sentence with the problem and one with the remedy. Interfaces
show both; programs test the class or its ``code``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SinewError(Exception):
    """Error that a user can fix.

    Parameters
    ----------
    message : str
        The problem, one sentence, with the element or vertex index if there is one.
    remedy : str
        The fix, one sentence.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @property
    def code(self) -> str:
        """Class name: stable across versions, for programs."""
        return type(self).__name__

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


@contextmanager
def named(name: str, several: bool = True) -> Iterator[None]:
    """Context in which SinewErrors are prefixed with a name, if there are ``several`` objects."""
    try:
        yield
    except SinewError as error:
        if not several:
            raise
        raise type(error)(f"“{name}”: {error.message}", error.remedy) from error


class MeshError(SinewError):
    """The surface or the tetrahedra cannot be used (no faces, NaN positions, zero size, nothing inside)."""


class MaterialError(SinewError):
    """A material parameter is outside its physical range, or an energy is unknown."""


class PinError(SinewError):
    """Pins leave no free vertices, or do not match the mesh."""


class SpringError(SinewError):
    """A spring holds no vertices, has no valid target, or has an invalid strength."""


class ColliderError(SinewError):
    """A collider has no faces, positions that are not numbers, or an invalid friction or thickness."""


class OverlapError(ColliderError):
    """Surfaces in contact overlap at the first frame; ``move``: name of a body and the displacement, m, that separates
    it.
    """

    def __init__(self, message: str, remedy: str = "", move: tuple[str, tuple[float, ...]] = ("", ())) -> None:
        super().__init__(message, remedy)
        self.move = move


class FieldError(SinewError):
    """A force field is of an unknown kind, lacks the surface that its shape requires, or has an invalid number."""


class SettingsError(SinewError):
    """A setting is outside its range or has an unknown name."""


class MatchError(SinewError):
    """A body's vibrations cannot be computed or matched with a finer body's: it is simulated unmatched. The message is
    appended to a colon.
    """


class SubspaceError(SinewError):
    """A subspace cannot be built, or does not match its body."""


class PreviewError(SinewError):
    """The graphics card cannot draw the preview."""


class RenderError(SinewError):
    """A frame of the scene cannot be rendered."""


class VertexError(SinewError):
    """Error at a ``vertex``, if known, ``among`` this many; the message contains {vertex}."""

    def __init__(self, message: str, remedy: str = "", vertex: int | None = None, among: int = 0) -> None:
        super().__init__(message.replace("{vertex}", str(vertex)), remedy)
        self.vertex, self.among, self._told = vertex, among, message

    def of(self, name: str, vertex: int) -> VertexError:
        """Return the same error for a body, with its local vertex number."""
        return type(self)(f"“{name}”: {self._told}", self.remedy, vertex)


class FactorizationError(VertexError):
    """The system matrix is not positive definite; contains the vertex at which the factorisation failed."""


class NotEnoughMemoryError(SinewError):
    """A job needs more than the available memory; proposes a resolution that fits."""


class DivergenceError(VertexError):
    """A step produced NaN or infinite positions, or threw a vertex too far; contains the first such vertex."""


class StoreError(SinewError):
    """The frame store cannot be written, or does not belong to this job."""


class CorruptFrameError(StoreError):
    """A file of the frame store is truncated, altered or of another format."""


def system_words(error: OSError) -> str:
    """Return an operating system error in a sentence, with its path if it has one."""
    path = f"{error.filename!s:.200}: " if error.filename else ""
    return f"{path}{error.strerror or error}. Check the path, its permissions and the space on the disk."


@contextmanager
def refusing(
    what: str,
    remedy: str,
    kind: type[SinewError] = StoreError,
    of: type[Exception] | tuple[type[Exception], ...] = OSError,
) -> Iterator[None]:
    """Context in which an exception ``of`` these classes is raised as a SinewError of class ``kind``: ``what`` failed,
    the reason in parentheses, and the remedy.
    """
    try:
        yield
    except Exception as error:
        # Python itself rejects a path with a null byte.
        if not isinstance(error, of) and not (isinstance(error, ValueError) and "embedded null" in str(error)):
            raise
        said = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
        raise kind(f"{what} ({said.splitlines()[-1].removeprefix('Error: ')}).", remedy) from error
