"""Checks that imports go one way; prints each that does not, and exits 1.

python scripts/check_imports.py [ROOT]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "runner"

# Highest first. A part imports itself and what stands lower; the parts of one row know nothing of
# each other, but for the last row, which is the common ground.
LAYERS = (
    ("commands",),
    ("archive",),
    ("reports",),
    ("runs",),
    ("suites", "systems", "gateway", "images"),
    (
        "engine_address",
        "engine_api",
        "errors",
        "estimate",
        "faults",
        "keys",
        "model",
        "oci",
        "paths",
        "placeholders",
        "plain",
        "prices",
        "profiles",
        "published",
        "statements",
        "stats",
    ),
)

# What a system implements is declared beside its caller, and is the one thing they share.
EXCEPTIONS = {("systems", "gateway.wire")}

# Only these know that there are containers.
CONFINED = {"docker": ("archive", "engine_api", "images", "oci", "runs.sandbox")}

RANK = {part: rank for rank, row in enumerate(LAYERS) for part in row}


def main(root: Path) -> int:
    """Prints the faults of a checkout; 1 when there are any."""
    faults = [
        f"{file.relative_to(root)}:{line}: {fault}"
        for file in sorted((root / PACKAGE).rglob("*.py"))
        for line, fault in check(root, file)
    ]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


def check(root: Path, file: Path) -> Iterator[tuple[int, str]]:
    """The faults of one module, each with its line."""
    module = ".".join(file.relative_to(root / PACKAGE).with_suffix("").parts)
    module = module.removesuffix(".__init__")
    if module == "__init__":
        return
    part = module.split(".")[0]
    if part not in RANK:
        yield 1, f"{part} stands in no layer: give it a row in scripts/check_imports.py"
        return
    for line, target in imports(root, file):
        package, _, inner = target.partition(".")
        if package != PACKAGE:
            homes = CONFINED.get(package)
            if homes and not any(_inside(module, home) for home in homes):
                yield line, f"{module} imports {package}, which only {', '.join(homes)} may"
            continue
        other = inner.split(".")[0]
        if other in ("", part, "__version__"):
            continue
        if other not in RANK:
            yield line, f"{module} imports {target}, which stands in no layer"
        elif not _allowed(part, inner):
            yield line, f"{module} imports {target}: {part} may not know {other}"


def _allowed(part: str, inner: str) -> bool:
    other = inner.split(".")[0]
    ground = RANK[part] == RANK[other] == len(LAYERS) - 1
    lower = RANK[other] > RANK[part]
    return lower or ground or any(part == a and _inside(inner, b) for a, b in EXCEPTIONS)


def _inside(module: str, home: str) -> bool:
    return module == home or module.startswith(home + ".")


def imports(root: Path, file: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, wherever in it, with the line; relative ones resolved."""
    here = list(file.relative_to(root).with_suffix("").parts)
    package = here[:-1]
    for node in ast.walk(ast.parse(file.read_bytes(), filename=str(file))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            for name in node.names:
                # A name may be a module or something in one: what follows a module is harmless.
                yield node.lineno, f"{stem}.{name.name}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()))
