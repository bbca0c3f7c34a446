"""A real Chromium, and the pages of the documentation opened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS = [
    "--no-sandbox",  # the tests may run as root, and open nothing but our own pages
    "--disable-gpu",
    "--disable-background-networking",  # no test needs a network
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """A Chromium without windows."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        yield started
        started.close()
