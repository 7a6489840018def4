"""Print a tree as JSON Schema: draft 2020-12, or the closed form that hosted APIs take.

The closed form says nothing that such APIs refuse: its root is an object (a value that is none stands in
``{"value": ...}``), every member is required, nothing else may be there, no ``prefixItems``, no lengths of strings.
What it cannot say, the validator holds all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from grammar.errors import EmptyDomain
from grammar.expression import MILLION
from grammar.nodes import (
    Base64,
    CellNode,
    Field,
    FloatRange,
    IntRange,
    ListOf,
    MapOf,
    MarkNode,
    Maybe,
    Node,
    OneOf,
    ProofNode,
    Record,
    Root,
    Scope,
    Text,
    TupleOf,
    Variants,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ENVELOPE = "value"
"""The member that a value which is no object stands in, in the closed form."""
BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
_TYPES = {str: "string", bool: "boolean", int: "integer", type(None): "null"}

Schema = dict[str, Any]


def print_schema(node: Node, scope: Scope, *, closed: bool) -> str:
    """The schema's exact text.

    Raises:
        EmptyDomain: the type needs something to name, and there is nothing.
    """
    return json.dumps(schema(node, scope, closed=closed), ensure_ascii=True, separators=(",", ":"))


def schema(node: Node, scope: Scope, *, closed: bool) -> Schema:
    """The schema as an object."""
    printer = _Printer(scope, closed)
    if closed and not is_record(node):
        body = _object({ENVELOPE: printer.node(node)}, [ENVELOPE])
    else:
        body = printer.node(node)
        if isinstance(node, Record | Root):
            body = printer.inlined(body)
    head = {} if closed else {"$schema": DRAFT}
    return {**head, **body, **({"$defs": printer.definitions} if printer.definitions else {})}


def is_record(node: Node) -> bool:
    """True when every sentence of a tree is one kind of object."""
    return isinstance(node, Record) or (isinstance(node, Root) and is_record(node.item))


class _Printer:
    def __init__(self, scope: Scope, closed: bool) -> None:
        self._scope = scope
        self._closed = closed
        self._names: dict[Record, str] = {}
        self.definitions: dict[str, Schema] = {}

    def inlined(self, reference: Schema) -> Schema:
        """A root's own definition in place of the reference to it."""
        name = reference.get("$ref", "").removeprefix("#/$defs/")
        return self.definitions.pop(name) if name else reference

    def node(self, node: Node) -> Schema:
        """The schema of one node."""
        match node:
            case OneOf():
                return self._one_of(node)
            case IntRange():
                return {"type": "integer", "minimum": node.low, "maximum": node.high}
            case FloatRange():
                return {"type": "number", "minimum": node.low / MILLION, "maximum": node.high / MILLION}
            case Text():
                pattern = {"pattern": node.pattern} if node.pattern else {}
                return {"type": "string", **self._lengths(node.low, node.high), **pattern}
            case Base64():
                lengths = self._lengths(-(-node.low // 3) * 4, -(-node.high // 3) * 4)
                return {"type": "string", "contentEncoding": "base64", "pattern": BASE64, **lengths}
            case MarkNode():
                return {"type": "integer", "enum": self._named("mark", list(self._scope.marks))}
            case CellNode():
                return {"type": "string", "enum": self._named("cell", list(self._scope.cells))}
            case ProofNode():
                return {"type": "string", "enum": [self._scope.proof]}
            case Maybe():
                return {"anyOf": [self.node(node.item), {"type": "null"}]}
            case Root():
                return self.node(node.item)
        return self._composite(node)

    def _composite(self, node: Node) -> Schema:
        match node:
            case ListOf():
                item = {"items": self.node(node.item)} if node.high else {}
                return {"type": "array", **item, "minItems": node.low, "maxItems": node.high}
            case TupleOf():
                return self._tuple([self.node(item) for item in node.items])
            case MapOf():
                entry = {"key": self.node(node.key), "value": self.node(node.value)} if node.high else None
                item = {} if entry is None else {"items": _object(entry, list(entry))}
                return {"type": "array", **item, "minItems": node.low, "maxItems": node.high}
            case Variants():
                return {"anyOf": [self.node(record) for record in node.records]}
            case Record():
                return self._record(node)
        raise TypeError(f"expected a node of grammar.nodes, found {node!r}")

    def _record(self, node: Record) -> Schema:
        """A reference to a record's definition."""
        if node not in self._names:
            self._names[node] = self._free_name(re.sub(r"[^A-Za-z0-9_]+", "_", node.name))
            self.definitions[self._names[node]] = {}
            properties: dict[str, Schema] = {}
            optional: set[str] = set()
            for each in node.fields:
                if isinstance(each.node, MarkNode) and each.node.label_key is not None:
                    label, may_lack = self._label()
                    if label is not None:
                        properties[each.node.label_key] = label
                        optional |= {each.node.label_key} if may_lack else set()
                properties[each.name] = self._described(each)
            required = [name for name in properties if name not in optional]
            doc = {"description": node.doc} if node.doc else {}
            self.definitions[self._names[node]] = {**doc, **_object(properties, required)}
        return {"$ref": f"#/$defs/{self._names[node]}"}

    def _free_name(self, plain: str) -> str:
        """A definition's name that no other has."""
        taken = set(self._names.values())
        numbered = (f"{plain}_{i}" for i in count(2))
        return next(name for name in chain([plain], numbered) if name not in taken)

    def _described(self, each: Field) -> Schema:
        body = self.node(each.node)
        return {**body, "description": each.doc} if each.doc else body

    def _label(self) -> tuple[Schema | None, bool]:
        """The schema of a mark's label, None where no mark has one; and whether it may be left out."""
        labels = list(dict.fromkeys(mark.label for mark in self._scope.marks.values()))
        named = [label for label in labels if label is not None]
        if not named:
            return None, False
        if len(named) == len(labels):
            return {"type": "string", "enum": named}, False
        if self._closed:
            return {"type": ["string", "null"], "enum": [*named, None]}, False
        return {"type": "string", "enum": named}, True

    def _one_of(self, node: OneOf) -> Schema:
        kinds = list(dict.fromkeys(_TYPES[type(value)] for value in node.values))
        if set(kinds) == {"boolean"} and len(node.values) == 2:
            return {"type": "boolean"}
        if kinds == ["null"]:
            return {"type": "null"}
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(node.values)}

    def _tuple(self, items: Sequence[Schema]) -> Schema:
        size = {"minItems": len(items), "maxItems": len(items)}
        if not items:
            return {"type": "array", **size}
        if not self._closed:
            return {"type": "array", "prefixItems": list(items), "items": False, **size}
        different = [item for i, item in enumerate(items) if item not in items[:i]]
        return {"type": "array", "items": different[0] if len(different) == 1 else {"anyOf": different}, **size}

    def _lengths(self, low: int, high: int) -> Schema:
        return {} if self._closed else {"minLength": low, "maxLength": high}

    def _named(self, kind: str, names: list[Any]) -> list[Any]:
        if not names:
            raise EmptyDomain(kind)
        return names


def _object(properties: dict[str, Schema], required: Sequence[str]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
