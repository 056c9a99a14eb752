import { Injectable } from '@nestjs/common';
import { EventCatalogue, judgePublication, type Publication } from 'webhook-notification/catalogue';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { ApiError } from '../plumbing/errors/api-error';

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
  judge(publication: Publication): string {
    const verdict = judgePublication(this.catalogue, publication);
    if (!verdict.ok) throw new ApiError(verdict.status, verdict.problem);
    return verdict.text;
  }
}
