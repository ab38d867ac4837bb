"""Claims about code versions: what changes them, what does not, and how a change is named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymline.errors import LineageError
from gymline.lineage import code as code_module
from gymline.lineage.code import Code, code_manifest, differences

MAIN = '''
"""A module."""
from __future__ import annotations
from firm.parts import helper, LIMIT as CAP
from firm import tools
import firm.deep.inner

TABLE = {"a": 1}

def root(x):
    """Does things."""
    # a comment
    return helper(x) + CAP + tools.used(x) + firm.deep.inner.number() + TABLE["a"]

def unrelated():
    return 1
'''
PARTS = "LIMIT = 3\n\ndef helper(x):\n    return f'{x!r} is {LIMIT}'\n"
TOOLS = "from firm.parts import *  # noqa\n\ndef used(x):\n    return x\n\ndef unused(x):\n    return 0\n"
FILES = {
    "__init__.py": "",
    "main.py": MAIN,
    "parts.py": PARTS,
    "tools.py": TOOLS,
    "deep/__init__.py": "from firm.deep.inner import number as renamed\n",
    "deep/inner.py": "def number():\n    return 4\n",
    "text.sh": "echo hello\n",
}


class Firm:
    """A first-party package on disk that tests edit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / "firm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, name: str, before: str, after: str) -> None:
        text = (self.folder / "firm" / name).read_text()
        assert before in text
        self.write(name, text.replace(before, after))

    def parts(self, code: Code | None = None) -> dict[str, str]:
        code_module._find_file.cache_clear()
        return dict(code_manifest(code or Code(("firm.main:root",)), {}).parts)


@pytest.fixture
def firm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Firm]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(code_module, "FIRST_PARTY", ("firm",))
    importlib.invalidate_caches()
    yield Firm(tmp_path)
    for name in [n for n in sys.modules if n == "firm" or n.startswith("firm.")]:
        del sys.modules[name]
    code_module._find_file.cache_clear()


def test_reached_definitions_are_followed_through_imports_constants_and_modules(firm: Firm) -> None:
    assert set(firm.parts()) == {
        "code firm/main.py:root",
        "code firm/main.py:TABLE",
        "code firm/parts.py:helper",
        "code firm/parts.py:LIMIT",
        "code firm/tools.py:used",
        "code firm/deep/inner.py:number",
    }


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("main.py", "# a comment", "# another, longer comment"),
        ("main.py", '"""Does things."""', '"""Does things, é, quite differently."""'),
        ("main.py", "def root(x):", "def root(\n    x,\n):"),
        ("main.py", "\n    return helper", "\n\n    return helper"),
        ("main.py", '{"a": 1}', '{\n    "a": 1,\n}'),
        ("main.py", "return 1", "return 2"),
        ("tools.py", "return 0", "return 9"),
        ("parts.py", "    return f", "        return f"),
    ],
)
def test_comments_docstrings_layout_and_unreached_code_change_nothing(
    firm: Firm, file: str, before: str, after: str
) -> None:
    unedited = firm.parts()
    firm.replace(file, before, after)
    assert firm.parts() == unedited


@pytest.mark.parametrize(
    ("file", "before", "after", "part"),
    [
        ("main.py", "+ CAP", "- CAP", "code firm/main.py:root"),
        ("main.py", '"a": 1', '"a": 2', "code firm/main.py:TABLE"),
        ("parts.py", "LIMIT = 3", "LIMIT = 4", "code firm/parts.py:LIMIT"),
        ("parts.py", "{x!r} is", "{x!s} is", "code firm/parts.py:helper"),
        ("tools.py", "    return x", "    return x + 1", "code firm/tools.py:used"),
        ("deep/inner.py", "return 4", "return 5", "code firm/deep/inner.py:number"),
    ],
)
def test_a_change_of_logic_is_named_by_file_and_definition(
    firm: Firm, file: str, before: str, after: str, part: str
) -> None:
    unedited = firm.parts()
    firm.replace(file, before, after)
    assert differences(unedited, firm.parts()) == [part]


