"""Make a pyramid from a similarity graph: `edua_c`, `edua_g` and `edua_x`, each with a function ``partition``."""

from pyramidion.auto.partition.result import Partition, Partitioner, Unit, attraction_of_pyramid

__all__ = ["Partition", "Partitioner", "Unit", "attraction_of_pyramid"]
