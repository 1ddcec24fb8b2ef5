import instructor
from checks import KEY, URL, run
from openai import OpenAI
from parts import HELLO, Choice


def client(key=KEY, mode=instructor.Mode.TOOLS):
    return instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0), mode=mode)


def ask(asked=None, **over):
    return (asked or client()).create(
        **{"model": "default", "messages": HELLO, "response_model": Choice, "max_retries": 0, **over}
    )


def tools():
    assert isinstance(ask(), Choice)


def structured():
    assert isinstance(ask(client(mode=instructor.Mode.JSON_SCHEMA)), Choice)


def read(error):
    while not hasattr(error, "status_code") and error.__cause__ is not None:
        error = error.__cause__
    if not hasattr(error, "status_code"):
        error = error.failed_attempts[-1].exception
    return error.status_code, error.code, error.message


run(
    "instructor",
    {"tools": tools, "structured": structured},
    {
        "404": lambda: ask(model="nobody"),
        "400": lambda: ask(temperature=-1),
        "401": lambda: ask(client(key="wrong")),
    },
    read,
)
