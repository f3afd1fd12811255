"""The command `lehr`."""

import sys

from lehr import _lehr


def main() -> None:
    """Run the command with this process's arguments and exit with its code."""
    sys.exit(_lehr.command(["lehr", *sys.argv[1:]]))
