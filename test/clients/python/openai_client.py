import json

from checks import BUSY, KEY, LONG, URL, run
from openai import OpenAI
from parts import HELLO, TOOL, Choice

def client(url=URL, key=KEY):
    return OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


def chat(asked=None, **over):
    return (asked or client()).chat.completions.create(**{"model": "default", "messages": HELLO, "max_tokens": 32, **over})


def whole():
    assert chat().choices[0].message.content


def stream():
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chat(stream=True) if chunk.choices)


def tools():
    calls = chat(tools=[TOOL], tool_choice="required").choices[0].message.tool_calls
    assert "city" in json.loads(calls[0].function.arguments)


def structured():
    answer = client().chat.completions.parse(model="default", messages=HELLO, response_format=Choice)
    assert isinstance(answer.choices[0].message.parsed, Choice)


def embeddings():
    made = client().embeddings.create(model="default-embedding", input=["one", "two"])
    assert [len(each.embedding) for each in made.data] == [768, 768]


def read(error):
    return error.status_code, error.code, error.message


run(
    "openai",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured, "embeddings": embeddings},
    {
        "404": lambda: chat(model="nobody"),
        "400": lambda: chat(temperature=-1),
        "401": lambda: chat(client(key="wrong")),
        "429": lambda: chat(client(BUSY)),
        "overflow": lambda: chat(messages=[{"role": "user", "content": LONG}]),
    },
    read,
)
