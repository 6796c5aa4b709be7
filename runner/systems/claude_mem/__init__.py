"""claude-mem, a memory of Claude Code's sessions."""
