"""Benchmarks: each module or folder here is one, by its own name, with ``-`` for ``_``.

A benchmark module has a docstring (``bench --list`` shows its first line) and a function

    def cases(data: Path | None) -> Iterable[Case]

``data`` is a folder of bodies as ``.npz`` files, or None: a benchmark then returns the cases that it builds in code. A
folder chains the cases of its modules, one subject each; names of cases are unique in it. Run one with ``python
build_addon.py bench NAME``. It is loaded as ``sinew.benchmarks.NAME``, so it imports the library relatively: ``from
..core...``. Each case draws ``out/bench/NAME/CASE.png`` (``pictures``). ``children`` contains scripts that benchmarks
run in separate processes: peers, and first starts.
"""
