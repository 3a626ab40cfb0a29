# SPDX-License-Identifier: Apache-2.0
"""Which tables the SQL in a file of tests asks."""
import ast
import functools
import re


@functools.cache
def texts(path):
    """The string literals of a Python file without its docstrings, or an SQL file without
    comments."""
    with open(path) as f:
        source = f.read()
    if path.endswith('.sql'):
        return [re.sub(r'--.*', '', source)]
    tree = ast.parse(source)
    documents = {id(node.body[0].value) for node in ast.walk(tree)
                 if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and node.body
                 and isinstance(node.body[0], ast.Expr)}
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and id(node) not in documents]


def asks(path, table):
    """Whether a string of the file selects from the table: FROM table, JOIN table, FROM a,
    table(...)."""
    selects = re.compile(r'\b(?:FROM|JOIN)\s+(?:temp\.)?{0}\b|\bFROM\b[^;]*,\s*{0}\('.format(table))
    return any(selects.search(text) for text in texts(path))
