"""A real Chromium, and the pages of the documentation opened in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.sphinxext.sites import build, document_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sphinxext.sites import Built

ROOTS = Path(__file__).parent / "roots"

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


@pytest.fixture(scope="session")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The site of figures to play with, built without any warning."""
    source = tmp_path_factory.mktemp("figures") / "source"
    shutil.copytree(ROOTS / "figures", source)
    shutil.copy(document_torch(tmp_path_factory.mktemp("torch"), "torch.pow"), source / "torch.inv")
    built = build(source, "-nW", "--keep-going")
    assert built.status == 0, built.errors
    return built
