# SPDX-License-Identifier: Apache-2.0
# The documentation as a site: Sphinx's configuration. The pages are the repository's, as
# they are; the navigation is the list in README.md.
import pathlib
import re

from sphinx import addnodes

project = "PerfLab"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**.md", "charts/perflab/README.md", "hack/*/README.md", "k6/README.md", "sample/**README.md", "test/**README.md"]
myst_heading_anchors = 6
# What MyST adds to Markdown as GitHub shows it.
myst_disable_syntax = ["footnote_ref", "footnote_def", "myst_block_break", "myst_line_comment", "myst_role", "myst_target"]
# Reports are reached from their list, and show YAML with scripts in it.
suppress_warnings = ["toc.not_included", "misc.highlighting_failure"]
smartquotes = False
highlight_language = "text"

html_theme = "furo"
html_title = "PerfLab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False


def navigation(readme):
    """The toctrees of the list of pages in the README."""
    listed = readme.partition("\n## Documentation\n")[2].partition("\n## ")[0]
    for caption, pages in re.findall(r"^- \*\*(.+?)\*\*:(.*?)(?=^- |\Z)", listed, re.M | re.S):
        yield "```{toctree}\n:hidden:\n:caption: " + caption + "\n"
        yield from (page + "\n" for page in re.findall(r"\]\(([^)#]+)\.md\)", pages))
        yield "```\n"


def add_navigation(app, page, source):
    if page == root_doc:
        source[0] += "\n" + "".join(navigation(source[0]))


def unlink_folders(app, document):
    """A link to a folder of the repository is text here: the site has its pages and files."""
    folder = pathlib.Path(app.env.doc2path(app.env.docname)).parent
    for link in list(document.findall(addnodes.pending_xref)):
        if (folder / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def leave_out_reports(app, document):
    """Reports have the words of all pages, and would come first in every search."""
    if re.fullmatch("docs/examples/(?!README).*", app.env.docname):
        app.env.metadata[app.env.docname]["nosearch"] = True


def write_index(app, failure):
    """The page that a server shows for the folder."""
    if failure is None:
        readme = pathlib.Path(app.outdir, "README.html")
        readme.with_name("index.html").write_bytes(readme.read_bytes())


def setup(app):
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", unlink_folders)
    app.connect("doctree-read", leave_out_reports)
    app.connect("build-finished", write_index)
