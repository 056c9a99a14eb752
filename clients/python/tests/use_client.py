"""Uses the package with a running service, and prints what it got as JSON."""

import json
import os
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from webhook_notification_service import AuthenticatedClient, verify
from webhook_notification_service.generated.api.access import get_me
from webhook_notification_service.generated.api.deliveries import list_webhook_deliveries, recover_webhook
from webhook_notification_service.generated.api.events import publish_event, publish_events
from webhook_notification_service.generated.api.webhooks import (
    create_webhook,
    get_webhook,
    list_webhooks,
    rotate_secret,
    test_webhook,
)
from webhook_notification_service.generated.models import (
    Error,
    ListWebhookDeliveriesStateItem,
    NewEvent,
    NewEventData,
    NewEvents,
    NewWebhook,
    RecoveryRequest,
    SecretRotation,
    TestDeliveryRequest,
)

URL = os.environ["URL"]
UNKNOWN = "00000000-0000-7000-8000-000000000000"


received: list[tuple[bytes, dict[str, str]]] = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        received.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
RECEIVER = f"http://127.0.0.1:{receiver.server_port}/"


def client(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=URL, token=token)


mine, reader = client(os.environ["TOKEN"]), client(os.environ["READER"])


def error(answer) -> dict:
    parsed = answer.parsed
    assert isinstance(parsed, Error), (answer.status_code, answer.content)
    details = [] if not parsed.details else [detail.field for detail in parsed.details]
    return {"status": int(answer.status_code), "code": parsed.code, "details": details}


def event() -> NewEvent:
    return NewEvent(event="order.paid", data=NewEventData.from_dict({"cents": 4900}))


def pages() -> list[int]:
    lengths, cursor = [], {}
    while True:
        page = list_webhooks.sync(client=mine, limit=1, **cursor)
        lengths.append(len(page.data))
        if page.next_cursor is None:
            return lengths
        cursor = {"cursor": page.next_cursor}


def settled(webhook_id: str, count: int) -> list:
    for _ in range(600):
        rows = list_webhook_deliveries.sync(
            webhook_id, client=mine, state=[ListWebhookDeliveriesStateItem.DELIVERED]
        ).data
        if len(rows) >= count:
            return rows
        time.sleep(0.05)
    raise TimeoutError("the deliveries are not settled")


def until_limited() -> dict:
    for _ in range(1000):
        answer = get_me.sync_detailed(client=reader)
        if answer.status_code != 200:
            return error(answer)
    raise AssertionError("no limit")


created = create_webhook.sync(client=mine, body=NewWebhook(url=RECEIVER, events=["order.paid"])).data
create_webhook.sync(client=mine, body=NewWebhook(url=RECEIVER, events=["job.started"], active=False))
published = publish_event.sync(client=mine, body=event()).data
batch = publish_events.sync(client=mine, body=NewEvents(events=[event(), event()])).data
rows = settled(created.id, 3)
verified = [verify(body, headers, created.secret)["event"] for body, headers in received]
recovery = recover_webhook.sync(
    created.id, client=mine, body=RecoveryRequest(since=datetime.now(UTC) - timedelta(hours=1))
).data

print(
    json.dumps(
        {
            "pages": pages(),
            "events": [published.event, *[one.event for one in batch]],
            "verified": verified,
            "attempts": [row.attempt for row in rows],
            "rotated": rotate_secret.sync(created.id, client=mine, body=SecretRotation()).data.secret != created.secret,
            "recovered": recovery.id is not None,
            "400": error(
                create_webhook.sync_detailed(client=mine, body=NewWebhook(url="nonsense", events=["no.such"]))
            ),
            "401": error(get_me.sync_detailed(client=client("wrong"))),
            "403": error(create_webhook.sync_detailed(client=reader, body=NewWebhook(url=RECEIVER, events=["*"]))),
            "404": error(get_webhook.sync_detailed(UNKNOWN, client=mine)),
            "409": error(create_webhook.sync_detailed(client=mine, body=NewWebhook(url=RECEIVER, events=["*"]))),
            "tested": test_webhook.sync(created.id, client=mine, body=TestDeliveryRequest()).data.response_status,
            "429": until_limited(),
        }
    )
)
