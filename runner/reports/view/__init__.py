"""The pages of a folder's reports on loopback, made anew whenever a report comes or changes."""

from runner.reports.view._folder import scan, version
from runner.reports.view._server import HOST, serve

__all__ = ["HOST", "scan", "serve", "version"]
