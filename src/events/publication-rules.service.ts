import { Injectable } from '@nestjs/common';
import { EventCatalogue, judgePublication, messageOf, type Publication } from 'webhook-notification/catalogue';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { ApiError } from '../infrastructure/errors/api-error';

/** Validates publications. */
@Injectable()
export class PublicationRulesService {
  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /** Loads the event types with these names, if there are any. Must be called before `validate`. */
  async lookUp(names: readonly string[]): Promise<void> {
    await this.types.lookUp(names);
  }

  /**
   * Validates a publication and returns the JSON text of its data.
   * @throws ApiError 400 (unknown name, data that does not match its schema, bad option), 413 (data too large)
   */
  validate(publication: Publication): string {
    const verdict = judgePublication(this.catalogue, publication);
    if (verdict.ok) return verdict.text;
    if (verdict.code === 'validation_failed') throw ApiError.invalid(...verdict.errors);
    throw new ApiError(verdict.code, messageOf(verdict.errors));
  }
}
