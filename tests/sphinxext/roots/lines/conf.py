"""A site whose blocks all fail, each on its third line, which says where it stands."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

extensions = ["sphinx_graphviz_autograd", "myst_nb", "sphinx.ext.autodoc"]
html_theme = "alabaster"
show_warning_types = True
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"
exclude_patterns = ["_included.*"]
suppress_warnings = ["myst-nb.lexer"]
autodoc_mock_imports = ["torch"]
