"""Verifies webhooks by Standard Webhooks 1.0."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

_WHSEC = "whsec_"
_ENCODED = re.compile(r"([A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}")


def verify(body: bytes | str, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """Return the event of a webhook that the service has signed within the last five minutes.

    `body` is the request body as it came, before any parsing; the case of header names does not matter. `secret` is the
    webhook's `secret`, not its `standardSecret`.

    Raises `WebhookVerificationError` for anything else, and `ValueError` for an empty secret, with which anyone could sign.
    """
    key = standard_secret(secret)
    try:
        return Webhook(key).verify(body, dict(headers))
    except ValueError as error:
        raise WebhookVerificationError("Malformed signature or body") from error


def standard_secret(secret: str) -> str:
    """Return a secret in the form that every Standard Webhooks library takes: `whsec_` and base64.

    The key of a secret in this form, also in base64url and without padding, is its 24 to 64 bytes; the key of any other
    secret is its UTF-8 bytes.

    Raises `ValueError` for an empty secret.
    """
    if not secret:
        raise ValueError("The secret of the webhook is empty")
    encoded = secret.removeprefix(_WHSEC)
    given = encoded.replace("-", "+").replace("_", "/")
    try:
        key = base64.b64decode(given + "=" * (-len(given) % 4), validate=True) if encoded != secret else b""
    except binascii.Error:
        key = b""
    canonical = base64.b64encode(key).decode()
    is_one = _ENCODED.fullmatch(encoded) and given in (canonical, canonical.rstrip("="))
    if 24 <= len(key) <= 64 and is_one:
        return _WHSEC + canonical
    return _WHSEC + base64.b64encode(secret.encode()).decode()
