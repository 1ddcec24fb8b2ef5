from checks import BUSY, KEY, LONG, URL, run
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from parts import Choice, weather


def model(url=URL, key=KEY, name="default", **over):
    return ChatOpenAI(base_url=f"{url}/v1", api_key=key, model=name, max_retries=0, **{"max_tokens": 64, **over})


def whole():
    assert model().invoke("Hello!").content


def stream():
    assert "".join(chunk.content for chunk in model().stream("Hello!"))


def tools():
    calls = model().bind_tools([weather], tool_choice="required").invoke("Hello!").tool_calls
    assert "city" in calls[0]["args"]


def structured():
    assert isinstance(model(max_tokens=200).with_structured_output(Choice).invoke("Hello!"), Choice)


def embeddings():
    maker = OpenAIEmbeddings(
        base_url=f"{URL}/v1", api_key=KEY, model="default-embedding", check_embedding_ctx_length=False
    )
    assert len(maker.embed_query("one")) == 768


def read(error):
    return error.status_code, error.code, error.message


run(
    "langchain-openai",
    {"chat": whole, "stream": stream, "tools": tools, "structured": structured, "embeddings": embeddings},
    {
        "404": lambda: model(name="nobody").invoke("Hello!"),
        "400": lambda: model(temperature=-1).invoke("Hello!"),
        "401": lambda: model(key="wrong").invoke("Hello!"),
        "429": lambda: model(BUSY).invoke("Hello!"),
        "overflow": lambda: model().invoke(LONG),
    },
    read,
)
