# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: cases and their runner (cases.py), questions to the extension
(shell.py), and the bytes of profiles (wire.py) and of HLO programs (hlo.py)."""
