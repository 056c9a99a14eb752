import { Injectable } from '@nestjs/common';
import { EventCatalogue, serialiseData } from 'webhook-notification/catalogue';
import { isUserId } from '../auth/access-token';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { ApiError } from '../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../plumbing/errors/messages';
import { isIdempotencyKey } from './idempotency-key';

/** What is judged of an event that is to be published. */
export interface Judged {
  name: string;
  data: unknown;
  userId: string | null;
  idempotencyKey?: string;
}

/** What may be published. */
@Injectable()
export class PublicationRulesService {
  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /** Makes these names known, where there are such event types. Must come before `judge`. */
  async lookUp(names: readonly string[]): Promise<void> {
    await this.types.lookUp(names);
  }

  /**
   * The JSON text of the data, when everything about the publication is right.
   * @throws ApiError 400 (unknown name, data that does not fit, bad option), 413 (data too large)
   */
  judge({ name, data, userId, idempotencyKey }: Judged): string {
    if (!this.catalogue.find(name)) {
      throw new ApiError(400, messageFor.unknownEvent(name, this.catalogue.publishableNames));
    }
    if (userId !== null && !isUserId(userId)) throw new ApiError(400, MESSAGES.badUserId);
    if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
      throw new ApiError(400, MESSAGES.badIdempotencyKey);
    }
    const verdict = serialiseData(data);
    if (!verdict.ok) throw new ApiError(400, verdict.problem);
    const problem = this.catalogue.problemOf(name, verdict.value);
    if (problem) throw new ApiError(400, problem);
    if (Buffer.byteLength(verdict.text) > this.catalogue.maxBytes) {
      throw new ApiError(413, messageFor.eventTooLarge(this.catalogue.maxBytes));
    }
    return verdict.text;
  }
}
