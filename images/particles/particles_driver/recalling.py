"""What the engine puts before a model for a question: the half of its query that only retrieves.

Its own query goes on from there to have a model write an answer. Here nobody is asked: the same
selection and the same ranking, at the engine's defaults, and then no more. Nothing is left out for
being too far from the question, as the engine hands on to an agent whatever it found, and says
beside it how near that is.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from particles_driver import asking
from particles_driver.settings import Place


def recalled(place: Place, request: Mapping[str, Any]) -> dict[str, Any]:
    """Statements for one question, best first.

    The score is the nearness of a statement to the question, a cosine; the engine ranks by it and
    by how much it trusts the statement.

    Raises:
        BadRequest: it is no question.
    """
    question, top_k = asking.question(request, "recall")
    names = asking.names(place)
    return {
        "statements": [
            {
                "text": claim["content"],
                "day": str(claim["asserted_at"])[:10],
                "score": round(nearness, 4),
                "source": ", ".join(dict.fromkeys(asking.pages(claim, names))) or None,
            }
            for claim, nearness in asyncio.run(_ranked(question, top_k))
        ]
    }


async def _ranked(question: str, top_k: int) -> list[tuple[dict[str, Any], float]]:
    from particles.core.schema import QueryRequest
    from particles.db import session_scope
    from particles.operations.query import retrieve_ranked

    async with session_scope() as session:
        found = await retrieve_ranked(session, QueryRequest(question=question, top_k=top_k))
        return [(claim.model_dump(mode="json"), float(nearness)) for claim, nearness, _ in found]
