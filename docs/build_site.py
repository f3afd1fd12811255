"""What the site has besides the pages of this folder: the lab's pages, and the Python reference.

MkDocs calls these functions while it builds.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
LAB = ["lab/README.md", "lab/peer/README.md", "lab/results/*.md"]
HEAD = """# Python functions

Everything that `import lehr` offers, from the docstrings of the package.
[Python](../python.md) explains how it belongs together.
"""


def slug(heading: str, separator: str) -> str:
    """Return the anchor that GitHub makes of a heading, so that links work in both places."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", separator)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make anchors as GitHub does."""
    config.mdx_configs["toc"] = {"slugify": slug, "permalink": False}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages that lie elsewhere or in no file."""
    for pattern in LAB:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    files.append(File.generated(config, "reference/python.md", content=reference()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links between this folder and the lab to where the pages are in the site."""
    # GitHub wants a bar inside code of a table escaped; Python's Markdown wants it plain.
    markdown = re.sub(r"^\|.*$", lambda row: _bars(row.group(0)), markdown, flags=re.M)
    depth = page.file.src_uri.count("/")
    if page.file.src_uri.startswith("lab/"):
        return re.sub(r"\]\((\.\./)+docs/", "](" + "../" * depth, markdown)
    return re.sub(r"\]\((\.\./)+lab/", "](" + "../" * depth + "lab/", markdown)


def _bars(row: str) -> str:
    return re.sub(r"`[^`]*`", lambda code: code.group(0).replace("\\|", "|"), row)


def reference() -> str:
    """Return the page of all public names."""
    import lehr
    import lehr.sklearn

    parts = [HEAD]
    names = [name for name in lehr.__all__ if not name.startswith("__") and name != "dist"]
    parts += [_entry("lehr", name, getattr(lehr, name)) for name in names]
    for module in (lehr.dist, lehr.sklearn):
        parts.append(f"## {module.__name__}\n\n{_prose(module)}\n")
        parts += [_entry(module.__name__, name, value) for name, value in _classes(module)]
    return "\n".join(parts)


def _classes(module: ModuleType) -> list[tuple[str, type]]:
    found = inspect.getmembers(module, inspect.isclass)
    return [(name, one) for name, one in found if one.__module__ == module.__name__]


def _entry(module: str, name: str, value: Any) -> str:
    level = "##" if module == "lehr" else "###"
    head = (
        f"{level} {module}.{name}\n\n```python\n{name}{_signature(value)}\n```\n\n{_prose(value)}\n"
    )
    if not inspect.isclass(value) or module != "lehr" or issubclass(value, BaseException):
        return head
    members = [(key, one) for key, one in vars(value).items() if not key.startswith("_")]
    return head + "".join(_member(key, one) for key, one in members)


def _member(name: str, value: Any) -> str:
    if isinstance(value, property):
        return f"\n**`{name}`**: {inspect.getdoc(value) or ''}\n"
    if inspect.isfunction(value):
        shown = f"{name}{_signature(value)}".replace("(self, ", "(").replace("(self)", "()")
        return f"\n```python\n{shown}\n```\n\n{_prose(value)}\n"
    return ""


def _signature(value: Any) -> str:
    try:
        # Annotations are text under `from __future__ import annotations`; defaults stay quoted.
        return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return ""


def _prose(value: Any) -> str:
    """Return a docstring as Markdown: roles as code, sections as lists, examples as blocks."""
    text = inspect.getdoc(value) or ""
    text = re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")
    lines: list[str] = []
    section, is_example = "", False
    for line in text.splitlines():
        starts = line.startswith(">>>")
        if starts and not is_example:
            lines += ["", "```python"]
        if is_example and not line:
            lines.append("```")
        is_example = starts or (is_example and bool(line))
        if line in ("Args:", "Returns:", "Raises:"):
            section = line
            lines += [f"*{line[:-1]}*", ""]
        elif section and line.startswith("    ") and not is_example:
            lines.append(_listed(line[4:], section))
        else:
            lines.append(line)
    return "\n".join([*lines, *(["```"] if is_example else [])])


def _listed(line: str, section: str) -> str:
    if line.startswith(" "):
        return f"  {line.strip()}"
    found = re.match(r"(\*{0,2}\w+): (.*)", line)
    if found is None or section == "Returns:":
        return line
    return f"- `{found.group(1)}`: {found.group(2)}"
