"""The documentation site: see scripts/site.py."""

project = "pyramidion"
author = "The pyramidion developers"
project_copyright = author
root_doc = "README"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "pyramidion"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
suppress_warnings = ["misc.highlighting_failure"]
