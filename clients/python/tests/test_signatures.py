import base64
import hashlib
import hmac
import json
import time

import pytest
from webhook_notification_service import WebhookVerificationError, standard_secret, verify

BODY = '{"id":"0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90","event":"order.paid","data":{"name":"Jürgen"}}'
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
TEXT = "a text that I chose, ü"


def signature(key: bytes, timestamp: int) -> str:
    """As the specification says, without the library that verifies it."""
    signed = f"id-1.{timestamp}.{BODY}".encode()
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(key: bytes = KEY, ago: int = 0, **more: str) -> dict[str, str]:
    timestamp = int(time.time()) - ago
    own = {"Webhook-Id": "id-1", "Webhook-Timestamp": str(timestamp), "Webhook-Signature": signature(key, timestamp)}
    return {**own, **more}


@pytest.mark.parametrize("body", [BODY, BODY.encode()])
def test_returns_the_event(body):
    assert verify(body, headers(), SECRET) == json.loads(BODY)


def test_takes_a_secret_of_ones_own():
    assert verify(BODY, headers(TEXT.encode()), TEXT)["event"] == "order.paid"


def test_leaves_a_standard_secret_alone():
    assert standard_secret(SECRET) == SECRET


@pytest.mark.parametrize("secret", ["whsec_", "whsec_c2hvcnQ=", "whsec_!" + "A" * 43])
def test_takes_what_only_looks_like_a_standard_secret_as_text(secret):
    assert standard_secret(secret) == "whsec_" + base64.b64encode(secret.encode()).decode()
    assert verify(BODY, headers(secret.encode()), secret)


@pytest.mark.parametrize("secret", [SECRET.rstrip("="), "whsec_" + base64.urlsafe_b64encode(b"\xfb" * 32).decode()])
def test_decodes_base64url_and_base64_without_padding(secret):
    key = base64.urlsafe_b64decode(secret.removeprefix("whsec_").rstrip("=") + "=")
    assert standard_secret(secret) == "whsec_" + base64.b64encode(key).decode()
    assert verify(BODY, headers(key), secret)


def test_takes_either_signature_during_a_rotation():
    ours = headers()
    both = {
        **ours,
        "Webhook-Signature": signature(b"new", int(ours["Webhook-Timestamp"])) + " " + ours["Webhook-Signature"],
    }
    assert verify(BODY, both, SECRET)


def test_refuses_an_empty_secret():
    with pytest.raises(ValueError):
        verify(BODY, headers(b""), "")


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (BODY + " ", headers()),
        (BODY, headers(b"another key")),
        (BODY, headers(ago=301)),
        (BODY, headers(ago=-301)),
        (BODY, {}),
        (BODY, headers(**{"Webhook-Signature": "nonsense"})),
        (BODY, headers(**{"Webhook-Signature": "v1,nonsense"})),
        (BODY, headers(**{"Webhook-Signature": ""})),
        (BODY, headers(**{"Webhook-Timestamp": "soon"})),
        (BODY, headers(**{"Webhook-Id": "id-2"})),
        (b"\xff", headers()),
    ],
)
def test_refuses_anything_else(body, sent):
    with pytest.raises(WebhookVerificationError):
        verify(body, sent, SECRET)
