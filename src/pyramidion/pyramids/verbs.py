"""What the form of an English verb tells: may it follow a subject, and may it continue what another verb began?

"He came and saw" says that he saw, because "saw" has the form of "came". "He came to see and learn" does not say that
he learns. Auxiliaries and irregular verbs are closed lists; other verbs are told by their endings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

Form = Literal["auxiliary", "past", "past only", "participle", "ing", "s", "base", "be"]


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


BE = _words("is are was were am isn aren wasn weren")
HAVE = _words("has have had hasn haven hadn")
MODAL = _words("""
    will would can could may might shall should must cannot do does did ca wo wouldn couldn shouldn don doesn didn
""")
SHORT = {"s": "is", "re": "are", "m": "am", "ve": "have", "ll": "will", "d": "would"}
"""What is left of an auxiliary after an apostrophe."""
_PLAIN_FORM: dict[str, Form] = {
    "is": "s", "was": "past", "were": "past", "are": "base", "am": "base", "has": "s", "had": "past", "have": "base",
}  # fmt: skip
_IRREGULAR = """
    arise arose arisen, bear bore borne, beat beat beaten, become became become, begin began begun, bite bit bitten,
    break broke broken, bring brought brought, build built built, buy bought bought, catch caught caught,
    choose chose chosen, come came come, cost cost cost, cut cut cut, deal dealt dealt, die died died, do did done,
    draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed fed,
    feel felt felt, fight fought fought, find found found, flee fled fled, fly flew flown, forbid forbade forbidden,
    forget forgot forgotten, get got got, give gave given, go went gone, grow grew grown, hang hung hung,
    hear heard heard, hide hid hidden, hit hit hit, hold held held, hurt hurt hurt, keep kept kept, know knew known,
    lay laid laid, lead led led, leave left left, lend lent lent, let let let, lie lay lain, lose lost lost,
    make made made, mean meant meant, meet met met, pay paid paid, put put put, quit quit quit, read read read,
    ride rode ridden, ring rang rung, rise rose risen, run ran run, say said said, see saw seen, seek sought sought,
    sell sold sold, send sent sent, set set set, shake shook shaken, shoot shot shot, show showed shown,
    shrink shrank shrunk, shut shut shut, sing sang sung, sink sank sunk, sit sat sat, sleep slept slept,
    speak spoke spoken, spend spent spent, spread spread spread, stand stood stood, steal stole stolen,
    stick stuck stuck, strike struck struck, swear swore sworn, sweep swept swept, swim swam swum, take took taken,
    teach taught taught, tear tore torn, tell told told, think thought thought, throw threw thrown,
    understand understood understood, wake woke woken, wear wore worn, win won won, withdraw withdrew withdrawn,
    write wrote written
"""
_PAST = frozenset(each.split()[1] for each in _IRREGULAR.split(","))
_PARTICIPLES = frozenset(each.split()[2] for each in _IRREGULAR.split(",")) | {"been"}
ADVERBS = _words("""
    also now then still never not even just only often thus therefore later already always again soon once twice ever
    yet so both first finally n t together instead however since almost nearly
""")
NO_VERBS = _words("""
    a an the this that these those my your his her its our their some any no every each all many much more most few
    several other another such and or but nor of in on at by for from with without about into onto over under between
    among during through against within despite upon as than like if whether because although though while when where
    which who whom whose what how why to not i you he she it we they me him us them there here one two three both
    either neither until unless per via including according et al
""")


_PLURAL = _words("""
    they we i you who which that people police men women children others some many few most all both several two three
    four five six seven eight nine ten percent half none any more there
