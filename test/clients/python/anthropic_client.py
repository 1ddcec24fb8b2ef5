from anthropic import Anthropic
from checks import BUSY, KEY, LONG, URL, run
from parts import HELLO, SCHEMA

TOOL = {"name": "weather", "description": "The weather of a city.", "input_schema": SCHEMA}


def client(url=URL, key=KEY):
    return Anthropic(base_url=url, api_key=key, max_retries=0)


def ask(asked=None, **over):
    return (asked or client()).messages.create(**{"model": "default", "messages": HELLO, "max_tokens": 32, **over})


def whole():
    assert ask().content[0].text


def stream():
    with client().messages.stream(model="default", messages=HELLO, max_tokens=32) as events:
        assert "".join(events.text_stream)


def tools():
    answer = ask(tools=[TOOL], tool_choice={"type": "any"})
    assert "city" in next(block for block in answer.content if block.type == "tool_use").input


def read(error):
    said = error.body["error"]
    return error.status_code, said["code"], said["message"]


run(
    "anthropic",
    {"chat": whole, "stream": stream, "tools": tools},
    {
        "404": lambda: ask(model="nobody"),
        "400": lambda: ask(extra_body={"temperature": -1}),
        "401": lambda: ask(client(key="wrong")),
        "429": lambda: ask(client(BUSY)),
        "overflow": lambda: ask(messages=[{"role": "user", "content": LONG}]),
    },
    read,
)
