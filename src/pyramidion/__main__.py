"""`python -m pyramidion` is the `pyramidion` command."""

from pyramidion.cli.main import main

main()
