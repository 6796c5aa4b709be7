"""The baselines: a store that holds pages and no claims, and no call to any model."""
