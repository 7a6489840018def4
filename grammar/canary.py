"""The canary: a grammar whose only sentence is a text that nobody could guess.

A host that drops a grammar in silence answers it with something else, and is found out before it plays.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grammar.language import GBNF, LARK, Language, plan
from grammar.nodes import NOTHING, Field, OneOf, Record
from grammar.reply import Artifact, Dialect, Reply

Enforcement = Literal[
    "enforced",  # the canary was sung
    "dropped",  # something else was said
    "unclaimed",  # it is given no grammar, by the user's word
]

PROMPT = "Answer in one word: what is your favourite colour?\n"
"""What to ask: any host that is not held answers with a colour."""


@dataclass(frozen=True, kw_only=True)
class Canary:
    """One probe.

    Attributes:
        sentence: the only sentence, which stands in the artifacts and in no prompt.
        artifacts: the constraint in each dialect, about as long as a tick's.
    """

    sentence: str
    artifacts: Mapping[Dialect, Artifact]

    def outcome(self, reply: Reply) -> Enforcement:
        """What a reply to ``PROMPT`` under one of the artifacts says of its host."""
        if reply.text == self.sentence and reply.finish == "stop":
            return "enforced"
        dialect = reply.claim.dialect if reply.claim else reply.sent
        schema = dialect in ("json_schema", "json_schema_closed")
        return "enforced" if schema and _same(reply.text, self.sentence) else "dropped"


def new_canary(size: int = 0, nonce: str | None = None) -> Canary:
    """A canary that no other equals.

    Args:
        size: bytes of a tick's grammar; the canary's are no fewer, so that a limit on length shows.
        nonce: 16 digits in hex, for one that can be repeated. None: chosen now, as nobody could guess.
    """
    nonce = nonce or secrets.token_hex(8)
    node = Record("canary", (Field("tool", OneOf.of(nonce), None),), None)
    language = Language(plan(node, NOTHING, _nothing), NOTHING)
    artifacts: dict[Dialect, Artifact] = {
        dialect: _padded(artifact, size, nonce) for dialect, artifact in language.artifacts.items()
    }
    return Canary(sentence=f'{{"tool":"{nonce}"}}', artifacts=artifacts)


def _padded(artifact: Artifact, size: int, nonce: str) -> Artifact:
    """An artifact made longer by a rule that nothing leads to; choices have no room for one."""
    missing = max(0, size - len(artifact.text))
    padding = hashlib.shake_256(nonce.encode()).hexdigest(missing // 2 + 1)  # not the nonce, which is the answer
    text = artifact.text
    match artifact.dialect:
        case "lark":
            text += LARK.rule("PADDING", f'"{padding}"')
        case "gbnf":
            text += GBNF.rule("padding", f'"{padding}"')
        case "json_schema" | "json_schema_closed":
            schema = {**json.loads(text), "$defs": {"padding": {"enum": [padding]}}}
            text = json.dumps(schema, separators=(",", ":"))
        case "choices":
            pass
    return Artifact(dialect=artifact.dialect, root=artifact.root, text=text)


def _same(text: str, sentence: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(sentence))
    except (ValueError, RecursionError):
        return False


def _nothing(value: object) -> None:
    return None
