"""LiteLLM, which speaks each provider's dialect by the prefix of a model."""

import litellm
import pytest

litellm.telemetry = False
HELLO = [{"role": "user", "content": "Hello!"}]


def openai_way(url):
    return {"model": "openai/default", "api_base": f"{url}/v1", "api_key": "none"}


def anthropic_way(url):
    return {"model": "anthropic/default", "api_base": url, "api_key": "none"}


@pytest.mark.parametrize("way", [openai_way, anthropic_way])
def test_answers(url, way):
    answer = litellm.completion(**way(url), messages=HELLO, max_tokens=30, temperature=0)
    assert answer.choices[0].message.content
    assert answer.usage.completion_tokens > 0


@pytest.mark.parametrize("way", [openai_way, anthropic_way])
def test_streams(url, way):
    chunks = litellm.completion(**way(url), messages=HELLO, max_tokens=30, temperature=0, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) != ""


def test_finds_what_is_too_long(url):
    long = [{"role": "user", "content": "word " * 400_000}]
    with pytest.raises(litellm.ContextWindowExceededError):
        litellm.completion(**openai_way(url), messages=long, num_retries=0)
