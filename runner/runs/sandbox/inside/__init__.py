"""What runs inside a container to look at it: standard library only, Python 3.9 and later.

These modules are sent there as source (:mod:`runner.runs.sandbox._inside`), so they import nothing
of the project but each other, and each other only in the order they are sent: ``report``, the
probes, ``main``.
"""
