"""The Sphinx extension: the only room that knows docutils and Sphinx. This file wires its parts together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_graphviz_autograd.sphinxext import assets, config, translation
from sphinx_graphviz_autograd.sphinxext.build import Build
from sphinx_graphviz_autograd.sphinxext.directive import AutogradExec, AutogradGraph
from sphinx_graphviz_autograd.sphinxext.doctree import fill_places
from sphinx_graphviz_autograd.sphinxext.nodes import (
    AutogradCode,
    AutogradImage,
    AutogradTable,
    visit_code_html,
    visit_image_html,
    visit_table_html,
)
from sphinx_graphviz_autograd.sphinxext.pages import Pages
from sphinx_graphviz_autograd.sphinxext.roles import AutogradNode

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config


def connect(app: Sphinx) -> None:
    """Register everything with Sphinx."""
    config.register(app)
    translation.connect(app)
    app.add_domain(Pages)
    app.add_directive("autograd-graph", AutogradGraph)
    app.add_directive("autograd-exec", AutogradExec)
    app.add_role("autograd-node", AutogradNode())
    app.add_node(AutogradImage, html=(visit_image_html, None))
    app.add_node(AutogradCode, html=(visit_code_html, None))
    app.add_node(AutogradTable, html=(visit_table_html, None))
    build = Build()
    build.connect(app)
    app.add_post_transform(fill_places(build))
    app.connect("config-inited", _check_config)
    app.connect("builder-inited", assets.copy)
    app.connect("html-page-context", assets.link)


def _check_config(app: Sphinx, values: Config) -> None:
    config.warn_of_wrong_values(Path(app.confdir), values)
