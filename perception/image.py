"""Pictures as files, PNG in and out, and as bytes to send: ``(height, width, 3)``, uint8, BGR."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

JPEG_QUALITIES = (90, 75, 60)


def write_png(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write a PNG, whole or not at all.

    Raises:
        OSError: it cannot be written there.
    """
    ok, data = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 6])
    if not ok:
        raise OSError(f"expected an image to write to {path}, found an array of shape {pixels.shape}")
    if path.exists() and not path.is_file():
        raise OSError(f"expected a place for a picture at {path}, found something that is no file")
    part = path.with_suffix(".part")
    try:
        part.write_bytes(data.tobytes())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def encoded(pixels: NDArray[np.uint8], most_bytes: int) -> tuple[str, bytes]:
    """A picture in few bytes: PNG if that is small enough, else the best JPEG that is, made smaller where none is.

    Args:
        pixels: ``(height, width, 3)``, BGR.
        most_bytes: how many it may take.

    Returns:
        Its media type, such as ``image/png``, and its bytes.

    Raises:
        ValueError: not even a picture of a pixel is small enough.
    """
    ok, data = cv2.imencode(".png", pixels)
    if ok and data.size <= most_bytes:
        return "image/png", data.tobytes()
    while min(pixels.shape[:2]) > 0:
        for quality in JPEG_QUALITIES:
            ok, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
            if ok and data.size <= most_bytes:
                return "image/jpeg", data.tobytes()
        half = (pixels.shape[1] // 2, pixels.shape[0] // 2)
        if min(half) == 0:
            break
        pixels = cv2.resize(pixels, half, interpolation=cv2.INTER_AREA).astype(np.uint8)
    raise ValueError(f"expected room for a picture, found {most_bytes} bytes")


def read_png(path: Path) -> NDArray[np.uint8]:
    """The pixels of a PNG.

    Raises:
        OSError: there is no file, or it holds no image.
    """
    if not path.is_file():
        raise FileNotFoundError(f"expected an image at {path}, found no file")
    data = np.frombuffer(path.read_bytes(), np.uint8)
    try:
        image = cv2.imdecode(data, cv2.IMREAD_COLOR)
    except cv2.error:  # no bytes, or a size that no image has
        image = None
    if image is None:
        raise OSError(f"expected an image, found something else in {path}")
    return image.astype(np.uint8)


def require_folder(path: Path) -> None:
    """Return when there is a folder of pictures.

    Raises:
        NotADirectoryError: there is none.
    """
    if not path.is_dir():
        raise NotADirectoryError(f"expected a folder of PNGs at {path}, found none")
