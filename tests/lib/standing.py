# SPDX-License-Identifier: Apache-2.0
"""A shell of SQLite that answers many questions one after the other: a profile that one question
reads need not be read again for the next."""
import atexit
import os
import select
import subprocess
import tempfile

PATIENCE = 300  # seconds on the clock for one answer
NEXT, END = '--- next ---\n', '--- end ---\n'


class Shell:
    """An error, or the end of the process, is a RuntimeError; the next question has a new one."""

    def __init__(self, sqlite3, *commands):
        self.command = [sqlite3, '-batch', '-init', os.devnull, '-json', ':memory:']
        for one in commands:
            self.command += ['-cmd', one]
        self.child = None
        atexit.register(self.end)

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.errors, bufsize=0)

    def end(self, why=None):
        """Ends the process, without waiting for an answer if there is a reason. Returns what it
        said of it."""
        if not self.child:
            return ''
        if why:
            self.child.kill()
        self.child.stdin.close()
        self.child.stdout.close()
        status = self.child.wait()
        self.child = None
        with self.errors as f:
            f.seek(0)
            return 'exit status %d, %s' % (status, f.read().decode('utf-8', 'replace').strip()
                                           or why or 'no message')

    def ask(self, *scripts):
        """What each of several scripts prints."""
        if not self.child:
            self.start()
        # The shell flushes what it prints when the output goes elsewhere.
        script = '.output /dev/stdout\n%s.print %s.output stdout\n' % (''.join(
            '%s;\n.print %s' % (one, NEXT) for one in scripts), END)
        try:
            printed = self.exchange(script.encode())
            why = 'an error' if os.fstat(self.errors.fileno()).st_size else None
        except OSError as error:
            why = str(error)
        if why:
            raise RuntimeError('%s, of %s' % (self.end(why), '; '.join(scripts)))
        return printed.decode().split(NEXT)[:-1]

    def exchange(self, unsent):
        """Writes and reads by turns, so that neither side waits for the other, up to the end."""
        to, of = self.child.stdin.fileno(), self.child.stdout.fileno()
        poll, printed = select.poll(), bytearray()
        poll.register(to, select.POLLOUT)
        poll.register(of, select.POLLIN)
        while unsent or not printed.endswith(END.encode()):
            ready = dict(poll.poll(PATIENCE * 1000))
            if not ready:
                raise TimeoutError('no answer after %d seconds' % PATIENCE)
            if of in ready:
                more = os.read(of, 1 << 20)
                if not more:
                    raise BrokenPipeError('ended before the answer')
                printed += more
            elif to in ready:
                unsent = unsent[os.write(to, unsent[:select.PIPE_BUF]):]
                if not unsent:
                    poll.unregister(to)
        return printed
