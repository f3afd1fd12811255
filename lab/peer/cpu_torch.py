"""Lets torch start without CUDA: `python cpu_torch.py FOLDER`, then LD_LIBRARY_PATH=FOLDER.

PyPI's torch for Linux is linked to libraries of CUDA, gigabytes that a processor has no use for.
For each of those that is not installed this compiles an empty one, whose functions all say that
there is no device.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path

CUDA = re.compile(r"lib(cu|nv|nccl)")
FUNCTION = re.compile(r"_*(cu|nv|nccl)")
NO_DEVICE = 100


def told(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(library: Path, which: str) -> list[tuple[str, str]]:
    """The names and versions of symbols."""
    lines = told("nm", "-D", which, str(library)).splitlines()
    parts = (line.split()[-1].partition("@") for line in lines if line.strip())
    return [(name, version.lstrip("@")) for name, _, version in parts]


def versions(library: Path) -> dict[str, str]:
    """Of which library each version of a needed symbol is."""
    found, file = {}, ""
    for line in told("readelf", "-V", str(library)).splitlines():
        if opening := re.search(r"File: (\S+)", line):
            file = opening[1]
        elif file and (name := re.search(r"Name: (\S+) ", line)):
            found[name[1]] = file
    return found


def compile_empty(target: Path, wanted: dict[str, set[str]]) -> None:
    """A library with these functions, by version."""
    names = sorted(set().union(*wanted.values()))
    source, script = target.with_suffix(".c"), target.with_suffix(".map")
    source.write_text("".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in names))
    nodes = [(version, own) for version, own in wanted.items() if version]
    blocks = (f"{version} {{ global: {'; '.join(sorted(own))}; }};\n" for version, own in nodes)
    script.write_text("".join(blocks))
    command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{target.name}"]
    if nodes:
        command.append(f"-Wl,--version-script,{script}")
    subprocess.run([*command, "-o", str(target), str(source)], check=True)
    source.unlink()
    script.unlink()


def main() -> None:
    """Compiles what torch misses."""
    libraries = sorted(Path(sysconfig.get_path("purelib"), "torch", "lib").glob("*.so*"))
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    needed: set[str] = set()
    present: set[str] = set()
    homes: dict[str, str] = {}
    for library in libraries:
        needed.update(re.findall(r"NEEDED.*\[(.*)\]", told("readelf", "-d", str(library))))
        present.update(name for name, _ in symbols(library, "--defined-only"))
        homes.update(versions(library))
    own = {library.name for library in libraries}
    missing = {name for name in needed if CUDA.match(name) and name not in own}
    runtime = next((name for name in missing if name.startswith("libcudart")), "")
    wanted: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    for library in libraries:
        for name, version in symbols(library, "--undefined-only"):
            home = homes.get(version, "") if version else runtime
            if name in present or home not in missing or not (version or FUNCTION.match(name)):
                continue
            wanted[home][version].add(name)
    for name, functions in wanted.items():
        compile_empty(folder / name, functions)
    print(f"{len(missing)} libraries")


if __name__ == "__main__":
    main()
