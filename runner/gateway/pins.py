"""Which model a call may ask, and at what price."""

from runner.gateway.config import GatewayConfig
from runner.gateway.refusal import Refusal
from runner.model import Ending, Outcome
from runner.prices import ModelPrice, priced_name, same_model


def price_of(config: GatewayConfig, model: str, purpose: str) -> ModelPrice:
    """Return the price of ``model``, asked for ``purpose``.

    Raises:
        Refusal: it is not the model the purpose runs on, or it has no price; the run is invalid.
    """
    pinned = config.pins.get(purpose, config.model)
    if not same_model(pinned, model, config.aliases):
        raise _invalid("wrong_model", f"{purpose} runs on {pinned}, and {model} was asked")
    name = priced_name(model, config.prices, config.aliases)
    if name is None:
        raise _invalid("unpriced_model", f"{model} has no price, so no ceiling could hold")
    return config.prices[name]


def _invalid(kind: str, message: str) -> Refusal:
    ending = Ending(outcome=Outcome.INVALID, kind=kind, detail=message)
    return Refusal(kind, message, ending=ending)
