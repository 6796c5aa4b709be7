"""The report: schema, writing, rescoring, rendering."""
