"""The OpenAI client: chat completions and Responses, whole and streamed, tools and structured output."""

import json
from typing import Literal

import openai
import pytest
from pydantic import BaseModel

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
HELLO = [{"role": "user", "content": "Hello!"}]


class Mood(BaseModel):
    mood: Literal["good", "bad"]
    words: int


@pytest.fixture
def client(url):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def test_answers_whole_and_streamed_alike(client):
    asked = {"model": "default", "messages": HELLO, "temperature": 0, "max_tokens": 40}
    whole = client.chat.completions.create(**asked)
    pieces = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    chunks = list(pieces)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert whole.choices[0].message.content == text != ""
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens


def test_runs_a_tool_to_the_end(client):
    messages = [{"role": "user", "content": "What is the weather in Oslo?"}]
    asked = {"model": "default", "tools": [WEATHER], "temperature": 0, "max_tokens": 80}
    answer = client.chat.completions.create(**asked, messages=messages, tool_choice="required")
    [call] = answer.choices[0].message.tool_calls
    assert call.function.name == "get_weather"
    assert set(json.loads(call.function.arguments)) == {"city"}
    messages += [
        answer.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "Snow, -3 degrees."},
    ]
    said = client.chat.completions.create(**asked, messages=messages, tool_choice="none")
    assert said.choices[0].message.content != ""


def test_parses_structured_output(client):
    answer = client.chat.completions.parse(
        model="default", messages=HELLO, response_format=Mood, temperature=0, max_tokens=80
    )
    assert answer.choices[0].message.parsed.mood in ("good", "bad")


def test_speaks_responses(client):
    first = client.responses.create(model="default", input="Hello!", temperature=0, max_output_tokens=30)
    assert first.output_text != ""
    second = client.responses.create(
        model="default", input="And now?", previous_response_id=first.id, temperature=0, max_output_tokens=30
    )
    assert second.usage.input_tokens > first.usage.input_tokens
    with client.responses.stream(model="default", input="Hello!", temperature=0, max_output_tokens=30) as stream:
        types = [event.type for event in stream]
    assert types[0] == "response.created"
    assert types[-1] in ("response.completed", "response.incomplete")


def test_tells_why_it_refuses(client):
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="nothing", messages=HELLO)
    assert refused.value.response.headers["x-svc-error-code"] == "model_not_found"


def test_gives_vectors(client):
    vectors = client.embeddings.create(model="default-embedding", input=["one", "two"])
    assert [len(item.embedding) for item in vectors.data] == [768, 768]
