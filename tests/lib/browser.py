# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, asked through its pipe: opens files, runs scripts in them, takes pictures, and
collects what the console says and what the page tries to load."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next(filter(None, map(shutil.which, (
    'chromium', 'chromium-browser', 'google-chrome'))), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()

        def descriptors():
            os.dup2(to_read, 63)
            os.dup2(from_write, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self.process = subprocess.Popen(
            [PROGRAM, '--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
             '--user-data-dir=' + self.folder, '--hide-scrollbars', '--no-first-run'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=descriptors)
        os.close(to_read)
        os.close(from_write)
        self.pending, self.number, self.events, self.session = b'', 0, [], None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, timeout):
        """The next message; None if there is none in this time."""
        end = time.monotonic() + timeout
        while b'\0' not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            part = os.read(self.answers, 1 << 20)
            assert part, 'the browser has ended'
            self.pending += part
        one, self.pending = self.pending.split(b'\0', 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        sent = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            sent['sessionId'] = self.session
        data = json.dumps(sent).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        while True:
            got = self.message(120)
            assert got is not None, method + ': no answer'
            if got.get('id') == self.number:
                assert 'error' not in got, (method, got.get('error'))
                return got['result']
            self.events.append(got)

    def open(self, address, width=1280, height=900, scripts=True, **media):
        """Opens a page in a new tab and waits for it. media: features such as
        prefers_color_scheme='dark'."""
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setScriptExecutionDisabled', value=not scripts)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': name.replace('_', '-'), 'value': value} for name, value in media.items()])
        self.events.clear()
        self.call('Page.navigate', url=address)
        self.wait('Page.loadEventFired')

    def wait(self, event, timeout=120):
        end = time.monotonic() + timeout
        while not any(e.get('method') == event for e in self.events):
            got = self.message(max(0, end - time.monotonic()))
            assert got is not None, event + ' did not come'
            self.events.append(got)

    def script(self, text):
        """The value of an expression; a promise is waited for."""
        got = self.call('Runtime.evaluate', expression=text, returnByValue=True, awaitPromise=True)
        assert 'exceptionDetails' not in got, got['exceptionDetails']
        return got['result'].get('value')

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests for anything but the page
        and data in it."""
        found = []
        self.call('Runtime.evaluate', expression='0')
        for e in self.events:
            kind, p = e.get('method'), e.get('params', {})
            if kind == 'Runtime.exceptionThrown':
                found.append(p['exceptionDetails'].get('exception', {}).get('description', 'error'))
            elif kind == 'Runtime.consoleAPICalled' and p['type'] in ('error', 'warning', 'assert'):
                found.append(str(p['args']))
            elif kind == 'Log.entryAdded' and p['entry']['level'] in ('error', 'warning'):
                found.append(p['entry']['text'])
            elif kind == 'Page.javascriptDialogOpening':
                found.append('a dialog: ' + p['message'])
            elif kind == 'Network.requestWillBeSent' and not p['request']['url'].startswith(
                    ('data:', 'file:', 'blob:', 'about:')):
                found.append('asks for ' + p['request']['url'])
        return found

    def picture(self, path, full=True):
        got = self.call('Page.captureScreenshot', captureBeyondViewport=full, **(
            {'clip': dict(self.call('Page.getLayoutMetrics')['cssContentSize'], scale=1)}
            if full else {}))
        with open(path, 'wb') as f:
            f.write(base64.b64decode(got['data']))

    def pdf(self, path):
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.printToPDF', printBackground=True)['data']))
