"""Reader for games described by ludemes."""

from omnilude.rules.ludeme.description import (
    Choices,
    Description,
    read_description,
    read_library,
)

__all__ = ["Choices", "Description", "read_description", "read_library"]
