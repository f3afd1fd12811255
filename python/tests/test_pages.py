"""The runner of the pages in docs/tutorial and docs/gallery."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs" / "execute.py"

PAGE = """# A page

```python
level = 6 * 7
print("level", level)
```

```text
what it printed before
```

```python
level + 1
```

```sh
echo 'look again: too short'
```
"""


@pytest.fixture
def runner(monkeypatch):
    spec = importlib.util.spec_from_file_location("execute", PATH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "execute", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_what_a_block_prints_stands_below_it(runner, page):
    text, changes = runner.executed(page)
    assert "level 42\n```\n\n```python\nlevel + 1\n```\n\n```text\n43\n```\n" in text
    assert "before" not in text
    assert [now for _, now in changes] == ["level 42\n", "43\n", "look again: too short\n"]


def test_a_page_that_was_run_stays_as_it_is(runner, page):
    page.write_text(runner.executed(page)[0])
    text, changes = runner.executed(page)
    assert text == page.read_text()
    assert runner.differences(page, changes) == []


def test_a_verdict_that_changed_is_told(runner, page):
    page.write_text(runner.executed(page)[0].replace("text\nlook again:", "text\nreliable:"))
    (told,) = runner.differences(page, runner.executed(page)[1])
    assert "['reliable']" in told and "['look again']" in told


@pytest.mark.parametrize("block", ["```sh\nfalse\ntrue\n```\n", "```python\n1 / 0\n```\n"])
def test_a_block_that_fails_ends_the_run(runner, page, block):
    page.write_text(block)
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        runner.executed(page)


def test_a_mistake_in_a_model_is_told_with_its_line_in_the_page(runner, page):
    page.write_text("# Title\n\n```python\nimport lehr\n\nlehr.sample('a', None)\n```\n")
    with pytest.raises(Exception, match=r"page\.md:6: "):
        runner.executed(page)
