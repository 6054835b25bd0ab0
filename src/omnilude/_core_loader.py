"""Loads the core from another folder where OMNILUDE_CORE_DIR names one: the sanitized build."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def load_core_from_environment() -> None:
    folder = os.environ.get("OMNILUDE_CORE_DIR")
    if not folder:
        return
    (path,) = Path(folder).glob("_core*.so")
    spec = importlib.util.spec_from_file_location("omnilude._core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.modules["omnilude"].__dict__["_core"] = module
