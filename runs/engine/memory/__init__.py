"""Memory of the server under test, sampled beside a run and never in its timing path."""

from runs.engine.memory.process import ServerProcess
from runs.engine.memory.sampler import MemorySampler

__all__ = ["MemorySampler", "ServerProcess"]
