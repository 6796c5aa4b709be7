"""An engine's images out of it and into it, each held to the digests that make it what it is.

What names an image everywhere is the digest of its config, which holds the digests of its layers.
Engines that keep images as containerd does call them by their manifests instead; of those only what
they save tells the config.
"""

from runner.oci._engine import Held, by_manifest, inspect, tag
from runner.oci._loading import LoadedLayer, Loading, load
from runner.oci._saved import Layer
from runner.oci._saving import Saved, Saving, config_of, find

__all__ = [
    "Held",
    "Layer",
    "LoadedLayer",
    "Loading",
    "Saved",
    "Saving",
    "by_manifest",
    "config_of",
    "find",
    "inspect",
    "load",
    "tag",
]
