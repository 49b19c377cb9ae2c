"""From references to a pyramid: segmenters, embedders, similarity, partitioners."""
