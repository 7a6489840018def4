"""Pixels of a window that others cover, or that is off the screen in part, through X11's Composite extension.

The server keeps the window's picture apart from the screen while this is open. What is drawn there is the window's
alone: neither what lies over it, nor the menus of its own program, which are windows of their own. A click is still
refused while the window is covered. Reading a picture costs about ten times what a capture of the screen costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from Xlib import X, error
from Xlib.ext import composite
from Xlib.protocol import request

from perception.capture import OPACITY_DEPTH, picture, require_drawn
from perception.errors import DisplayUnavailable, NotObservable
from perception.geometry import Box, Transform
from perception.observation import Frame, WindowState
from perception.xserver import Server

NAMED_PIXMAPS = (0, 2)  # the first version whose pictures can be named
DEPTHS = (24, OPACITY_DEPTH)  # bits of a pixel; each is four bytes then
ALL_PLANES = 0xFFFFFFFF
BAND_BYTES = 1 << 17
REFUSED = (error.BadWindow, error.BadDrawable, error.BadMatch, error.BadPixmap)


class Composite:
    """Grabs one window's client area. One thread; close it, since it holds an X connection.

    Args:
        window: its number on the display.
        name: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: no X server answers, or it has no Composite extension that is new enough.
    """

    def __init__(self, window: int, name: str | None = None) -> None:
        self._server = Server(name)
        self._window = window
        try:
            self._opcode = self._supported()
        except DisplayUnavailable:
            self._server.close()
            raise
        wire: Any = self._server.display.display
        wire.socket = _Wide(wire.socket)
        self._order(composite.RedirectWindow, update=composite.RedirectAutomatic)

    def grab(self, state: WindowState, now_ns: int) -> Frame:
        """The whole client area as the program drew it, on the screen or not.

        Raises:
            NotObservable: the window is minimised, black or transparent all over, or changed its size just now.
            DisplayUnavailable: the X server is gone.
        """
        require_drawn(state)
        with self._server.guarded():
            image, depth = self._image(state.client)
        pixels = picture(image, state.client, opacity=depth == OPACITY_DEPTH)
        return Frame(pixels=pixels, transform=Transform.showing(state.client, state.client), captured_ns=now_ns)

    def close(self) -> None:
        """Close the X connection, which gives the window back to the screen."""
        self._server.close()

    def _supported(self) -> int:
        """The extension's number on this server."""
        found = self._server.display.query_extension(composite.extname)
        version = (0, 0)
        if found is not None:
            asked = {"opcode": found.major_opcode, "major_version": 0, "minor_version": 4}
            (said,) = self._server.answers(self._server.ask(composite.QueryVersion, **asked))
            version = (said.major_version, said.minor_version)
        if found is None or version < NAMED_PIXMAPS:
            raise DisplayUnavailable(
                f"Expected an X server with Composite 0.2 or newer, found {version if found else 'none'}.",
                "Leave covered='refuse', and keep the window in sight.",
            )
        return int(found.major_opcode)

    def _order(self, kind: Any, **fields: object) -> None:
        """Tell the server something that has no answer; what it refuses shows at the next question."""
        with self._server.guarded():
            onerror = error.CatchError(*REFUSED)
            kind(
                display=self._server.display.display,
                onerror=onerror,
                opcode=self._opcode,
                window=self._window,
                **fields,
            )

    def _image(self, client: Box) -> tuple[NDArray[np.uint8], int]:
        """The picture, ``(height, width, 4)``, BGRA, and its depth.

        It is named anew each time: a window gets a new picture whenever it is resized or restored.
        """
        server, name = self._server, self._server.display.display.allocate_resource_id()
        self._order(composite.NameWindowPixmap, pixmap=name)
        try:
            size, frame = server.answers(server.ask_geometry(name), server.ask_geometry(self._window))
            if size is None or frame is None or (frame.width, frame.height) != (client.width, client.height):
                raise _changed(client)
            if size.depth not in DEPTHS:
                raise DisplayUnavailable(
                    f"Expected a window of {DEPTHS} bits a pixel, found {size.depth}.", "Leave covered='refuse'."
                )
            return self._read(
                name, Box(frame.border_width, frame.border_width, client.width, client.height)
            ), size.depth
        finally:
            request.FreePixmap(display=server.display.display, onerror=error.CatchError(*REFUSED), pixmap=name)
            server.display.display.free_resource_id(name)

    def _read(self, pixmap: int, part: Box) -> NDArray[np.uint8]:
        """A part of a picture, in the picture's pixels; asked for in bands, all at once."""
        rows = max(1, BAND_BYTES // (4 * part.width))
        fields = {
            "format": X.ZPixmap,
            "drawable": pixmap,
            "plane_mask": ALL_PLANES,
            "x": part.left,
            "width": part.width,
        }
        bands = [
            self._server.ask(request.GetImage, y=band.top, height=band.height, **fields) for band in part.bands(rows)
        ]
        data = b"".join(_bytes(band.data) for band in self._server.answers(*bands))
        return np.frombuffer(data, np.uint8).reshape(part.height, part.width, 4)


class _Wide:
    """A socket that is read in large pieces.

    The X library reads 2 KiB at a time, and copies all that has come so far each time: 200 ms for 1200x700 pixels,
    12 ms with this, 4 ms in bands.
    """

    def __init__(self, narrow: Any) -> None:
        self._narrow = narrow

    def recv(self, _: int) -> bytes:
        """What has come, up to a few bands."""
        return bytes(self._narrow.recv(4 * BAND_BYTES))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._narrow, name)


def _bytes(data: bytes | str) -> bytes:
    """Image data as it came: the X library decodes what happens to be UTF-8."""
    return data.encode() if isinstance(data, str) else data


def _changed(client: Box) -> NotObservable:
    return NotObservable(
        f"Expected the window's picture at {client.width}x{client.height}, found that it changed just now.",
        "Look again.",
        "wrong_size",
    )
