import json
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from runner.archive import sbom
from runner.model import ImageIdentity, Package

DIGEST = "sha256:" + "ab" * 32
CREATED = "2026-11-30T16:31:22.123456789Z"
PACKAGES = (
    Package(manager="deb", name="libstdc++6", version="14.2.0-19"),
    Package(manager="deb", name="tzdata", version="2025b-4+deb13u1"),
    Package(manager="deb", name="zlib1g", version="1:1.3.dfsg+really1.3.1-1+b1"),
    Package(manager="npm", name="@anthropic-ai/claude-code", version="2.1.0"),
    Package(manager="npm", name="zod", version="4.1.0"),
    Package(manager="pypi", name="Ruamel.YAML", version="0.18.6"),
)


def image(*packages: Package, name: str = "memory-bench/engine:47b8e155fba0") -> ImageIdentity:
    return ImageIdentity(
        name=name,
        config_digest=DIGEST,
        layers=(),
        platform="linux/arm64",
        base="debian",
        source="0" * 64,
        packages=packages,
    )


def read(raw: bytes) -> Any:
    return json.loads(raw)


def test_it_names_every_package_as_everybody_does() -> None:
    said = read(sbom.write(image(*PACKAGES), CREATED))
    assert [part["purl"] for part in said["components"]] == [
        "pkg:npm/%40anthropic-ai/claude-code@2.1.0",
        "pkg:deb/debian/libstdc%2B%2B6@14.2.0-19",
        "pkg:pypi/ruamel-yaml@0.18.6",
        "pkg:deb/debian/tzdata@2025b-4%2Bdeb13u1",
        "pkg:deb/debian/zlib1g@1:1.3.dfsg%2Breally1.3.1-1%2Bb1",
        "pkg:npm/zod@4.1.0",
    ]
    (on,) = (one for one in said["dependencies"] if one["ref"] == DIGEST)
    assert sorted(on["dependsOn"]) == sorted(part["bom-ref"] for part in said["components"])


def test_its_root_is_the_image_by_its_digest() -> None:
    root = read(sbom.write(image(*PACKAGES), CREATED))["metadata"]["component"]
    assert (root["type"], root["name"], root["version"]) == ("container", "engine", DIGEST)
    assert root["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert root["properties"] == [{"name": sbom.PLATFORM, "value": "linux/arm64"}]


@pytest.mark.parametrize("created", [CREATED, "2026-11-30T16:31:22", None])
@pytest.mark.parametrize("packages", [(), PACKAGES])
def test_the_strictest_reader_takes_it(created: str | None, packages: tuple[Package, ...]) -> None:
    written = sbom.write(image(*packages), created).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None


def test_the_same_image_gives_the_same_bytes() -> None:
    one = sbom.write(image(*PACKAGES), CREATED)
    assert sbom.write(image(*reversed(PACKAGES), *PACKAGES), CREATED) == one
    assert sbom.write(image(*PACKAGES, name="memory-bench/engine:local"), CREATED) == one
    assert read(one)["metadata"]["timestamp"].startswith("2026-11-30T16:31:22")
    assert b"timestamp" not in sbom.write(image(*PACKAGES), None)


def test_another_image_is_told_apart() -> None:
    one = image(*PACKAGES)
    other = one.model_copy(update={"config_digest": "sha256:" + "cd" * 32})
    numbers = {read(sbom.write(each, None))["serialNumber"] for each in (one, other)}
    assert len(numbers) == 2


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="isoformat"):
        sbom.write(image(), "yesterday")
