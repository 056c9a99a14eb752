/** Schemas whose name in the document does not follow from the name of their class. */
const NOUNS: Record<string, string> = {
  DeliveryRequestDto: 'SentRequest',
  DeliveryResponseDto: 'ReceivedResponse',
  PublishEventDto: 'NewEvent',
  PublishBatchDto: 'NewEvents',
  SaveEventTypeDto: 'EventTypeDeclaration',
  CheckFilterDto: 'FilterCheckRequest',
  PreviewFormatDto: 'FormatPreviewRequest',
  SaveWebhookDto: 'WebhookDeclaration',
  EraseUserDto: 'ErasureRequest',
  RecoverDto: 'RecoveryRequest',
  RotateSecretDto: 'SecretRotation',
  LeaseMessagesDto: 'LeaseRequest',
  AcknowledgeMessagesDto: 'Acknowledgement',
  AcknowledgedDto: 'AcknowledgedLeases',
  TestWebhookDto: 'TestDeliveryRequest',
  PutFollowersDto: 'FollowerList',
  TryReceiverDto: 'TestReceiver',
  TryReceiverDetailDto: 'TestReceiverDetail',
  UpdateTryReceiverDto: 'TestReceiverUpdate',
  TriedRequestDto: 'TestReceiverRequest',
};

/** Returns the name of a DTO's schema in the document: `WebhookDto` → `Webhook`, `CreateWebhookDto` → `NewWebhook`. */
export function nounOf(dto: string): string {
  const [, verb, noun] = /^(Create(?=[A-Z])|Update(?=[A-Z])|)(\w+)Dto$/.exec(dto) ?? [];
  if (noun === undefined) return dto;
  return NOUNS[dto] ?? { Create: `New${noun}`, Update: `${noun}Update` }[verb ?? ''] ?? noun;
}
