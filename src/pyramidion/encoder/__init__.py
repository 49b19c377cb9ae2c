"""Sentences, word pieces, the shipped encoder and words in context, for pyramids and judges."""
