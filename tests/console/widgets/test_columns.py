"""How columns share the width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.columns import GAP, Column, share

_COLUMN = st.builds(
    Column,
    title=st.just(""),
    width=st.integers(1, 20),
    flex=st.integers(0, 3),
    drop=st.integers(0, 3),
    most=st.sampled_from([0, 25]),
)


@given(st.lists(_COLUMN, min_size=1, max_size=8), st.integers(0, 200))
def test_the_columns_never_take_more_than_there_is(columns: list[Column], width: int) -> None:
    widths = share(columns, width)
    shown = [one for one in widths if one]
    assert len(widths) == len(columns)
    assert sum(shown) + GAP * max(0, len(shown) - 1) <= width


@given(st.lists(_COLUMN, min_size=1, max_size=8), st.integers(0, 200))
def test_what_must_be_shown_is_shown_before_anything_droppable(
    columns: list[Column], width: int
) -> None:
    widths = share(columns, width)
    if any(got for column, got in zip(columns, widths, strict=True) if column.drop):
        assert all(
            got >= column.width
            for column, got in zip(columns, widths, strict=True)
            if not column.drop
        )


def test_flexible_columns_share_what_is_left_up_to_their_limit() -> None:
    columns = (Column("a", 5), Column("b", 5, flex=1, most=8), Column("c", 5, flex=1))
    assert share(columns, 40) == (5, 8, 40 - 5 - 8 - 2 * GAP)


def test_the_column_with_the_highest_number_goes_first() -> None:
    columns = (Column("a", 10), Column("b", 10, drop=2), Column("c", 10, drop=1))
    assert share(columns, 24) == (10, 0, 10)
    assert share(columns, 12) == (10, 0, 0)
