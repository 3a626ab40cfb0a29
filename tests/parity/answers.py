# SPDX-License-Identifier: Apache-2.0
"""XProf's answers as the oracle writes them: which profile an answer folder belongs to, and its
files with the types they had.

A folder of answers holds `<path of the profile>/<tool>[.<table>].csv`, `<tool>.json` (either
gzipped or not) and `index.jsonl`; the combined answer of a run of several hosts lies in ALL_HOSTS.
`NAME.tar.gz` holds the folder NAME.
"""

import fnmatch
import gzip
import json
import os
import re
import tarfile

import library

XSPACE = ".xplane.pb"
HLO = ".hlo.pb"
ALL_HOSTS = "ALL_HOSTS"


class Num(str):
    """A number, with the text it was printed as."""


CELL = re.compile(r'(?:\A|,)((?:"[^"]*")+|[^",]*)')


def records_of(text):
    """The lines of a CSV; those that end within quotes go on in the next."""
    records, inside = [], 0
    for line in (text[:-1] if text.endswith("\n") else text).split("\n"):
        if inside:
            records[-1].append(line)
        else:
            records.append([line])
        inside ^= line.count('"') & 1
    return ["\n".join(lines) for lines in records]


class Typed(dict):
    """{cell as it is written: its value}: most cells of a table repeat."""

    def __missing__(self, cell):
        if cell.startswith('"'):
            value = cell[1:-1].replace('""', '"')
        else:
            value = cell == "true" if cell in ("true", "false") else Num(cell) if cell else None
        self[cell] = value
        return value


def parse_csv(text):
    """(columns, rows): quoted cells are str, bare ones Num, bool, or None when empty."""
    typed = Typed()
    if not text:
        raise ValueError("no header")
    records = [[typed[cell] for cell in (CELL.findall(record) if '"' in record
                                         else record.split(","))] for record in records_of(text)]
    return records[0], records[1:]


def parse_json(text):
    return json.loads(text, parse_int=Num, parse_float=Num, parse_constant=Num)


class Answer:
    """The answers to one profile."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {}
        for base, _, files in os.walk(folder):
            for name in files:
                path = os.path.relpath(os.path.join(base, name), folder)
                self.names[path[:-3] if path.endswith(".gz") else path] = path
        self.index = [json.loads(line) for line in self.text(
            "index.jsonl").splitlines()] if "index.jsonl" in self.names else []

    def text(self, name):
        path = os.path.join(self.folder, self.names[name])
        with (gzip.open if path.endswith(".gz")
              else open)(path, "rt", encoding="utf-8", errors="surrogateescape", newline="") as fh:
            return fh.read()

    def matching(self, pattern):
        return sorted(fnmatch.filter(self.names, pattern))

    def answered(self, tool):
        """Did XProf answer this tool (all its questions)?"""
        asked = [record for record in self.index if record["tool"] == tool]
        return bool(asked) and all(record["status"] == "ok" for record in asked)

    def promised(self, name):
        """Does the index say that there is such a file (left out of the packed answers,
        perhaps)?"""
        return any(name in (f[:-3] if f.endswith(".gz") else f for f in record["files"])
                   for record in self.index)

    def table(self, name):
        """(columns, rows) of NAME.csv; without columns where XProf's answer has no such table; None
        where there is no answer."""
        if name + ".csv" in self.names:
            return parse_csv(self.text(name + ".csv"))
        tool = name.split(".")[0]
        return ([], []) if self.answered(tool) and not self.promised(name + ".csv") else None

    def json(self, name):
        return parse_json(self.text(name + ".json")) if name + ".json" in self.names else None


def unpack(answers, build):
    """A folder with all answers below `answers`, packed ones unpacked below `build`."""
    packed = sorted(f for f in os.listdir(answers) if f.endswith(".tar.gz"))
    if not packed:
        return answers
    place = os.path.join(build, "answers",
                         re.sub(r"[^A-Za-z0-9]+", "_", os.path.abspath(answers)).strip("_"))
    with library.alone(place):
        for name in packed:
            path, done = os.path.join(answers, name), os.path.join(place, name + ".done")
            if os.path.exists(done) and os.path.getmtime(done) >= os.path.getmtime(path):
                continue
            with tarfile.open(path) as tar:
                for member in tar:
                    if (member.isfile() or member.isdir()) and not member.name.startswith(
                        "/") and ".." not in member.name.split("/"):
                        tar.extract(member, place)
            open(done, "w").close()
        for name in sorted(set(os.listdir(answers)) - set(packed)):
            link = os.path.join(place, name)
            if os.path.isdir(os.path.join(answers, name)) and not os.path.lexists(link):
                os.symlink(os.path.abspath(os.path.join(answers, name)), link)
    return place


def is_answers(folder):
    """Does this folder hold answers? Profiles never lie among them."""
    names = [f for _, _, files in os.walk(folder) for f in files] if os.path.isdir(folder) else []
    return any(f.endswith(".tar.gz") or f == "index.jsonl"
               for f in names) and not any(f.endswith((XSPACE, HLO)) for f in names)


def sources(profiles, answers):
    """[(name, path of the profile, Answer)] for all profiles below `profiles` that have an
    answer."""
    found = []

    def add(name, path):
        folder = os.path.join(answers, name)
        if os.path.exists(os.path.join(folder, "index.jsonl")) or os.path.exists(
            os.path.join(folder, "index.jsonl.gz")):
            found.append((name, path, folder))

    for base, folders, files in os.walk(profiles, followlinks=True):
        folders.sort()
        relative = os.path.relpath(base, profiles)
        hosts = sorted(f for f in files if f.endswith(XSPACE))
        for end in (XSPACE, HLO):
            for name in sorted(f for f in files if f.endswith(end)):
                add(os.path.normpath(os.path.join(relative, name[:-len(end)])),
                    os.path.join(base, name))
        if len(hosts) > 1:
            add(os.path.normpath(os.path.join(relative, ALL_HOSTS)), base)
    return [(name, path, Answer(folder)) for name, path, folder in found]
