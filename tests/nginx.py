"""A real nginx in front of a server: one that passes streams on, or one that holds them back."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.servers import eventually, free_port

CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_max_body_size 64m;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  proxy_http_version 1.1; proxy_read_timeout {read_s}s;
  {servers}
}}
"""
PASSES_ON = """
server {{
  listen 127.0.0.1:{port};
  location / {{
    proxy_pass {upstream}; proxy_set_header Connection ""; proxy_buffering off;
  }}
}}
"""
# Compressing holds a stream back until it ends; the first hop unpacks what the second packed, as
# chains of proxies do.
HOLDS_BACK = """
server {{
  listen 127.0.0.1:{port};
  gunzip on;
  location / {{ proxy_pass http://127.0.0.1:{inner}; proxy_set_header Accept-Encoding gzip; }}
}}
server {{
  listen 127.0.0.1:{inner};
  gzip on; gzip_types text/event-stream; gzip_proxied any; gzip_min_length 0;
  location / {{
    proxy_pass {upstream}; proxy_set_header Accept-Encoding identity;
    proxy_ignore_headers X-Accel-Buffering;
  }}
}}
"""


@contextlib.contextmanager
def nginx(
    folder: Path, upstream: str, *, buffers: bool = False, read_s: int = 600
) -> Iterator[str]:
    """Its root URL. `upstream` is a root URL too."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        pytest.skip("nginx is not installed: what a proxy does to streams was NOT tested")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    servers = (HOLDS_BACK if buffers else PASSES_ON).format(
        port=port, inner=free_port(), upstream=upstream
    )
    config = CONFIG.format(folder=folder, read_s=read_s, servers=servers)
    (folder / "nginx.conf").write_text(config)
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    root = f"http://127.0.0.1:{port}"
    try:
        eventually(lambda: answers(root), deadline_s=20, what="nginx answers")
        yield root
    finally:
        process.terminate()
        process.wait(20)


def answers(root: str) -> bool:
    try:
        httpx.get(f"{root}/health", timeout=2)
    except httpx.HTTPError:
        return False
    return True
