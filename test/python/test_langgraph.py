"""LangGraph over LangChain's models: an agent with a tool to the end, by chat completions, Responses and Messages."""

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


def chat(url):
    return ChatOpenAI(model="default", base_url=f"{url}/v1", api_key="none", max_tokens=120, max_retries=0)


def responses(url):
    return ChatOpenAI(
        model="default", base_url=f"{url}/v1", api_key="none", max_tokens=120, max_retries=0, use_responses_api=True
    )


def messages(url):
    return ChatAnthropic(model="default", base_url=url, api_key="none", max_tokens=120, max_retries=0)


@pytest.mark.parametrize("model", [chat, responses, messages])
def test_streams_and_answers(url, model):
    pieces = [str(piece.text) for piece in model(url).stream("Hello!")]
    assert "".join(pieces) != ""


@pytest.mark.parametrize("model", [chat, responses, messages])
def test_runs_a_tool_to_the_end(url, model):
    @tool
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        return f"Snow in {city}."

    asked = model(url).bind_tools([get_weather], tool_choice="get_weather").invoke("What is the weather in Oslo?")
    assert asked.tool_calls[0]["name"] == "get_weather"
    result = ToolMessage(get_weather.invoke(asked.tool_calls[0]["args"]), tool_call_id=asked.tool_calls[0]["id"])
    answer = model(url).bind_tools([get_weather]).invoke(["What is the weather in Oslo?", asked, result])
    assert answer is not None


@pytest.mark.parametrize("model", [chat, responses, messages])
def test_an_agent_ends(url, model):
    agent = create_react_agent(model(url), tools=[])
    result = agent.invoke({"messages": [("user", "Hello!")]})
    assert len(result["messages"]) == 2
