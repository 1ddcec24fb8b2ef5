"""pydantic-ai: agents with tools and typed answers, over all three dialects."""

from typing import Literal

import pytest
from anthropic import AsyncAnthropic
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


class Mood(BaseModel):
    mood: Literal["good", "bad"]


def chat(url):
    return OpenAIChatModel("default", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))


def responses(url):
    return OpenAIResponsesModel("default", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))


def messages(url):
    # A client of its own: the provider would give it a transport that it does not take.
    client = AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
    return AnthropicModel("default", provider=AnthropicProvider(anthropic_client=client))


MODELS = pytest.mark.parametrize("model", [chat, responses, messages])
SETTINGS = {"max_tokens": 120}


@MODELS
def test_answers(url, model):
    agent = Agent(model(url), model_settings=SETTINGS)
    assert agent.run_sync("Hello!").output != ""


@MODELS
def test_answers_in_a_type(url, model):
    agent = Agent(model(url), output_type=Mood, model_settings=SETTINGS)
    assert agent.run_sync("How are you?").output.mood in ("good", "bad")


@MODELS
def test_may_use_tools(url, model):
    agent = Agent(model(url), model_settings=SETTINGS)

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        return f"Snow in {city}."

    result = agent.run_sync("What is the weather in Oslo?")
    assert isinstance(result.output, str)
