"""Stands in for the `utils` module of llama-server's own tests, with Hearth behind it.

Run against a checkout of llama.cpp, which is not part of this repository (README.md says how). The tests bring their
own assertions; this file brings what they import: a server to start, requests, and a few helpers. Requests to routes of
llama-server alone are asked of the route of Hearth that answers the same question.
"""

import atexit
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

# The tests take these names from here as well.
import time  # noqa: F401
from typing import Any, Callable, Iterator, List, Literal, Set, Tuple  # noqa: F401

import requests

ROOT = Path(__file__).resolve().parents[2]
CLI = ["node", str(ROOT / "bin" / "hearth.js")]
MODEL = os.environ.get("HEARTH_SHIM_MODEL", "hearth-mini")
# What the tests call the one model of their server.
NAMES = ("gpt-3.5-turbo-instruct", "davinci-002", "gpt-4.1", "codellama70b", "llama-test-model")
TEMPLATES = {"llama3": "llama-3", "chatml": "chatml", "vicuna": "vicuna", "gemma": "gemma", "command-r": "command-r"}
DEFAULT_HTTP_TIMEOUT = 60

sys.modules["utils"] = sys.modules[__name__]


class ServerError(Exception):
    def __init__(self, code, body):
        super().__init__(f"{code}: {body}")
        self.code = code
        self.body = body


