"""Named errors of the library.

Every error that a user can meet is a :class:`SinewError`: one sentence that says what is wrong, and one that says what
to do about it. Interfaces show both; programs test the class or its ``code``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SinewError(Exception):
    """Something a user can mend.

    Parameters
    ----------
    message : str
        What is wrong, one sentence, with the element or vertex index where there is one.
    remedy : str
        What to do about it, one sentence.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @property
    def code(self) -> str:
        """The class name: stable across versions, for programs."""
        return type(self).__name__

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


@contextmanager
def named(name: str, several: bool = True) -> Iterator[None]:
    """Within it, what is refused says of which of ``several`` things, by its name."""
    try:
        yield
    except SinewError as error:
        if not several:
            raise
        raise type(error)(f"“{name}”: {error.message}", error.remedy) from error


class MeshError(SinewError):
    """The surface or the tetrahedra cannot be used (no faces, NaN positions, zero size, nothing inside)."""


class MaterialError(SinewError):
    """A material parameter is outside its physical range, or an unknown energy is named."""


class PinError(SinewError):
    """Pins leave nothing to simulate, or do not fit the mesh."""


class SpringError(SinewError):
    """A spring holds nothing, pulls nowhere, or has an impossible strength."""


class ColliderError(SinewError):
    """A collider has no faces, positions that are not numbers, or an impossible friction or thickness."""


class OverlapError(ColliderError):
    """Surfaces in contact overlap at the first frame; ``move``: the name of a body, and the displacement that separates
    it, m.
    """

    def __init__(self, message: str, remedy: str = "", move: tuple[str, tuple[float, ...]] = ("", ())) -> None:
        super().__init__(message, remedy)
        self.move = move


class FieldError(SinewError):
    """A force field that cannot act: of an unknown kind, without a surface that its shape asks for, not a number."""


class SettingsError(SinewError):
    """A setting is outside its range or names something unknown."""


class MatchError(SinewError):
    """A body whose vibrations cannot be found or compared with a finer one's: it moves as without. Its message goes
    on after a colon.
    """


class SubspaceError(SinewError):
    """A subspace that cannot be built, or that no longer fits its body."""


class PreviewError(SinewError):
    """The graphics card cannot draw the preview."""


class RenderError(SinewError):
    """A frame of the scene cannot be rendered."""


class VertexError(SinewError):
    """Something at a vertex, ``vertex`` ``among`` so many, if it is known, whose number the message has as {vertex}."""

    def __init__(self, message: str, remedy: str = "", vertex: int | None = None, among: int = 0) -> None:
        super().__init__(message.replace("{vertex}", str(vertex)), remedy)
        self.vertex, self.among, self._told = vertex, among, message

    def of(self, name: str, vertex: int) -> VertexError:
        """The same of a body, by its own number there."""
        return type(self)(f"“{name}”: {self._told}", self.remedy, vertex)


class FactorizationError(VertexError):
    """The system matrix is not positive definite; names the vertex where the factorisation broke down."""


class NotEnoughMemoryError(SinewError):
    """A job would not fit into the memory; proposes a resolution that would."""


class DivergenceError(VertexError):
    """A step produced NaN or infinite positions; names the first vertex."""


class StoreError(SinewError):
    """The frame store cannot be written, or does not belong to this job."""


class CorruptFrameError(StoreError):
    """A file of the frame store is truncated, altered or foreign."""


def system_words(error: OSError) -> str:
    """An error of the operating system that nobody has named, in a sentence, with the path where it has one."""
    place = f"{error.filename!s:.200}: " if error.filename else ""
    return f"{place}{error.strerror or error}. Check the path, its permissions and the space on the disk."


@contextmanager
def refusing(
    what: str,
    remedy: str,
    kind: type[SinewError] = StoreError,
    of: type[Exception] | tuple[type[Exception], ...] = OSError,
) -> Iterator[None]:
    """Within it, an exception ``of`` the system's (or of another class) is an error of that ``kind``: what cannot be,
    the reason in parentheses, and what to do about it.
    """
    try:
        yield
    except Exception as error:
        # Python itself refuses a path with a zero byte.
        if not isinstance(error, of) and not (isinstance(error, ValueError) and "embedded null" in str(error)):
            raise
        said = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
        raise kind(f"{what} ({said.splitlines()[-1].removeprefix('Error: ')}).", remedy) from error
