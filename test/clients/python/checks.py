"""What every client is asked to do. A program hands over functions; each check says one line of JSON."""

import importlib.metadata
import json
import os
import traceback

URL = os.environ["HEARTH_URL"]
KEY = os.environ["HEARTH_KEY"]
BUSY = os.environ.get("HEARTH_BUSY_URL")
LONG = "word " * 400_000
ERRORS = {
    "404": ("model_not_found", "nobody"),
    "400": ("invalid_request", "temperature"),
    "401": ("unauthorized", "key"),
    "429": ("queue_full", "wait"),
    "overflow": ("context_length_exceeded", "context size"),
}


def say(**line):
    print(json.dumps(line), flush=True)


def run(package, checks, errors, read, codes=None):
    """`errors` are calls that fail; `read` takes status, code and text from what they raise. A client that has a class
    of its own for a failure gives its name in `codes`; None stands for a dialect whose errors have no codes."""
    say(version=importlib.metadata.version(package))
    for name, check in checks.items():
        attempt(name, check)
    for name, call in errors.items():
        if name == "429" and BUSY is None:
            continue
        code, words = ERRORS[name]
        wanted = code if codes is None else codes.get(name, code)
        attempt(name, lambda: refused(name, call, read, wanted, words))


def attempt(name, check):
    try:
        check()
        say(check=name, ok=True)
    except BaseException as error:
        traceback.print_exc()
        say(check=name, ok=False, detail=f"{type(error).__name__}: {error}"[:300])


def refused(name, call, read, code, words):
    try:
        call()
    except Exception as error:
        status, seen, text = read(error)
        assert status == (400 if name == "overflow" else int(name)), f"status {status}"
        assert code is None or seen == code, f"code {seen}"
        assert words.lower() in str(text).lower(), f"text {text}"
        return
    raise AssertionError("nothing was raised")
