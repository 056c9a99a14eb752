"""Client of the Webhook Notification Service, and verification of the webhooks that it sends.

The operations are in `generated.api`, by tag, and the schemas in `generated.models`.
"""

from .generated import AuthenticatedClient
from .signatures import WebhookVerificationError, standard_secret, verify

__all__ = ["AuthenticatedClient", "WebhookVerificationError", "standard_secret", "verify"]
