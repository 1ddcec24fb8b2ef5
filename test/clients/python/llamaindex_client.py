from checks import BUSY, KEY, LONG, URL, run
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from parts import Choice, weather

HELLO = [ChatMessage(role="user", content="Hello!")]


def model(url=URL, key=KEY, name="default", **over):
    return OpenAILike(
        api_base=f"{url}/v1",
        api_key=key,
        model=name,
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        **{"max_tokens": 128, "context_window": 1_000_000, **over},
    )


def whole():
    assert model().chat(HELLO).message.content


def stream():
    assert "".join(part.delta or "" for part in model().stream_chat(HELLO))


def tools():
    tool = FunctionTool.from_defaults(weather)
    answer = model().chat_with_tools([tool], "Hello!", tool_required=True)
    assert "city" in model().get_tool_calls_from_response(answer)[0].tool_kwargs


def structured():
    assert isinstance(model().as_structured_llm(Choice).chat(HELLO).raw, Choice)


def embeddings():
    maker = OpenAILikeEmbedding(api_base=f"{URL}/v1", api_key=KEY, model_name="default-embedding")
    assert len(maker.get_text_embedding("one")) == 768


run(
    "llama-index-llms-openai-like",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured, "embeddings": embeddings},
    {
        "404": lambda: model(name="nobody").chat(HELLO),
        "400": lambda: model(additional_kwargs={"temperature": -1}).chat(HELLO),
        "401": lambda: model(key="wrong").chat(HELLO),
        "429": lambda: model(BUSY).chat(HELLO),
        "overflow": lambda: model().chat([ChatMessage(role="user", content=LONG)]),
    },
    lambda error: (error.status_code, error.code, error.message),
)
