"""What kind of thing a node of the tree is, where a ludeme takes more than one kind."""

from __future__ import annotations

from omnilude.rules.ludeme.boards.directions import INDEX
from omnilude.rules.ludeme.compiler.roles import ROLES
from omnilude.rules.ludeme.tree import Array, Clause, Node, Number, Symbol, Text

RELATIVE = {
    "Forward": 0,
    "Backward": 1,
    "Rightward": 2,
    "Leftward": 3,
    "Forwards": 4,
    "Backwards": 5,
    "Rightwards": 6,
    "Leftwards": 7,
    **dict.fromkeys(("FR", "FRR", "FRRR"), 8),
    **dict.fromkeys(("FL", "FLL", "FLLL"), 9),
    **dict.fromkeys(("BR", "BRR", "BRRR"), 10),
    **dict.fromkeys(("BL", "BLL", "BLLL"), 11),
    "SameDirection": 12,
    "OppositeDirection": 13,
}
ALIASES = {"Off": "OffDiagonal"}
CONSTANTS = {"Off": -1, "Undefined": -1, "Infinity": 1_000_000_000, "End": -2}
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "le", "lt", "ge", "gt", "equals", "notEqual")
BOOLEANS = frozenset((*COMPARISONS, "not", "and", "or", "xor", "is", "all", "no", "can", "was"))
NUMBERS = frozenset(
    (
        *("+", "-", "*", "/", "%", "^", "pow", "abs", "min", "max"),
        *("from", "to", "between", "site", "level", "value", "player", "pips", "track"),
        *("mover", "next", "prev", "counter", "last", "count", "size", "who", "what", "state"),
        *("rotation", "id", "where", "handSite", "mapEntry", "regionSite", "coord", "row"),
        *("column", "layer", "phase", "ahead", "centrePoint", "topLevel", "trackSite", "var"),
        *("score", "face", "matchScore", "amount", "pot", "arrayValue"),
    )
)
REGIONS = frozenset(("sites", "expand"))
ARRAYS = frozenset(("array", "values", "results", "players", "sizes", "rotations", "team"))
ALGEBRA = frozenset(("union", "intersection", "difference"))


def is_direction_name(name: str) -> bool:
    return name in INDEX or name in RELATIVE


def is_direction(node: Node) -> bool:
    if isinstance(node, Symbol):
        return is_direction_name(node.name) and node.name not in CONSTANTS
    if isinstance(node, Array):
        return bool(node.items) and all(
            isinstance(item, Symbol) and is_direction_name(item.name) for item in node.items
        )
    if isinstance(node, Clause):
        if node.keyword == "directions":
            return True
        if node.keyword in ALGEBRA or node.keyword == "if":
            return any(is_direction(item) for item in node.items[node.keyword == "if" :])
    return False


def is_boolean(node: Node) -> bool:
    if isinstance(node, Symbol):
        return node.name in ("True", "False")
    if isinstance(node, Clause):
        if node.keyword == "if":
            return len(node.items) > 1 and is_boolean(node.items[1])
        return node.keyword in BOOLEANS
    return False


def is_array(node: Node) -> bool:
    """Numbers in an order. A plain list of numbers may be one."""
    if isinstance(node, Array):
        return all(is_number(item) for item in node.items)
    if isinstance(node, Clause):
        if node.keyword in ALGEBRA:
            return bool(node.items) and is_array_only(node.items[0])
        if node.keyword == "if":
            return len(node.items) > 1 and is_array_only(node.items[1])
        return node.keyword in ARRAYS
    return False


def is_array_only(node: Node) -> bool:
    """An array that cannot be a region."""
    return isinstance(node, Clause) and is_array(node)


def is_region(node: Node) -> bool:
    if isinstance(node, Array):
        return bool(node.items) and all(
            isinstance(item, Number | Text) or is_number(item) for item in node.items
        )
    if isinstance(node, Clause):
        if node.keyword in REGIONS:
            return True
        if node.keyword in ALGEBRA:
            first = node.items[0] if node.items else None
            if isinstance(first, Array):
                first = first.items[0] if first.items else None
            return first is not None and is_region(first)
        if node.keyword == "if":
            return len(node.items) > 1 and is_region(node.items[1])
        if node.keyword == "forEach":
            return True
    return False


def is_number(node: Node) -> bool:
    if isinstance(node, Number):
        return node.whole
    if isinstance(node, Symbol):
        return node.name in CONSTANTS
    if isinstance(node, Clause):
        if node.keyword == "if":
            return len(node.items) > 1 and is_number(node.items[1])
        if node.keyword == "value" and node.items:
            return True
        return node.keyword in NUMBERS
    return False


def is_role_symbol(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name in ROLES
