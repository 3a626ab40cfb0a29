# SPDX-License-Identifier: Apache-2.0
"""Columns that no witness, no answer of XProf's and no other reader is compared with, and what
looks at them instead: {what: {table: columns}}, '*' for all of a table. covered.py fails if another
column has no second source, and if one of these has got one: then it is to be taken off, so this
list only becomes shorter."""

NOT_WITNESSED = {
    'only hand-made cases have it (tests/cases, tests/sql)': {
        'missing': 'how option',
    },
    'only its type, range and NULL rule are looked at (tests/columns)': {
        'input_breakdown': 'advice',
        'overview': 'description',
    },
    'only kept answers have it, which were looked through (tests/kept_queries)': {
        'advice': 'action',
        'missing': 'cannot_answer',
    },
    'equal programs have one, different programs have others (programs.py)': {
        'hlo_modules': 'content_hash',
    },
}

# Columns of which a witness does not notice that they have a value where they should be NULL,
# because it does not work out when they are (falsified.py): {witness: {table: columns}}.
NULLS_NOT_NOTICED = {}
