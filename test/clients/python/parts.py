"""What several clients send."""

from typing import Literal

from pydantic import BaseModel

HELLO = [{"role": "user", "content": "Hello!"}]
SCHEMA = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather of a city.", "parameters": SCHEMA},
}


class Choice(BaseModel):
    """Small, so that the smallest model comes to its end."""

    colour: Literal["red", "green", "blue"]
    sure: bool


def weather(city: Literal["Paris", "Rome"]) -> str:
    """The weather of a city."""
    return f"It is sunny in {city}."
