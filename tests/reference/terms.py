"""Unification of terms, and an index of ground atoms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .kif import Term, is_variable, signature, variables

Bindings = dict[str, Term]
Key = tuple[Any, ...]


def substitute(term: Term, env: Bindings) -> Term:
    """Replace the bound variables of a term, as deeply as needed."""
    if isinstance(term, str):
        value = env.get(term)
        return term if value is None else substitute(value, env)
    return tuple([substitute(part, env) for part in term])


def unify(left: Term, right: Term, env: Bindings) -> bool:
    """Extend the bindings in place so that both terms become equal; False if impossible."""
    left, right = substitute(left, env), substitute(right, env)
    if left == right:
        return True
    if is_variable(left):
        env[left] = right
        return left not in variables(right)
    if is_variable(right):
        env[right] = left
        return right not in variables(left)
    if signature(left) != signature(right) or isinstance(left, str):
        return False
    return all(unify(a, b, env) for a, b in zip(left[1:], right[1:], strict=True))


def canonical(atom: Term) -> Term:
    """Rename the variables by order of occurrence: the table key of a call."""
    names: Bindings = {}

    def rename(term: Term) -> Term:
        if isinstance(term, str):
            return names.setdefault(term, f"? {len(names)}") if term[0] == "?" else term
        return tuple([rename(part) for part in term])

    return rename(atom)


class FactBase:
    """Ground atoms, found by relation and by any one constant argument."""

    def __init__(self, atoms: Iterable[Term] = ()) -> None:
        self._index: dict[Key, list[Term]] = defaultdict(list)
        for atom in atoms:
            self.add(atom)

    def add(self, atom: Term) -> None:
        """Store a ground atom."""
        self._index[signature(atom)].append(atom)
        for key in self._keys(atom):
            self._index[key].append(atom)

    def candidates(self, pattern: Term) -> list[Term]:
        """A superset of the atoms that match the pattern."""
        if is_variable(pattern):
            return [a for key, atoms in self._index.items() if len(key) == 2 for a in atoms]
        keys = [signature(pattern), *self._keys(pattern)]
        return min((self._index.get(key, []) for key in keys), key=len)

    @staticmethod
    def _keys(atom: Term) -> list[Key]:
        if isinstance(atom, str):
            return []
        name = signature(atom)
        return [
            (name, place, argument)
            for place, argument in enumerate(atom)
            if place and isinstance(argument, str) and argument[0] != "?"
        ]
