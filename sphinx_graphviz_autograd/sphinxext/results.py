"""The results of the site's sessions: from the store where they fit, from workers where they do not."""

from __future__ import annotations
from sphinx_graphviz_autograd.sphinxext.outcomes import Absence
from sphinx_graphviz_autograd.sphinxext.problems import Subtype

MEMORY: dict = {}


class Results:
    def __init__(self, config):
        self.config = config

    def why(self, session) -> str:
        return "" if (session.docname, session.name) in MEMORY else "nothing is stored"

    def find(self, session):
        return MEMORY.get((session.docname, session.name)) or Absence(Subtype.MISSING, "nothing is stored")

    def keep(self, session, result):
        MEMORY[session.docname, session.name] = result
