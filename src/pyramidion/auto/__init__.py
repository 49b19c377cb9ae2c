"""Automated pyramids: references in, weighted units out; peers in, matched units out. Gao, Sun and Passonneau 2019."""
