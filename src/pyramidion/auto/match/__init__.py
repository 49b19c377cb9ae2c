"""Find the units of a pyramid in a peer: `wmin` (greedy, as the paper) and `exact`, each with a function ``match``."""

from pyramidion.auto.match.result import Match, Matcher, PeerMatch, WeightedUnits

__all__ = ["Match", "Matcher", "PeerMatch", "WeightedUnits"]
