"""`ordeal proxy`, driven by a real client library of toxiproxy (toxiproxy-python, which
scripts/install-packages puts into build/python), and its command line.

ORDEAL names the program under test.
"""
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

os.environ["NO_PROXY"] = "127.0.0.1"  # for the client library
ROOT = pathlib.Path(__file__).resolve().parents[3]
ORDEAL = os.environ.get("ORDEAL", str(ROOT / "build/release/ordeal"))


class Echo:
    """A server that sends back what it gets."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def serve(connection):
        with connection:
            try:
                while data := connection.recv(65536):
                    connection.sendall(data)
            except OSError:
                pass


class OrdealProxy:
    """The program; `lines` is what it printed until it served."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([ORDEAL, "proxy", "--listen", "127.0.0.1:0", *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if served := re.match(r"serving toxiproxy's HTTP API on (.*):(\d+)$", line):
                self.host, self.port = served[1], int(served[2])
                return
        raise AssertionError(self.process.communicate()[1])

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=10)
        return self.process.returncode, errors


def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=10)


def ask(connection, question=b"hello"):
    """The answer, and the seconds it took."""
    begin = time.monotonic()
    connection.sendall(question)
    answer = b""
    while len(answer) < len(question):
        part = connection.recv(65536)
        if not part:
            break
        answer += part
    return answer, time.monotonic() - begin


class ClientLibrary(unittest.TestCase):
    def setUp(self):
        import toxiproxy  # from build/python; see above
        self.library = toxiproxy
        self.echo = Echo()
        self.addCleanup(self.echo.listener.close)
        self.proxy = OrdealProxy()
        self.addCleanup(self.proxy.stop)
        self.server = toxiproxy.Toxiproxy()
        self.server.update_api_consumer(self.proxy.host, self.proxy.port)

    def create(self, name="echo"):
        return self.server.create(name=name, upstream=self.echo.address, listen="127.0.0.1:0")

    def assert_echoes(self, address):
        with connect(address) as connection:
            self.assertEqual(ask(connection)[0], b"hello")

    def test_the_version_is_told(self):
        self.assertTrue(self.server.running())
        self.assertIn("2.5.0", str(self.server.version()))

    def test_proxies_come_and_go(self):
        created = self.create()
        self.assert_echoes(created.listen)
        self.assertEqual(list(self.server.proxies()), ["echo"])
        self.assertEqual(self.server.get_proxy("echo").upstream, self.echo.address)
        self.assertTrue(self.server.destroy(created))
        self.assertEqual(list(self.server.proxies()), [])
        with self.assertRaises(ConnectionRefusedError):
            connect(created.listen)

    def test_a_name_that_is_taken_is_refused(self):
        self.create()
        with self.assertRaises(self.library.exceptions.ProxyExists):
            self.create()

    def test_a_proxy_is_down_and_up_again(self):
        created = self.create()
        created.disable()
        with self.assertRaises(ConnectionRefusedError):
            connect(created.listen)
        created.enable()
        self.assert_echoes(created.listen)

    def test_toxics_take_effect_on_live_connections(self):
        created = self.create()
        with connect(created.listen) as connection:
            self.assertLess(ask(connection)[1], 0.2)
            created.add_toxic(name="slow", type="latency", stream="upstream",
                              attributes={"latency": 300, "jitter": 10})
            answer, seconds = ask(connection)
            self.assertEqual(answer, b"hello")
            self.assertGreater(seconds, 0.28)
            self.assertEqual([each.name for each in created.toxics().values()], ["slow"])
            self.assertEqual(created.get_toxic("slow").attributes, {"latency": 300, "jitter": 10})
            created.destroy_toxic("slow")
            self.assertLess(ask(connection)[1], 0.2)

    def test_a_toxic_of_unknown_type_is_refused(self):
        with self.assertRaises(self.library.exceptions.InvalidToxic):
            self.create().add_toxic(type="tachyon")

    def test_reset_and_populate(self):
        self.server.populate([{"name": name, "upstream": self.echo.address, "listen": "127.0.0.1:0"}
                              for name in ("one", "two")])
        one = self.server.get_proxy("one")
        one.add_toxic(type="timeout", attributes={"timeout": 0})
        self.server.reset()
        self.assert_echoes(one.listen)

    def test_the_example_of_the_documentation(self):
        text = (ROOT / "docs/proxy.md").read_text()
        example = re.search(r"```python\n(.*?)```", text, re.S)[1]
        for written, here in (("8474", str(self.proxy.port)), ("127.0.0.1:5432", self.echo.address),
                              ("127.0.0.1:15432", "127.0.0.1:0")):
            self.assertIn(written, example)
            example = example.replace(written, here)
        slow, fast = re.split(r"(?m)^# What connects.*$", example)
        names = {}
        exec(slow, names)
        with connect(names["db"].listen) as connection:
            self.assertGreater(ask(connection)[1], 0.4)
        exec(fast, names)
        with connect(names["db"].listen) as connection:
            self.assertLess(ask(connection)[1], 0.4)


class CommandLine(unittest.TestCase):
    def fails(self, code, message, *arguments):
        done = subprocess.run([ORDEAL, "proxy", "--listen", "127.0.0.1:0", *arguments], text=True,
                              capture_output=True, timeout=10)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(message, done.stderr)

    def test_legs_of_the_command_line_carry_data_until_a_signal(self):
        echo = Echo()
        self.addCleanup(echo.listener.close)
        for how in (signal.SIGTERM, signal.SIGINT):
            proxy = OrdealProxy("--leg", f"a=127.0.0.1:0,{echo.address}",
                                "--leg", f"b=127.0.0.1:0,{echo.address}")
            self.addCleanup(proxy.stop)
            listens = [re.match(r"leg [ab]: (\S+) -> ", line)[1] for line in proxy.lines[:2]]
            with connect(listens[0]) as one, connect(listens[1]) as two:
                self.assertEqual(ask(one)[0], b"hello")
                self.assertEqual(ask(two)[0], b"hello")
                self.assertEqual(proxy.stop(how), (0, ""))
                self.assertEqual(one.recv(1), b"")

    def test_mistakes(self):
        self.fails(254, '--leg is "db"; expected name=listen,upstream', "--leg", "db")
        self.fails(254, '--leg is "db=1:2"; expected name=listen,upstream', "--leg", "db=1:2")
        self.fails(254, 'leg db: upstream is "x"', "--leg", "db=127.0.0.1:0,x")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            self.fails(3, f"leg db: can't listen on {address}", "--leg", f"db={address},h:1")


if __name__ == "__main__":
    unittest.main()
