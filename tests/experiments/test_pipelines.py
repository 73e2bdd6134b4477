"""Lesson 11's model of streams."""

from fourways.experiments import pipelines


def test_the_model_overlaps_chunks_of_different_streams() -> None:
    took = {"copy in": 2, "compute": 1, "copy out": 1}
    assert pipelines.duration(pipelines.schedule(pipelines.in_turns(8, 1), took)) == 8 * 4
    two = pipelines.schedule(pipelines.in_turns(8, 2), took)
    assert pipelines.duration(two) == 8 * 2 + 2
    assert two["copy in", 1] == (2, 4) and two["compute", 0] == (2, 3)


def test_the_model_waits_for_what_came_before_and_for_nothing_else() -> None:
    took = {"copy in": 2, "compute": 1}
    tasks = [("compute", 0, 1, [("copy in", 0)]), ("copy in", 0, 0, []), ("compute", 1, 1, [("copy in", 0)])]
    assert pipelines.schedule(tasks, took) == {("compute", 0): (0, 1), ("copy in", 0): (0, 2), ("compute", 1): (2, 3)}
