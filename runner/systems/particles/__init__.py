"""linkedparticles, the engine of the published results."""
