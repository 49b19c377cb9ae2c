"""Find out how good the content of summaries is.

>>> import pyramidion as pyr
>>> study = pyr.example()
>>> print(pyr.score(study, "lite"))
"""
