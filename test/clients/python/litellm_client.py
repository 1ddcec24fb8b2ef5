import json

import litellm
from checks import BUSY, KEY, LONG, URL, run
from parts import HELLO, TOOL, Choice

litellm.telemetry = False
litellm.suppress_debug_info = True


def ask(url=URL, key=KEY, model="default", **over):
    sent = {"messages": HELLO, "max_tokens": 32, "num_retries": 0, "max_retries": 0, **over}
    return litellm.completion(model=f"openai/{model}", api_base=f"{url}/v1", api_key=key, **sent)


def whole():
    assert ask().choices[0].message.content


def stream():
    assert "".join(chunk.choices[0].delta.content or "" for chunk in ask(stream=True))


def tools():
    calls = ask(tools=[TOOL], tool_choice="required").choices[0].message.tool_calls
    assert "city" in json.loads(calls[0].function.arguments)


def structured():
    schema = {"name": "choice", "schema": Choice.model_json_schema(), "strict": True}
    said = ask(response_format={"type": "json_schema", "json_schema": schema}, max_tokens=200)
    Choice.model_validate_json(said.choices[0].message.content)


def embeddings():
    made = litellm.embedding(
        model="openai/default-embedding", input=["one"], api_base=f"{URL}/v1", api_key=KEY, encoding_format="float"
    )
    assert len(made.data[0]["embedding"]) == 768


run(
    "litellm",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured, "embeddings": embeddings},
    {
        "404": lambda: ask(model="nobody"),
        "400": lambda: ask(temperature=-1),
        "401": lambda: ask(key="wrong"),
        "429": lambda: ask(BUSY),
        "overflow": lambda: ask(messages=[{"role": "user", "content": LONG}]),
    },
    lambda error: (error.status_code, type(error).__name__, error.message),
    {
        "404": "NotFoundError",
        "400": "BadRequestError",
        "401": "AuthenticationError",
        "429": "RateLimitError",
        "overflow": "ContextWindowExceededError",
    },
)
