"""The OpenAI Agents SDK: a loop with a tool to the end, over Responses, its default, and chat completions."""

import pytest
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from agents import set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
MODELS = pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])


@MODELS
def test_runs_a_tool_to_the_end(url, kind):
    asked = []

    @function_tool
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        asked.append(city)
        return f"Snow in {city}."

    model = kind(model="default", openai_client=AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0))
    agent = Agent(
        name="Weather",
        instructions="You tell the weather.",
        model=model,
        tools=[get_weather],
        # Asked for once; the SDK takes it back as soon as a tool has run.
        model_settings=ModelSettings(tool_choice="required", temperature=0, max_tokens=120),
    )
    result = Runner.run_sync(agent, "What is the weather in Oslo?", max_turns=6)
    assert len(asked) >= 1
    assert result.final_output != ""
