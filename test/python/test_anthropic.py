"""The Anthropic client: messages, streams, tools to the end, counts, answers that are begun."""

import anthropic
import pytest

HELLO = [{"role": "user", "content": "Hello!"}]
# The client itself has no word for it.
GREEDY = {"temperature": 0}
WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
    },
}


@pytest.fixture
def client(url):
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def test_answers_whole_and_streamed_alike(client):
    asked = {"model": "default", "messages": HELLO, "max_tokens": 40, "extra_body": GREEDY}
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        text = stream.get_final_text()
    assert whole.content[0].text == text != ""


def test_runs_a_tool_to_the_end(client):
    messages = [{"role": "user", "content": "What is the weather in Oslo?"}]
    asked = {"model": "default", "max_tokens": 120, "extra_body": GREEDY, "tools": [WEATHER]}
    answer = client.messages.create(**asked, messages=messages, tool_choice={"type": "tool", "name": "get_weather"})
    assert answer.stop_reason == "tool_use"
    [use] = [block for block in answer.content if block.type == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "Snow, -3 degrees."}
    messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    said = client.messages.create(**asked, messages=messages, tool_choice={"type": "none"})
    assert said.content[0].type == "text"


def test_counts_tokens(client):
    counted = client.messages.count_tokens(model="default", messages=HELLO)
    answer = client.messages.create(model="default", messages=HELLO, max_tokens=1)
    usage = answer.usage
    assert counted.input_tokens == usage.input_tokens + (usage.cache_read_input_tokens or 0)


def test_goes_on_behind_words_that_are_begun(client):
    messages = [*HELLO, {"role": "assistant", "content": "Hello! I am"}]
    answer = client.messages.create(model="default", messages=messages, max_tokens=30, extra_body=GREEDY)
    assert not answer.content[0].text.startswith("Hello! I am")


def test_tells_why_it_refuses(client):
    with pytest.raises(anthropic.NotFoundError, match="nothing"):
        client.messages.create(model="nothing", messages=HELLO, max_tokens=1)
