"""What hangs on an image in an archive: one artifact type each, and what its files are."""

REPORT = "application/vnd.memory-bench.report.v1"
"""The report, as its file is."""

SNAPSHOT = "application/vnd.memory-bench.snapshot.v1"
"""Snapshots of stores, each a tar named by the digest the report has of it."""

CASSETTE = "application/vnd.memory-bench.cassette.v1"
"""The recording that the report's runs were made from, or made."""

SEALED = "application/vnd.memory-bench.sealed.v1"
"""The answers to a held-out set, as their file is."""

INPUTS = "application/vnd.memory-bench.inputs.v1"
"""What the system was given and what scripted models answered by: the report's fixtures."""

SBOM = "application/vnd.memory-bench.sbom.v1"
"""What is in an image, as CycloneDX has it."""

LOCKS = "application/vnd.memory-bench.locks.v1"
"""The files that pin what is in an image."""

OF_A_REPORT = (REPORT, SNAPSHOT, CASSETTE, SEALED, INPUTS)
OF_AN_IMAGE = (SBOM, LOCKS)

LEFT_OUT = "memory-bench.left-out"
"""Annotation of an index: the images that are not in it, as JSON."""

FIXTURE = "memory-bench.fixture"
"""Annotation of an input: the fixture of the report that it is, or is a page of."""

JSON = "application/json"
CYCLONEDX = "application/vnd.cyclonedx+json"
GZIP = "application/gzip"
TAR = "application/x-tar"
TEXT = "text/plain"
BYTES = "application/octet-stream"
_BY_ENDING = {
    ".cdx.json": CYCLONEDX,
    ".json": JSON,
    ".gz": GZIP,
    ".tar": TAR,
    ".toml": TEXT,
    ".txt": TEXT,
    ".md": TEXT,
    ".lock": TEXT,
    ".jsonl": TEXT,
}


def type_of(name: str) -> str:
    """What a file is, by the ending of its name."""
    return next((kind for end, kind in _BY_ENDING.items() if name.endswith(end)), BYTES)
