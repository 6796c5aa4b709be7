"""How a run happens."""