def test_a_one_element_tuple_is_not_taken_for_layout(firm: Firm) -> None:
    firm.replace("main.py", '{"a": 1}', "(1)")
    number = firm.parts()
    firm.replace("main.py", "(1)", "(1,)")
    assert firm.parts() != number


def test_a_re_export_leads_to_the_definition_and_not_to_the_package(firm: Firm) -> None:
    firm.write("other.py", "from firm.deep import renamed\n\ndef go():\n    return renamed()\n")
    before = firm.parts(Code(("firm.other:go",)))
    assert set(before) == {"code firm/other.py:go", "code firm/deep/inner.py:number"}
    firm.replace("deep/__init__.py", "\n", "\nADDED = 1\n")
    assert firm.parts(Code(("firm.other:go",))) == before


def test_texts_count_and_their_line_endings_do_not(firm: Firm) -> None:
    code = Code(("firm.main:unrelated",), texts=("firm/*.sh",))
    before = firm.parts(code)
    firm.write("text.sh", "echo hello\r\n")
    assert firm.parts(code) == before
    firm.write("text.sh", "echo bye\n")
    assert differences(before, firm.parts(code)) == ["text firm/text.sh"]


def test_of_a_settings_class_the_values_count_and_not_the_text(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    firm.write(
        "settings.py",
        "from pydantic_settings import BaseSettings\n\nclass S(BaseSettings):\n    firm_rate: int = 2\n",
    )
    firm.write("use.py", "from firm.settings import S\n\ndef go(s: S):\n    return s.firm_rate\n")
    code = Code(("firm.use:go",))
    before = firm.parts(code)
    assert "setting S.firm_rate" in before
    firm.replace("settings.py", "class S", "# words\nclass S")
    assert firm.parts(code) == before
    monkeypatch.setenv("FIRM_RATE", "3")
    assert differences(before, firm.parts(code)) == ["setting S.firm_rate"]


def test_settings_of_a_room_that_is_not_reached_change_nothing(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    firm.write(
        "settings.py", "from pydantic_settings import BaseSettings\n\nclass S(BaseSettings):\n    rate: int = 2\n"
    )
    before = firm.parts()
    monkeypatch.setenv("RATE", "3")
    assert firm.parts() == before


def test_roots_texts_and_fingerprints_that_do_not_exist_are_errors(firm: Firm) -> None:
    for code in (
        Code(("firm.main:missing",)),
        Code(("firm.nowhere:root",)),
        Code((), texts=("firm/*.none",)),
        Code((), fingerprints=("rootfs",)),
    ):
        with pytest.raises(LineageError):
            firm.parts(code)


def test_fingerprints_are_part_of_the_version() -> None:
    code = Code((), fingerprints=("rootfs",))
    assert code_manifest(code, {"rootfs": "a"}).version != code_manifest(code, {"rootfs": "b"}).version
    assert code_manifest(code, {"rootfs": "a"}).version == code_manifest(code, {"rootfs": "a"}).version


def test_every_text_beside_the_code_of_a_room_is_declared_by_some_asset() -> None:
    import gymline
    from assets import graph

    package = Path(gymline.__file__).parent
    declared: set[Path] = set()
    for node in graph().nodes.values():
        for pattern in node.code.texts if node.code else ():
            declared |= {path for _, path in code_module._texts(pattern)}
    rooms = ("build", "cases", "crawl", "suites", "programs")
    texts = {
        p for room in rooms for p in (package / room).rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")
    }
    assert texts <= declared, "a text no asset declares could change content unnoticed"


def test_settings_classes_are_recognised_in_the_real_tree() -> None:
    from assets import graph

    node = graph().nodes["gold_build"]
    assert node.code is not None
    parts = code_manifest(node.code, {"rootfs": "x"}).parts
    assert "setting BuildSettings.compile_seconds" in parts
    assert "code gymline/build/gold.py:build_gold" in parts
    assert not any("gymline/sandbox" in part or "gymline/store" in part for part in parts)