class ServerProcess:
    """A service with a home of its own. What a test sets on it and Hearth does not have is left alone."""

    server_host = "127.0.0.1"
    server_port = 0
    n_ctx = None
    n_slots = 1
    n_predict = None
    temperature = 0.8
    seed = 42
    api_key = None
    model_alias = None
    chat_template = None
    chat_template_file = None
    kv_unified = False
    reasoning = None

    def __getattr__(self, name):
        # Settings of llama-server that a test only reads back.
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def start(self, timeout_seconds=DEFAULT_HTTP_TIMEOUT):
        self.server_port = service_with(self.environment(), self.settings())
        server_instances.add(self)

    def environment(self):
        environment = {"SVC_NUM_PARALLEL": str(self.n_slots or 1)}
        if self.n_ctx:
            shares = 1 if self.kv_unified else (self.n_slots or 1)
            environment["SVC_NUM_CTX"] = str(max(self.n_ctx // shares, 64))
        if self.api_key:
            environment["SVC_API_KEY"] = self.api_key
        return environment

    def settings(self):
        settings = {"temperature": str(self.temperature), "seed": str(self.seed)}
        if self.n_predict and self.n_predict > 0:
            settings["max_tokens"] = str(self.n_predict)
        template = self.template()
        return settings if template is None else {**settings, "template": template}

    def template(self):
        if self.chat_template_file is not None:
            # The tests name it from the folder that they usually run in.
            return str((Path(os.environ["LLAMA_SERVER_TESTS"]) / self.chat_template_file).resolve())
        if self.chat_template is None:
            return None
        if self.chat_template in TEMPLATES:
            return TEMPLATES[self.chat_template]
        file = Path(scratch()) / f"{hash(self.chat_template)}.jinja"
        file.write_text(self.chat_template)
        return str(file)

    def stop(self):
        # The service stays for the next test with the same settings: starting one takes longer than most tests.
        server_instances.discard(self)

    def make_request(self, method, path, data=None, headers=None, timeout=600, host=None):
        asked = translated(path, data, self.reasoning)
        answer = requests.request(method, self.url(asked.path), json=asked.data, headers=headers, timeout=timeout)
        body = asked.read(body_of(answer)) if answer.ok else body_of(answer)
        if answer.ok and asked.path == "/v1/chat/completions":
            body = {**body, **self.verbose(asked.data)}
        return SimpleNamespace(
            status_code=answer.status_code, headers=dict(answer.headers), body=in_their_words(body)
        )

    def verbose(self, data):
        """What they put into the answer, Hearth answers by itself."""
        if not data.get("verbose", self.debug):
            return {}
        dry_run = requests.post(self.url("/v1/chat/completions?svc_dry_run=1"), json=data)
        return {"__verbose": {"prompt": dry_run.json()["rendered_prompt"]}}

    def make_stream_request(self, method, path, data=None, headers=None, host=None):
        asked = translated(path, data, self.reasoning)
        answer = requests.request(method, self.url(asked.path), json=asked.data, headers=headers, stream=True)
        if answer.status_code != 200:
            raise ServerError(answer.status_code, body_of(answer))
        for line in answer.iter_lines(decode_unicode=True):
            if line.startswith("data: {"):
                yield in_their_words(asked.read(json.loads(line[6:])))

    def make_any_request(self, method, path, data=None, headers=None, timeout=600):
        if not data.get("stream"):
            answer = self.make_request(method, path, data, headers, timeout)
            assert answer.status_code == 200, answer.body
            return answer.body
        message = {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": []}
        reason = None
        for chunk in self.make_stream_request(method, path, data, headers):
            for choice in chunk["choices"]:
                reason = choice["finish_reason"] or reason
                gather(message, choice["delta"])
        return {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}

    def url(self, path):
        return f"http://{self.server_host}:{self.server_port}{path}"


server_instances = set()


def gather(message, delta):
    for member in ("content", "reasoning_content"):
        message[member] += delta.get(member) or ""
    for part in delta.get("tool_calls", []):
        if part["index"] == len(message["tool_calls"]):
            message["tool_calls"].append({"type": "function", "function": {"name": "", "arguments": ""}})
        call = message["tool_calls"][part["index"]]
        call["id"] = part.get("id", call.get("id"))
        for member in ("name", "arguments"):
            call["function"][member] += part["function"].get(member) or ""


running = {}


def service_with(environment, settings):
    """The port of a service with these settings; only the last one keeps running."""
    key = json.dumps([environment, settings], sort_keys=True)
    if key not in running:
        end_services()
        running[key] = start_service(environment, settings)
    return running[key].port


def start_service(environment, settings):
    home = tempfile.mkdtemp(dir=scratch())
    common = {"PATH": os.environ["PATH"], "SVC_HOME": home, "SVC_PORT": "0", "SVC_GPU": "off"}
    whole = {**common, "SVC_LOG_LEVEL": "silent", "SVC_DEFAULT_MODEL": MODEL, **environment}
    pairs = [f"{name}={value}" for name, value in settings.items()]
    aliases = [["alias", name, MODEL] for name in NAMES]
    for command in (["restore", MODEL], ["set", MODEL, *pairs], *aliases):
        subprocess.run([*CLI, *command], env=whole, check=True, capture_output=True)
    service = subprocess.Popen([*CLI, "serve"], env=whole, stdout=subprocess.PIPE, text=True)
    for line in service.stdout:
        found = re.search(r"ready at http://[^:]+:(\d+)", line)
        if found is not None:
            return SimpleNamespace(port=int(found[1]), process=service)
    raise RuntimeError("the service ended before it was ready")


@atexit.register
def end_services():
    for service in running.values():
        service.process.terminate()
        service.process.wait()
        service.process.stdout.close()
    running.clear()


_scratch = None


def scratch():
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix="hearth-shim-")
        atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
    return _scratch


def body_of(answer):
    try:
        return answer.json()
    except ValueError:
        return answer.text


def translated(path, data, reasoning=None):
    """The same question in words of Hearth: a route that llama-server alone has, or a setting that is a field here."""
    same = SimpleNamespace(path=path, data=data, read=lambda body: body)
    route = path.removeprefix("/v1")
    if route == "/slots":
        same.path, same.read = "/svc/engine", slots_of
    if not isinstance(data, dict):
        return same
    if reasoning in ("on", "off") and "messages" in data:
        same.data = {"enable_thinking": reasoning == "on", **data}
    if route in ("/chat/completions", "/completions", "/responses"):
        same.path, same.data = f"/v1{route}", named(same.data)
    elif route == "/chat/completions/input_tokens":
        same.path, same.data = "/v1/chat/completions?svc_dry_run=1", named(same.data)
        same.read = lambda body: {"input_tokens": body["prompt_tokens"]}
    return same


def in_their_words(body):
    """Where the interface says otherwise, so that the rest of an answer is looked at as well."""
    if not isinstance(body, dict):
        return body
    if "system_fingerprint" in body:
        body = {**body, "system_fingerprint": "b" + body["system_fingerprint"]}
    for choice in body.get("choices", []):
        if choice.get("delta", {}).get("role") == "assistant":
            choice["delta"]["content"] = None
    return body


def named(data):
    """llama-server has one model, so its clients name none."""
    return {**data, "model": data.get("model") or "default"}


def slots_of(state):
    """Whether each slot of the loaded models is at work."""
    models = state["models"].values()
    return [{"is_processing": "job_id" in slot} for model in models for slot in model["slots"].values()]


class ServerPreset:
    @staticmethod
    def load_all():
        """Nothing is fetched: the model is built in."""

    @staticmethod
    def tinyllama2():
        server = ServerProcess()
        server.n_ctx, server.n_slots, server.n_predict = 512, 2, 64
        return server

    @staticmethod
    def stories15m_moe():
        server = ServerProcess()
        server.n_ctx, server.n_predict, server.temperature = 1024, 64, 0.0
        return server

    tinyllama_infill = stories15m_moe
    router = stories15m_moe


# What their small models happen to say; another model says something.
WORDS_OF_THEIR_MODELS = ("(Suddenly)+", "(going|bed)+", "Whillicter", "But she couldn't")
TESTS_OF_WORDS = {"test_chat_completion", "test_chat_completion_stream", "test_completion", "test_completion_stream"}


class AnyCount:
    """Equal to every count of tokens: each vocabulary has its own."""

    def __eq__(self, other):
        return isinstance(other, int) and other > 0

    def __repr__(self):
        return "any count"


def pytest_collection_modifyitems(items):
    for item in items:
        call = getattr(item, "callspec", None)
        if call is None or item.originalname not in TESTS_OF_WORDS:
            continue
        for name, of_any_model in (("re_content", "(?s)."), ("n_prompt", AnyCount())):
            if name in call.params:
                call.params[name] = of_any_model


def match_regex(regex, text):
    pattern = "." if regex in WORDS_OF_THEIR_MODELS else regex
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE | re.DOTALL) is not None


def parallel_function_calls(calls):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return [each.result() for each in [pool.submit(function, *args) for function, args in calls]]
