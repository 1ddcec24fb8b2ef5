"""The service that all clients talk to: started once, on a free port, with a home of its own."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def url():
    given = os.environ.get("HEARTH_URL")
    if given is not None:
        yield given.rstrip("/")
        return
    with tempfile.TemporaryDirectory(prefix="hearth-python-") as home:
        env = {"PATH": os.environ["PATH"], "SVC_HOME": home, "SVC_PORT": "0", "SVC_GPU": "off", "SVC_LOG_LEVEL": "silent"}
        command = ["node", str(ROOT / "bin" / "hearth.js"), "serve"]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as service:
            try:
                yield ready_url(service)
            finally:
                service.terminate()
                service.wait()


def ready_url(service):
    for line in service.stdout:
        found = re.search(r"ready at (http:\S+)", line)
        if found is not None:
            return found[1].rstrip("/")
    raise RuntimeError("the service ended before it was ready")
