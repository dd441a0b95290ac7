"""Texts where there is little room."""


def test_progress_and_hints_are_drawn_where_there_is_little_room(windowed):
    result = windowed.run("cramped")
    assert len(result.photographs) == 5
    assert "Traceback" not in result.log, result.log
