import json
from collections.abc import Mapping

from runner.images import _config
from runner.images._config import EMPTY_LAYER

LATEST = 1_785_715_200
ISO = "2026-08-03T00:00:00Z"
RUN = "RUN |1 SOURCE_DATE_EPOCH=1 /bin/sh -c pip install && bench-seal /opt/x # buildkit"
CONFIG = {
    "architecture": "arm64",
    "variant": "v8",
    "os": "linux",
    "created": "2026-11-30T18:05:14.535505523Z",
    "container": "abc",
    "docker_version": "20.10",
    "config": {
        "Hostname": "abc",
        "User": "10001:10001",
        "Env": ["PATH=/bin"],
        "Cmd": None,
        "Labels": {"a": "1", "memory-bench.drift": "old"},
        "ArgsEscaped": True,
        "OnBuild": None,
    },
    "history": [
        {"created": "2026-01-02T03:04:05.678Z", "comment": "Imported from -"},
        {"created": "2026-11-30T18:05:14.5Z", "created_by": "ARG X", "empty_layer": True},
        {"created": "2026-11-30T18:05:14.5Z", "created_by": RUN, "comment": "buildkit"},
    ],
    "rootfs": {"type": "layers", "diff_ids": ["sha256:old"]},
}


def canonical(config: Mapping[str, object], **marks: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(_config.canonical(config, ["sha256:1"], marks, LATEST))
    return found


def test_a_config_says_what_a_container_is_told_and_nothing_of_its_making() -> None:
    assert canonical(CONFIG) == {
        "architecture": "arm64",
        "variant": "v8",
        "os": "linux",
        "created": ISO,
        "config": {
            "User": "10001:10001",
            "Env": ["PATH=/bin"],
            "Labels": {"a": "1", "memory-bench.drift": "old"},
        },
        "history": [
            {"created": "2026-01-02T03:04:05Z", "comment": "Imported from -"},
            {"created": ISO, "created_by": "ARG X", "empty_layer": True},
            {"created": ISO, "created_by": RUN, "comment": "buildkit"},
        ],
        "rootfs": {"type": "layers", "diff_ids": ["sha256:1"]},
    }


def test_it_is_one_sequence_of_bytes_and_stays_what_it_is() -> None:
    once = _config.canonical(CONFIG, ["sha256:1"], {}, LATEST)
    later = {**CONFIG, "created": "2027-01-01T00:00:00Z", "container": "def"}
    assert _config.canonical(dict(reversed(later.items())), ["sha256:1"], {}, LATEST) == once
    assert _config.canonical(json.loads(once), ["sha256:1"], {}, LATEST) == once


def test_labels_are_set_and_those_without_a_value_taken_away() -> None:
    assert canonical(CONFIG, **{"b": "2", "memory-bench.drift": ""})["config"] == {
        "User": "10001:10001",
        "Env": ["PATH=/bin"],
        "Labels": {"a": "1", "b": "2"},
    }
    bare = {"architecture": "amd64", "os": "linux", "config": None, "history": None}
    assert canonical(bare, a="")["config"] == {}


def test_a_moment_nobody_can_read_is_the_latest() -> None:
    odd = {**CONFIG, "history": [{"created": "yesterday"}, {"created": None}, {}]}
    assert [step["created"] for step in canonical(odd)["history"]] == [ISO] * 3  # type: ignore[attr-defined]


INSPECTED = {
    "Architecture": "arm64",
    "Variant": "v8",
    "Os": "linux",
    "Author": "",
    "Config": CONFIG["config"],
}
HISTORY = [
    {"Created": 1796061914, "CreatedBy": RUN, "Comment": "buildkit", "Size": 5},
    {"Created": 1796061914, "CreatedBy": "ARG X", "Comment": "", "Size": 0},
    {"Created": 1767323045, "CreatedBy": "", "Comment": "Imported from -", "Size": 9},
]


def test_what_an_engine_tells_comes_to_the_same_as_what_it_saves() -> None:
    assert canonical(_config.told(INSPECTED, HISTORY)) == canonical(CONFIG)


def sealed(*steps: str, layers: list[str] | None = None, below: int = 0) -> bool:
    history = [{"CreatedBy": step, "Created": 0} for step in reversed(steps)]
    config = _config.told(INSPECTED, history)
    return _config.sealed(config, layers or [f"sha256:{n}" for n in range(len(steps))], below)


def test_layers_need_not_be_looked_at_where_every_step_ended_with_the_seal() -> None:
    assert sealed(RUN)
    assert sealed("RUN /bin/sh -c bench-seal # buildkit")
    assert sealed("RUN |2 A=1 B=2 /bin/sh -c bench-seal /opt/x npm:/opt/y # buildkit")
    assert sealed(RUN.replace(" && ", " &&     \n "))
    assert sealed("", RUN, below=1)
    assert sealed("ENV A=1", RUN, "CMD x", "/bin/sh -c #(nop)  LABEL b", layers=["sha256:1"])
    assert sealed("WORKDIR /results", RUN, layers=[EMPTY_LAYER, "sha256:1"])


def test_layers_are_looked_at_where_a_step_may_have_left_a_time() -> None:
    for step in (
        "COPY . /opt # buildkit",
        "ADD x /",
        "WORKDIR /somewhere",
        "RUN /bin/sh -c pip install # buildkit",
        "RUN /bin/sh -c bench-seal && touch /x # buildkit",
        "RUN /bin/sh -c true && bench-seal; touch /x # buildkit",
        "RUN /bin/sh -c true && bench-seal | tee /x # buildkit",
        "RUN /bin/sh -c true && bench-seal >/x # buildkit",
        "RUN /bin/sh -c echo bench-seal # buildkit",
        "RUN /bin/sh -c false || bench-seal # buildkit",
        "RUN /bin/sh -c true && bench-sealed # buildkit",
        "",
    ):
        assert not sealed(step), step
        assert not sealed(RUN, step), step
    # Where steps and layers do not match, nobody knows which is which.
    assert not sealed(RUN, layers=["sha256:1", "sha256:2"])
    assert not sealed("", RUN)