""")
"""Subjects of verbs without -s that do not end with it, or may be both."""


PREPOSITIONS = _words("of in on at by for from with to near about between among")
"""What follows them is not what a subject is: "months of disruption"."""


class Predicate(NamedTuple):
    """A finite verb with its subject, by the numbers of their words.

    ``last`` is the end of what a further verb repeats, the subject and perhaps an auxiliary; ``forms`` are the forms
    that this verb may have. ``verb`` is the last word of the verb itself. ``links``: it says what the subject is.
    """

    subject: tuple[int, int]
    last: int
    verb: int
    forms: frozenset[Form] = frozenset()
    past: bool = False
    links: bool = False

    @property
    def first(self) -> int:
        return self.subject[0]


def forms(word: str) -> frozenset[Form]:
    """The forms that a word may be, if it is a verb; empty for one that is none."""
    small = word.lower()
    if small == "be":
        return frozenset({"be"})
    if small in BE | HAVE | MODAL:
        return frozenset({"auxiliary"})
    if len(small) == 1 or small in NO_VERBS or small in ADVERBS or not small.isalpha() or word[0].isupper():
        return frozenset()
    known: set[Form] = set()
    if small in _PAST:
        known |= {"past"} if small in _PARTICIPLES else {"past", "past only"}
    if small in _PARTICIPLES:
        known.add("participle")
    if known:
        return frozenset(known)
    if small.endswith("ed") and len(small) > 3:
        return frozenset({"past", "participle"})
    if small.endswith("ing") and len(small) > 4:
        return frozenset({"ing"})
    if small.endswith("s") and not small.endswith(("ss", "us", "is")):
        return frozenset({"s"})
    return frozenset() if small.endswith("ly") else frozenset({"base"})


def is_finite(word: str) -> bool:
    """Whether a word can be what makes a clause whole: neither "leading", "to lead" nor "taken"."""
    return bool(forms(word) & {"auxiliary", "past", "s", "base"})


def agrees(subject: Sequence[str], verb: str) -> bool:
    """Whether a subject may have this verb: "they are", "a plant has", but not "India are" nor "the Reef rest"."""
    small = [word.lower() for word in subject]
    small = list(takewhile(lambda word: word not in PREPOSITIONS, small)) or small
    joined = "and" in small
    plural = joined or small[-1] in _PLURAL or (small[-1].endswith("s") and not small[-1].endswith("ss"))
    if verb in ("are", "were", "have", "do") or forms(verb) == {"base"}:
        return plural
    return not (joined and (verb in ("is", "was", "has", "does") or forms(verb) == {"s"}))


def skip_adverbs(words: Sequence[str], place: int, last: int) -> int:
    """The place of the first word from ``place`` on that is not an adverb (or an apostrophe inside one)."""
    while place < last and (words[place].lower() in ADVERBS or words[place].endswith("ly") or words[place] in "'’"):
        place += 1
    return place


def predicate(words: Sequence[str], subject: tuple[int, int], place: int, last: int) -> Predicate | None:
    """What is said of a subject by the verb at ``place``, the first word after it that is not an adverb.

    None where that word cannot be a finite verb.
    """
    if place >= last:
        return None
    short = SHORT.get(words[place].lower(), "") if place and words[place - 1] in ("'", "’") else ""
    verb = short or words[place].lower()
    if not short and not is_finite(words[place]):
        return None
    if forms(verb) == {"base"} and not agrees(words[slice(*subject)], verb):
        return None
    after = skip_adverbs(words, place + 1, last)
    negated = any(word.lower() in ("not", "never", "t") for word in words[place + 1 : after])
    main = forms(words[after]) if after < last else frozenset()
    past = verb in ("was", "were", "had", "did") or "past" in forms(verb)
    if verb in MODAL:
        repeated: frozenset[Form] = frozenset({"base", "be"})
    elif verb in HAVE and "participle" in main:
        repeated = frozenset({"participle"})
    elif verb in BE and "ing" in main:
        repeated = frozenset({"ing"})
    elif verb in BE and "participle" in main:  # "was arrested and died": an ending -ed does not say which it is
        return Predicate(subject, subject[1], after, frozenset({"past only"}), past)
    else:
        plain = _PLAIN_FORM.get(verb)
        continued = frozenset({plain}) if plain else forms(verb) - {"participle", "past only"}
        return Predicate(subject, subject[1], place, continued, past, links=verb in BE)
    return Predicate(subject, place + 1, after, frozenset() if negated else repeated, past)
