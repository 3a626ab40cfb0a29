# SPDX-License-Identifier: Apache-2.0
"""The completions in the shells themselves: bash, zsh and fish, where they are installed."""
import os
import pty
import select
import shutil
import subprocess
import time

from lib.cases import Skip, case, must, same
from lib.shell import ROOT

MADE = os.path.join(ROOT, 'command', 'made')
RUN = 'profsql tests/data/gpu_train_38 '
# What is typed, and a word that must be offered; one that must not be.
TYPED = (('profsql di', 'diff', 'export'), (RUN + 'top_ker', 'top_kernels', 'idle_gaps'),
         ('profsql tests/data/gpu_train_3', 'gpu_train_38', 'tpu_train_54'),
         ('profsql tables idle', 'idle_gaps', 'diff'),
         (RUN + 'kpi --format mar', 'markdown', 'csv'), (RUN + 'kpi -f mar', 'markdown', 'csv'),
         (RUN + 'top_kernels --', '--n', '--by-device'),
         (RUN + 'exposed_communication --by', '--by-device', '--n'),
         (RUN + 'kpi --whe', '--where', '--by-device'),
         ('profsql diff tests/data/gpu_train_3', 'gpu_train_38', 'top_kernels'),
         ('profsql export tests/data/gpu_train_38 kp', '', 'kpi'))


def shell(name):
    if not shutil.which(name):
        raise Skip('needs %s: apt-get install %s' % (name, name))
    return name


def check(offered):
    """offered(line): the words that completion offers for a line, in one text."""
    for line, want, never in TYPED:
        words = offered(line).split()
        must(not want or any(word.rstrip('/').endswith(want) for word in words),
             '%s: %s is not in %s' % (line, want, words))
        must(never not in words, '%s: %s is in %s' % (line, never, words))


@case
def bash():
    """The function is called as readline calls it."""
    script = ('source %s/profsql.bash; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
              '_profsql; echo "${COMPREPLY[@]}"' % MADE)
    check(lambda line: subprocess.run([shell('bash'), '-c', script, 'bash', line],
                                      capture_output=True, text=True, cwd=ROOT, check=True).stdout)


@case
def fish():
    """Fish lists what it would complete to."""
    script = 'source %s/profsql.fish; complete -C $argv[1]' % MADE

    def offered(line):
        out = subprocess.run([shell('fish'), '--no-config', '-c', script, line],
                             capture_output=True, text=True, cwd=ROOT, check=True)
        same(out.stderr, '')
        return '\n'.join(offer.split('\t')[0] for offer in out.stdout.splitlines())
    check(offered)


@case
def zsh():
    """Zsh on a terminal: the line, the tabulator, and a key that marks the end of what it shows."""
    program = shell('zsh')
    setup = ("fpath=(%s $fpath); autoload -U compinit; compinit -D -u; PS1=; "
             "zstyle ':completion:*' list-prompt ''; LISTMAX=9999; "
             "show() { print; print -r -- \"$BUFFER\"; print do''ne }; zle -N show; "
             "bindkey '^X' show; print rea''dy\n" % MADE)

    def read_until(mark, fd):
        text, end = b'', time.monotonic() + 60
        while mark not in text:
            must(time.monotonic() < end, 'zsh does not answer: %r' % text[-500:])
            if select.select([fd], [], [], 1)[0]:
                text += os.read(fd, 65536)
        return text.rpartition(mark)[0].decode()

    def offered(line):
        child, fd = pty.fork()
        if not child:
            os.environ.update(TERM='dumb', COLUMNS='200', LINES='200')
            os.chdir(ROOT)
            os.execvp(program, [program, '-f', '-i'])
        try:
            os.write(fd, setup.encode())
            read_until(b'ready', fd)
            os.write(fd, line.encode() + b'\t\x18')
            return read_until(b'done', fd)
        finally:
            os.close(fd)
            os.waitpid(child, 0)
    check(offered)
