"""Panels are opened and used by clicks, as an artist does."""

from sinew.core.simulation.report import BakeReport, FrameReport, unsettled_words


def _report() -> BakeReport:
    seconds = {"assembly": 0.5, "factorization": 2.0, "line_search": 0.25}
    frames = tuple(
        FrameReport(
            k, 2, 12, 7, k not in (27, 28, 40), ("the cap of 50 iterations was reached",), k, 2.9, seconds, 10**9
        )
        for k in range(2, 61)
    )
    return BakeReport("Mixed FEM", "CHOLMOD, METIS order: the fastest that is installed", 50, frames)


def test_panels_are_opened_by_clicks(windowed):
    report = _report()
    words = {"report": "\n".join(report.summary()), "message": unsettled_words(report.unsettled)}
    result = windowed.run("open_panels", **words)
    assert result.values == {"springs": ["Spring"], "ground": True}
    assert len(result.photographs) == 10
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
