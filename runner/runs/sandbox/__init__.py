"""The box a run happens in."""
