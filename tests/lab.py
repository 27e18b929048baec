"""The whole lab as a person starts it: `manage.py up` in a folder and on ports of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.servers import eventually, free_port

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "a-long-enough-test-password"


@dataclass
class Lab:
    """A running lab. `env` overrides the environment; output is kept for messages."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    port: int = 0
    lines: list[str] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What every command of this lab needs to see the same data."""
        own = {
            "CLEANPASS_VAR": str(self.folder),
            "CLEANPASS_ADMIN_PASSWORD": PASSWORD,
            "CLEANPASS_DEMO_PORT": "0",
            "CLEANPASS_HEARTBEAT_S": "0.5",
            "CLEANPASS_HEARTBEAT_STALE_S": "5",
            "PYTHONUNBUFFERED": "1",
        }
        inherited = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
        return {**inherited, **own, **self.env}

    def start(self) -> None:
        """Start and wait until the last line of the greeting is printed."""
        self.port = self.port or free_port()
        self.lines.clear()
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        eventually(self._greeted, deadline_s=120, what=f"the lab is up:\n{self.output}")

    def _read(self, process: subprocess.Popen[str]) -> None:
        if process.stdout is not None:
            self.lines.extend(iter(process.stdout.readline, ""))

    def _greeted(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"up ended:\n{self.output}"
        return "Ctrl-C ends everything" in self.output

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def stop(self) -> int:
        """Ctrl-C; returns the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command on this lab's data."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def add_person(self, name: str, role: str) -> None:
        """Somebody with the tests' password, which need not be replaced."""
        code = (
            "from people.access import Role; from people.services import create_person; "
            f"create_person(name={name!r}, roles=[Role({role!r})], password={PASSWORD!r})"
        )
        added = self.manage("shell", "-c", code)
        assert added.returncode == 0, added.stderr

    def sign_in(self, name: str = "admin", password: str = PASSWORD) -> httpx.Client:
        """A client with a session, as a browser would have one."""
        client = httpx.Client(base_url=self.url, follow_redirects=True, timeout=30)
        page = client.get("/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token, page
        form = {"username": name, "password": password, "csrfmiddlewaretoken": token[1]}
        answer = client.post("/login/", data=form, headers={"Referer": f"{self.url}/login/"})
        assert answer.status_code == 200, answer.text
        assert "/login/" not in str(answer.url), "not signed in"
        return client
