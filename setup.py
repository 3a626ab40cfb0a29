# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: the version, the extension and the command that make builds, and
that the wheel is for any Python 3 of one platform."""

import os
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from distutils.command.build_scripts import build_scripts  # which setuptools brings

ROOT = os.path.dirname(os.path.abspath(__file__))
os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)


def version():
    with open(os.path.join(ROOT, "ext", "prof.h")) as header:
        return re.search(r'PROFSQL_VERSION "(.*)"', header.read()).group(1)


def make(target):
    if not shutil.which("make"):
        raise SystemExit("profsql: make is missing (on Debian: apt-get install make)")
    if subprocess.call(["make", target], cwd=ROOT):
        raise SystemExit("profsql: make failed. It needs a C compiler, "
                         "protoc-c and the headers of SQLite, "
                         "zlib and protobuf-c (on Debian: gcc libc6-dev libsqlite3-dev zlib1g-dev "
                         "libprotobuf-c-dev protobuf-c-compiler)")
    return os.path.join(ROOT, target)


class BuildWithMake(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return  # profsql.loadable_path() takes build/libprofsql.so of the checkout
        shutil.copy(make("build/python/libprofsql.so"), os.path.join(self.build_lib, "profsql"))


class BuildCommand(build_scripts):
    """A script of setuptools is a text; ours is a program."""

    def run(self):
        self.mkpath(self.build_dir)
        shutil.copy(make("build/python/profsql"), self.build_dir)


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=Binary, scripts=["build/python/profsql"],
      cmdclass={"build_py": BuildWithMake, "build_scripts": BuildCommand, "bdist_wheel": AnyPython})
