from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def says():
    """Any answer will do: what is tried is that each sample gets one."""
    return Task(
        dataset=[Sample(input="Say something.", target=""), Sample(input="And again.", target="")],
        solver=[generate(max_tokens=8)],
        scorer=includes(),
    )
