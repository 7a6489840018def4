"""Dataclasses and pydantic models: their fields, and the ways in which they could judge otherwise than a grammar."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, PydanticUserError, RootModel, TypeAdapter
from pydantic.fields import FieldInfo

from grammar.errors import InadmissibleType
from grammar.limits import refuse_absence

_CHANGING = {  # settings under which a model changes, or refuses, what its types admit
    "alias_generator",
    "coerce_numbers_to_str",
    "str_max_length",
    "str_min_length",
    "str_strip_whitespace",
    "str_to_lower",
    "str_to_upper",
    "use_enum_values",
}
_HOOKS = ("__init__", "__new__", "__get_pydantic_core_schema__", "model_post_init", "model_validate")


def record_fields(declared: type[Any]) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    """Name, type and what is said beside it, of each field in declared order.

    Raises:
        InadmissibleType: a field may be left out, has an alias, or a name that would need escapes.
    """
    named = _model_fields(declared) if issubclass(declared, BaseModel) else _dataclass_fields(declared)
    for name, annotation, notes in named:
        if not is_word(name):
            where = f"{declared.__name__}.{name}"
            raise InadmissibleType("name", where, f"Found the name {name!r}.", "Use ASCII letters, digits and _.")
        yield name, annotation, notes


def is_word(name: str) -> bool:
    """True for a name that needs no escapes anywhere."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def _model_fields(declared: type[BaseModel]) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    if not declared.__pydantic_complete__ and declared.model_rebuild(raise_errors=False) is False:
        where, remedy = declared.__name__, "Define what it names before, or call model_rebuild()."
        raise InadmissibleType("unknown type", where, "It names types that are not defined.", remedy)
    for name, info in declared.model_fields.items():
        refuse_absence(f"{declared.__name__}.{name}", info)
        yield name, info.annotation, [info]


def _dataclass_fields(declared: type[Any]) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    hints = typing.get_type_hints(declared, include_extras=True)
    own = {each.name: each for each in dataclasses.fields(declared)}
    checked: dict[str, FieldInfo] = getattr(declared, "__pydantic_fields__", {})
    for name, pseudo in declared.__dataclass_fields__.items():
        where = f"{declared.__name__}.{name}"
        if name not in own and typing.get_origin(hints.get(name)) is not typing.ClassVar:
            if "InitVar" in str(pseudo.type) or "InitVar" in str(hints.get(name)):
                raise InadmissibleType("partial field", where, "The field is not kept.", "Declare a plain field.")
            continue
        if name not in own:
            continue
        each = own[name]
        if name in checked and isinstance(each.default, FieldInfo):
            refuse_absence(where, checked[name])
            yield name, hints[name], [checked[name]]
            continue
        if each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING:
            raise InadmissibleType(
                "may be absent", where, "The field may be left out.", "Declare it without a default."
            )
        if not each.init:
            raise InadmissibleType(
                "partial field", where, "The field is not read as the others are.", "Declare a plain field."
            )
        yield name, hints[name], ()


def refuse_own_rules(position: str, declared: type[Any]) -> None:
    """Return when nothing but the fields' types says what a value of this class is.

    Raises:
        InadmissibleType: a validator or a setting of its own could refuse, or change, what the grammar admits.
    """
    rules = [*_decorated(declared), *_settings(declared), *_hooks(declared)]
    if inspect.isabstract(declared):
        rules.append("abstract methods")
    if rules:
        raise InadmissibleType(
            "rules of its own",
            position,
            f"Found rules of its own ({', '.join(rules)}), to which a grammar cannot hold a model.",
            "Say it in the fields' types, or check it after decoding (a tool: in perform()).",
        )


def _decorated(declared: type[Any]) -> list[str]:
    found = getattr(declared, "__pydantic_decorators__", None)
    if found is None:
        return []
    return [*found.validators, *found.field_validators, *found.root_validators, *found.model_validators]


def _settings(declared: type[Any]) -> list[str]:
    config = getattr(declared, "model_config", None) or getattr(declared, "__pydantic_config__", None) or {}
    said = {name: value for name, value in config.items() if value is not None and value is not False}
    found = [f"{name}={value!r}" for name, value in said.items() if name in _CHANGING]
    return sorted([*found, *(["extra='allow'"] if said.get("extra") == "allow" else [])])


def _hooks(declared: type[Any]) -> list[str]:
    if issubclass(declared, BaseModel):
        base = RootModel if issubclass(declared, RootModel) else BaseModel
        own = [name for name in _HOOKS if _function(declared, name) is not _function(base, name)]
        private = getattr(declared.model_post_init, "__name__", "") == "init_private_attributes"  # pydantic's own
        return [name for name in own if not (private and name == "model_post_init")]
    rules = [name for name in ("__post_init__", "__get_pydantic_core_schema__") if hasattr(declared, name)]
    if getattr(declared, "__new__", None) is not object.__new__:
        rules.append("__new__")
    if not hasattr(declared, "__pydantic_decorators__") and declared.__init__.__code__.co_filename != "<string>":
        rules.append("__init__")
    return rules


def _function(declared: type[Any], name: str) -> object:
    found = getattr(declared, name, None)
    return getattr(found, "__func__", found)


@lru_cache(maxsize=1024)
def adapter(declared: Any) -> TypeAdapter[Any]:
    """Strict, no infinities; a class that has settings of its own keeps them, and is asked strictly all the same."""
    try:
        return TypeAdapter(declared, config=ConfigDict(strict=True, allow_inf_nan=False))
    except PydanticUserError:
        return TypeAdapter(declared)
