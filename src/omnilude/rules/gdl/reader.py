"""From KIF nodes to rules: keywords, arities, `or` and `not` brought to plain literals."""

from __future__ import annotations

from itertools import product

from omnilude.errors import Position, RulesError
from omnilude.rules.gdl.kif import Group, Node, Word, read
from omnilude.rules.gdl.terms import Compound, Kind, Literal, Rule, Term, Variable, variables

# Relations that the language itself gives a meaning to, with their number of arguments. Rulesheets
# from before GDL-II, or without declarations, use `sees`, `base` and `input` as names of their own:
# with another number of arguments they are ordinary relations.
RELATIONS = {
    "role": 1,
    "init": 1,
    "true": 1,
    "next": 1,
    "legal": 2,
    "does": 2,
    "goal": 2,
    "terminal": 0,
    "sees": 2,
    "base": 1,
    "input": 2,
    "distinct": 2,
}
OPTIONAL = ("sees", "base", "input")
CONNECTIVES = ("or", "and", "not", "<=")
KEYWORDS = frozenset(RELATIONS) | frozenset(CONNECTIVES)

# One rule with nested `or` becomes one rule for each alternative, up to this many.
MAX_ALTERNATIVES = 4096

Body = tuple[Literal, ...]


def read_rules(text: str, file: str) -> list[Rule]:
    """All rules of a rulesheet; facts are rules without a body."""
    reader = _Reader(file)
    return [rule for node in read(text, file) for rule in reader.rules(node)]


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file

    def error(self, message: str, position: Position | None, hint: str | None = None) -> RulesError:
        return RulesError(message, file=self.file, position=position, hint=hint)

    def rules(self, node: Node) -> list[Rule]:
        if not (isinstance(node, Group) and node.items and _keyword(node.items[0]) == "<="):
            return [Rule(self.head(node), (), node.position)]
        if len(node.items) < 2:
            raise self.error("rule without a head", node.position)
        head = self.head(node.items[1])
        bodies = self.conjunction(list(node.items[2:]), node.position)
        rules = (resolve_equalities(Rule(head, body, node.position)) for body in bodies)
        return [rule for rule in rules if rule is not None]

    def head(self, node: Node) -> Compound:
        atom = self.atom(node)
        if atom.name in ("true", "does", "distinct"):
            raise self.error(
                f"'{atom.name}' cannot be the head of a rule",
                atom.position,
                {"true": "use 'init' or 'next'", "does": "use 'legal'"}.get(atom.name),
            )
        return atom

    def atom(self, node: Node) -> Compound:
        """A relation applied to terms."""
        if isinstance(node, Word):
            if node.text.startswith("?"):
                raise self.error(f"variable {node.text} where a relation must be", node.position)
            name = node.text
            items: tuple[Node, ...] = ()
        else:
            if not node.items:
                raise self.error("empty list where a relation must be", node.position)
            first = node.items[0]
            if isinstance(first, Group) or first.text.startswith("?"):
                raise self.error("a relation's name must be a word", first.position)
            name, items = first.text, node.items[1:]
        lowered = name.lower()
        if lowered in CONNECTIVES:
            raise self.error(f"'{lowered}' cannot stand here", node.position)
        if lowered in RELATIONS:
            name = lowered
            if len(items) != RELATIONS[name] and name not in OPTIONAL:
                raise self.error(
                    f"'{name}' takes {RELATIONS[name]} argument(s), not {len(items)}", node.position
                )
        return Compound(name, tuple(self.term(item) for item in items), node.position)

    def term(self, node: Node) -> Term:
        # Depth is bounded by the KIF reader.
        if isinstance(node, Word):
            if node.text.startswith("?"):
                return Variable(node.text)
            return Compound(node.text, (), node.position)
        if not node.items:
            raise self.error("empty list where a term must be", node.position)
        first = node.items[0]
        if isinstance(first, Group) or first.text.startswith("?"):
            raise self.error("a function's name must be a word", first.position)
        arguments = tuple(self.term(item) for item in node.items[1:])
        return Compound(first.text, arguments, node.position)

    def formula(self, node: Node, positive: bool) -> list[Body]:
        """The alternatives, each a conjunction of literals, that make `node` true (or false)."""
        keyword = _keyword(node.items[0]) if isinstance(node, Group) and node.items else None
        if keyword == "not":
            assert isinstance(node, Group)
            if len(node.items) != 2:
                raise self.error("'not' takes one formula", node.position)
            return self.formula(node.items[1], not positive)
        if keyword in ("or", "and"):
            assert isinstance(node, Group)
            parts = list(node.items[1:])
            if (keyword == "and") == positive:
                return self.conjunction(parts, node.position, positive)
            bodies = [body for part in parts for body in self.formula(part, positive)]
            if len(bodies) > MAX_ALTERNATIVES:
                raise self.too_many(node.position)
            return bodies
        atom = self.atom(node)
        if atom.name == "distinct":
            # Not distinct is equal: resolved below, where the whole body is known.
            return [(Literal(Kind.DISTINCT if positive else Kind.EQUAL, atom),)]
        return [(Literal(Kind.POSITIVE if positive else Kind.NEGATIVE, atom),)]

    def too_many(self, position: Position) -> RulesError:
        return self.error(
            f"'or' gives more than {MAX_ALTERNATIVES} alternatives in one rule",
            position,
            "name the inner formula by a relation of its own",
        )

    def conjunction(
        self, nodes: list[Node], position: Position, positive: bool = True
    ) -> list[Body]:
        parts = [self.formula(node, positive) for node in nodes]
        size = 1
        for part in parts:
            size *= len(part)
            if size > MAX_ALTERNATIVES:
                raise self.too_many(position)
        return [tuple(dict.fromkeys(sum(choice, ()))) for choice in product(*parts)]


