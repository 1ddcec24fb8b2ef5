from typing import Literal

from checks import BUSY, KEY, LONG, URL, run
from openai import AsyncOpenAI
from parts import Choice, weather
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent(url=URL, key=KEY, name="default", settings=None, **over):
    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0))
    settings = {"max_tokens": 200, **(settings or {})}
    return Agent(OpenAIChatModel(name, provider=provider), model_settings=settings, **over)


def whole():
    assert agent().run_sync("Hello!").output


def stream():
    assert "".join(agent().run_stream_sync("Hello!").stream_text(delta=True))


def tools():
    called = []

    def seen(city: Literal["Paris", "Rome"]) -> str:
        """The weather of a city."""
        called.append(city)
        return weather(city)

    agent(tools=[seen]).run_sync("What is the weather in Paris? Call the tool.")
    assert called


def structured():
    assert isinstance(agent(output_type=NativeOutput(Choice)).run_sync("Hello!").output, Choice)


run(
    "pydantic-ai-slim",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured},
    {
        "404": lambda: agent(name="nobody").run_sync("Hello!"),
        "400": lambda: agent(settings={"temperature": -1}).run_sync("Hello!"),
        "401": lambda: agent(key="wrong").run_sync("Hello!"),
        "429": lambda: agent(BUSY).run_sync("Hello!"),
        "overflow": lambda: agent().run_sync(LONG),
    },
    lambda error: (error.status_code, error.body["code"], error.body["message"]),
)
