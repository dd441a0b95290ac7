"""Named errors of the library.

Every error shown to users is a :class:`SinewError`: one sentence with the problem and one with the remedy. User
interfaces show both sentences; programs test the class or its ``code``.
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
        """Class name of the error, for programs; the same in all versions."""
        return type(self).__name__

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


@contextmanager
def named(name: str, several: bool = True) -> Iterator[None]:
    """Context that prefixes the messages of SinewErrors with an object's name.

    ``several``: True if there are other such objects. If False, errors pass unchanged.
    """
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
    """The pins leave no vertex free, or do not match the mesh."""


class SpringError(SinewError):
    """A spring holds no vertices, has no valid target, or has an invalid strength."""


class ChamberError(SinewError):
    """A chamber under pressure is open or flat, or has an invalid pressure."""


class TieError(SinewError):
    """A tie joins no points, or a tie or joint has no partner or invalid values."""


class SeamError(SinewError):
    """The seams of a split surface do not fit it, or its pieces are open or do not touch."""


class CutError(SinewError):
    """A cutter sweeps no surface or a volume, or a split leaves the body in one piece."""


class ColliderError(SinewError):
    """A collider has no faces, positions that are not numbers, or an invalid friction or thickness."""


class OverlapError(ColliderError):
    """Surfaces in contact overlap at the first frame.

    ``move``: name of a body and the displacement (x, y, z), m, that separates the body from the other surfaces. Name
        and displacement are empty if no such displacement is known.
    """

    def __init__(self, message: str, remedy: str = "", move: tuple[str, tuple[float, ...]] = ("", ())) -> None:
        super().__init__(message, remedy)
        self.move = move


class FieldError(SinewError):
    """A force field is of an unknown kind, lacks the surface that its shape requires, or has an invalid number."""


class SettingsError(SinewError):
    """A setting is outside its range or has an unknown name."""


class MatchError(SinewError):
    """The vibrations of a body cannot be computed, or cannot be matched to the vibrations of a finer body.

    The simulation continues without the match. The message begins in lower case, since reports show the message after a
    colon.
    """


class SubspaceError(SinewError):
    """A subspace cannot be built, or does not match its body."""


class PreviewError(SinewError):
    """The graphics card cannot draw the preview."""


class RenderError(SinewError):
    """A frame of the scene cannot be rendered."""


class VertexError(SinewError):
    """Error at a vertex.

    ``vertex``: index of the vertex, or None if unknown. The index replaces the text ``{vertex}`` in the message.
    ``among``: number of vertices.
    """

    def __init__(self, message: str, remedy: str = "", vertex: int | None = None, among: int = 0) -> None:
        super().__init__(message.replace("{vertex}", str(vertex)), remedy)
        self.vertex, self.among, self._told = vertex, among, message

    def of(self, name: str, vertex: int) -> VertexError:
        """Return a copy of the error for a named body.

        ``name``: name of the body, at the beginning of the new message.
        ``vertex``: index of the vertex in that body.
        """
        return type(self)(f"“{name}”: {self._told}", self.remedy, vertex)


class FactorizationError(VertexError):
    """The system matrix is not positive definite.

    ``vertex``: vertex at whose rows the factorization failed, or None if unknown.
    """


class NotEnoughMemoryError(SinewError):
    """A job needs more than the available memory. The remedy proposes a smaller resolution."""


class DivergenceError(VertexError):
    """A step made positions NaN or infinite, or moved a vertex too far.

    ``vertex``: first vertex with such a position.
    """


class StoreError(SinewError):
    """The frame store cannot be written, or does not belong to this job."""


class CorruptFrameError(StoreError):
    """A file of the frame store is truncated, altered or of another format."""


def system_words(error: OSError) -> str:
    """Return an operating system error as text for a message: the file's path, the reason and a remedy."""
    path = f"{error.filename!s:.200}: " if error.filename else ""
    return f"{path}{error.strerror or error}. Check the path, its permissions and the space on the disk."


@contextmanager
def refusing(
    what: str,
    remedy: str,
    kind: type[SinewError] = StoreError,
    of: type[Exception] | tuple[type[Exception], ...] = OSError,
) -> Iterator[None]:
    """Context that replaces exceptions of the classes ``of`` by an error of the class ``kind``.

    The new message consists of ``what``, a clause such as "The file cannot be read", and of the exception's text in
    parentheses. ``remedy`` is the remedy of the new error.
    """
    try:
        yield
    except Exception as error:
        # Python itself rejects a path with a null byte.
        if not isinstance(error, of) and not (isinstance(error, ValueError) and "embedded null" in str(error)):
            raise
        said = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
        raise kind(f"{what} ({said.splitlines()[-1].removeprefix('Error: ')}).", remedy) from error
