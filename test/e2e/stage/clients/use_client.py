"""Uses the client that openapi-python-client has made of openapi.json, and prints what it got as JSON."""

import json
import os
import time
from datetime import datetime, timedelta, timezone

from webhook_notification_service_client import AuthenticatedClient
from webhook_notification_service_client.api.access import get_me
from webhook_notification_service_client.api.deliveries import list_webhook_deliveries, recover_webhook
from webhook_notification_service_client.api.events import publish_event, publish_events
from webhook_notification_service_client.api.webhooks import (
    create_webhook,
    get_webhook,
    list_webhooks,
    rotate_secret,
    test_webhook,
)
from webhook_notification_service_client.models import (
    Error,
    ListWebhookDeliveriesStatusItem,
    NewEvent,
    NewEventData,
    NewEvents,
    NewWebhook,
    RecoveryRequest,
    SecretRotation,
    TestDeliveryRequest,
)

URL, RECEIVER = os.environ["URL"], os.environ["RECEIVER"]
UNKNOWN = "00000000-0000-7000-8000-000000000000"


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
        rows = list_webhook_deliveries.sync(webhook_id, client=mine, status=[ListWebhookDeliveriesStatusItem.SUCCEEDED]).data
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
recovery = recover_webhook.sync(
    created.id, client=mine, body=RecoveryRequest(since=datetime.now(timezone.utc) - timedelta(hours=1))
).data

print(
    json.dumps(
        {
            "pages": pages(),
            "events": [published.event, *[one.event for one in batch]],
            "attempts": [row.attempt for row in rows],
            "rotated": rotate_secret.sync(created.id, client=mine, body=SecretRotation()).data.secret != created.secret,
            "recovered": recovery.id is not None,
            "400": error(create_webhook.sync_detailed(client=mine, body=NewWebhook(url="nonsense", events=["no.such"]))),
            "401": error(get_me.sync_detailed(client=client("wrong"))),
            "403": error(create_webhook.sync_detailed(client=reader, body=NewWebhook(url=RECEIVER, events=["*"]))),
            "404": error(get_webhook.sync_detailed(UNKNOWN, client=mine)),
            "409": error(create_webhook.sync_detailed(client=mine, body=NewWebhook(url=RECEIVER, events=["*"]))),
            "tested": test_webhook.sync(created.id, client=mine, body=TestDeliveryRequest()).data.response_status,
            "429": until_limited(),
        }
    )
)
