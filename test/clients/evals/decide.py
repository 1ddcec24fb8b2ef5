"""OpenAI's own client asks typed questions; prints the probabilities of each answer as JSON."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["HEARTH_URL"] + "/v1", api_key=os.environ["HEARTH_KEY"])
decision = client.decisions.create(
    model="default",
    input="I like the garden. You like the garden. We like the garden.",
    questions=[
        {"type": "predicate", "name": "truth", "instructions": "They like the garden."},
        {
            "type": "choice",
            "name": "place",
            "instructions": "What do we like?",
            "choices": [{"value": "garden"}, {"value": "engine", "description": "a machine"}, {"value": True}],
        },
        {
            "type": "score",
            "name": "mood",
            "instructions": "How glad are we?",
            "levels": [{"label": "sad"}, {"label": "glad"}],
        },
    ],
)
truth, place, mood = decision.answers
print(
    json.dumps(
        {
            "types": [answer.type for answer in decision.answers],
            "names": [answer.name for answer in decision.answers],
            "sums": [sum(each.probability for each in answer.probabilities) for answer in (place, mood)],
            "values": [each.value for each in place.probabilities],
            "cached": decision.usage.input_tokens_details.cached_tokens,
            "output": decision.usage.output_tokens,
        }
    )
)
