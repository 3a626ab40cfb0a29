# SPDX-License-Identifier: Apache-2.0
"""Prints the path of the extension: sqlite3 -cmd ".load $(python3 -m profsql)"."""

from .library import loadable_path

print(loadable_path())
