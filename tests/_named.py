"""Tests that stand for something, by name: a table of them is checked to name tests that exist."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent


def missing(names: list[str]) -> list[str]:
    """Those of ``folder/file.py::test`` that name no test."""
    found = []
    for name in names:
        path, _, test = name.partition("::")
        file = ROOT / path
        if not file.is_file():
            found.append(name)
            continue
        tree = ast.parse(file.read_text("utf-8"))
        tests = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        if test not in tests or not test.startswith("test_"):
            found.append(name)
    return found
