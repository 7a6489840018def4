"""Connections to an X server: what one leaves behind."""

from __future__ import annotations

import gc
from contextlib import closing

from Xlib.xobject.resource import Resource

from perception.xserver import Server


def kinds_of_resources(kind: type = Resource) -> int:
    return 1 + sum(map(kinds_of_resources, kind.__subclasses__()))


def test_a_connection_that_is_closed_leaves_no_classes_behind(own_display: str) -> None:
    Server(own_display).close()
    gc.collect()
    before = kinds_of_resources()
    for _ in range(3):
        Server(own_display).close()
    gc.collect()
    assert kinds_of_resources() == before


def test_a_connection_keeps_its_extensions_while_others_are_opened(own_display: str) -> None:
    with closing(Server(own_display)) as first, closing(Server(own_display)):
        assert hasattr(first.display.create_resource_object("window", first.root), "composite_redirect_window")
