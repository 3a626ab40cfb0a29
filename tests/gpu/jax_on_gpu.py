# SPDX-License-Identifier: Apache-2.0
"""JAX on a GPU. A program that imports this ends with status 78, and says why, if there is no JAX
or it sees no GPU."""
import os
import sys

os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
try:
    import jax
    import jax.numpy as jnp  # noqa: F401
    if jax.default_backend() != 'gpu':
        raise ImportError('JAX sees no GPU')
except (ImportError, RuntimeError) as why:
    print(why, file=sys.stderr)
    sys.exit(78)
