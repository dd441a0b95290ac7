"""Measurements: each module or folder here is a benchmark by its own name, with ``-`` for ``_``.

A benchmark module has a docstring (its first line is shown by ``bench --list``) and a function

    def cases(data: Path | None) -> Iterable[Case]

``data`` is a folder of bodies as ``.npz`` files, or None where there is none: a benchmark then gives the cases that it
builds in code. A folder chains the cases of its modules, one subject each; names of cases are unique in it. Run one
with ``python build_addon.py bench NAME``. It is loaded as ``sinew.benchmarks.NAME``, so it imports the library
relatively: ``from ..core...``. Each case draws ``out/bench/NAME/CASE.png`` (``pictures``). ``children`` holds scripts
that benchmarks run as processes of their own: peers, and first starts.
"""
