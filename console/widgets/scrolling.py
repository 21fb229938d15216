"""Scrolling without a layout of the whole screen for every new line."""

from __future__ import annotations

from typing import cast

from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_lines(view: ScrollView, number: int) -> None:
    """Tell the view how many lines it has.

    Textual lays the screen out anew whenever a virtual size changes. That is needed only when the
    scrollbar appears or goes; otherwise the bar is told directly.
    """
    region = view.scrollable_content_region
    wanted = Size(region.width or view.size.width, number)
    if wanted == view.virtual_size:
        return
    same_bar = view.show_vertical_scrollbar is (number > region.height)
    if view.is_mounted and same_bar and wanted.width == view.virtual_size.width:
        view.set_reactive(cast("Reactive[Size]", Widget.virtual_size), wanted)
        if view.show_vertical_scrollbar:
            view.vertical_scrollbar.window_virtual_size = number
    else:
        view.virtual_size = wanted