def resolve_equalities(rule: Rule) -> Rule | None:
    """The rule without (not (distinct a b)): a and b made the same, or None if they cannot be."""
    while True:
        equal = next((x for x in rule.body if x.kind is Kind.EQUAL), None)
        if equal is None:
            return rule
        bindings = _unify(*equal.atom.arguments)
        if bindings is None:
            return None
        rest = [x for x in rule.body if x is not equal]
        for name, term in bindings:
            rest = [Literal(x.kind, replace_variable(x.atom, name, term)) for x in rest]
            rule = Rule(replace_variable(rule.head, name, term), (), rule.position)
        rule = Rule(rule.head, tuple(dict.fromkeys(rest)), rule.position)


def _unify(a: Term, b: Term) -> list[tuple[str, Term]] | None:
    """Replacements, one after another, that make two terms the same."""
    done: list[tuple[str, Term]] = []
    open_pairs = [(a, b)]
    while open_pairs:
        left, right = open_pairs.pop()
        if left == right:
            continue
        if isinstance(right, Variable):
            left, right = right, left
        if isinstance(left, Variable):
            if left.name in variables(right):
                return None
            done.append((left.name, right))
            open_pairs = [
                (_replace(x, left.name, right), _replace(y, left.name, right))
                for x, y in open_pairs
            ]
        elif isinstance(right, Compound):
            if left.predicate != right.predicate:
                return None
            open_pairs += zip(left.arguments, right.arguments, strict=True)
    return done


def _replace(term: Term, name: str, value: Term) -> Term:
    if isinstance(term, Variable):
        return value if term.name == name else term
    return replace_variable(term, name, value)


def replace_variable(atom: Compound, name: str, value: Term) -> Compound:
    """`value` wherever the variable stands."""
    arguments = tuple(_replace(argument, name, value) for argument in atom.arguments)
    return Compound(atom.name, arguments, atom.position)


def _keyword(node: Node) -> str | None:
    if isinstance(node, Word) and node.text.lower() in KEYWORDS:
        return node.text.lower()
    return None
