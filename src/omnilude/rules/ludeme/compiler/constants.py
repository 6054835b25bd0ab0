"""Parts of rules that need no state: the core evaluates them once, when a game is loaded."""

from __future__ import annotations

from omnilude.rules.ludeme.compiler.code import Code, Many, Part, Raw, code

_PURE = frozenset(
    (
        *("number", "+", "-", "*", "/", "%", "^", "abs", "min", "max", "minOf", "maxOf", "if"),
        *("size Array", "arrayValue", "range", "numbers", "sites", "coord", "regionSite"),
        *("row", "column", "layer", "phase", "handSite", "mapEntry", "ahead", "absolute"),
        *("trackSite FirstSite", "trackSite EndSite", "count Sites", "count Steps"),
        *("true", "false", "not", "and", "or", "xor", "=", "!=", "<", "<=", ">", ">="),
        *("is In", "is Even", "is Odd", "in Array", "fixed", "constant", "one of", "sites Walk"),
        *("sites of player", "union", "intersection", "difference", "expand", "sites Direction"),
        *("sites Between", "sites Track", "sites Incident"),
    )
)
"""Ludemes that read nothing but what they are made of and the board."""
_BINDING = {"forEach if": "site", "forEach of": "site"}
"""Ludemes that set a register for what is in them."""


def needs_no_state(part: Part, bound: frozenset[str] = frozenset()) -> bool:
    """Whether a part has the same value in every position, given the registers that are bound."""
    if isinstance(part, Many | Raw):
        return all(needs_no_state(item, bound) for item in part.items)
    if not isinstance(part, Code):
        return True
    name, parts = part.name, part.parts
    if name in bound:
        return True
    if name == "role":
        return isinstance(parts[0], int) and parts[0] <= 16
    if name in _BINDING:
        bound = bound | {_BINDING[name]}
    elif name == "sites Around":
        if parts[2] != 0:  # what must be on the sites
            return False
    elif name == "sites Track":
        if parts[0] == -1 and parts[2] is None:  # the track of a loop
            return False
    elif name == "sites Incident":
        if parts[3] is not None:  # the owner
            return False
    elif name not in _PURE:
        return False
    return all(needs_no_state(item, bound) for item in parts)


def fold(region: Code) -> Code:
    """A region, marked if it never changes."""
    if region.name in ("fixed", "constant") or not needs_no_state(region):
        return region
    return code("constant", region)
