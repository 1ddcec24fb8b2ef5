from checks import BUSY, KEY, LONG, URL, run
from ollama import Client
from parts import HELLO, Choice, weather


def client(url=URL, key=KEY):
    return Client(host=url, headers={"Authorization": f"Bearer {key}"})


def ask(asked=None, **over):
    return (asked or client()).chat(**{"model": "default", "messages": HELLO, "options": {"num_predict": 64}, **over})


def whole():
    assert ask().message.content


def stream():
    assert "".join(part.message.content or "" for part in ask(stream=True))


def tools():
    sent = [{"role": "user", "content": "What is the weather in Paris? Call the tool."}]
    calls = ask(messages=sent, tools=[weather]).message.tool_calls
    assert calls is not None and "city" in calls[0].function.arguments


def structured():
    said = ask(format=Choice.model_json_schema(), options={"num_predict": 200})
    Choice.model_validate_json(said.message.content)


def embeddings():
    assert len(client().embed(model="default-embedding", input=["one", "two"]).embeddings) == 2


run(
    "ollama",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured, "embeddings": embeddings},
    {
        "404": lambda: ask(model="nobody"),
        "400": lambda: ask(options={"temperature": -1}),
        "401": lambda: ask(client(key="wrong")),
        "429": lambda: ask(client(BUSY)),
        "overflow": lambda: ask(messages=[{"role": "user", "content": LONG}]),
    },
    lambda error: (error.status_code, None, error.error),
    dict.fromkeys(["404", "400", "401", "429", "overflow"]),
)
