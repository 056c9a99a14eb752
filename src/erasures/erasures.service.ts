import { Injectable } from '@nestjs/common';
import { ADMIN, type Principal } from '../auth/access-token';
import { AuthenticationService } from '../auth/bearer/authentication.service';
import { userHashes } from '../auth/erasing-users.service';
import { Config } from '../infrastructure/config/config';
import { ClockService } from '../infrastructure/database/clock.service';
import { SharedStateService } from '../infrastructure/database/shared-state.service';
import { ApiError, invalid, MESSAGES } from '../infrastructure/errors/api-error';
import type { Page } from '../infrastructure/pagination/page';
import { SecretsService } from '../webhooks/secrets/secrets.service';
import type { ListErasuresDto } from './dto/erasure.dto';
import type { Erasure } from './erasure.entity';
import { ErasuresRepository } from './erasures.repository';

@Injectable()
export class ErasuresService {
  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly erasures: ErasuresRepository,
    private readonly secrets: SecretsService,
    private readonly shared: SharedStateService,
    private readonly authentication: AuthenticationService,
  ) {}

  /**
   * Begins to forget a user, or returns the erasure of the user that is running. The user's tokens and links have ended when this
   * resolves; other processes refuse JWTs and events of the user within about a second. The erasure is stored, and continues even
   * if this process ends.
   */
  async begin({ userId: requestedBy }: Principal, userId: string, confirm: string): Promise<Erasure> {
    if (confirm !== userId) throw invalid('confirm', MESSAGES.confirmMismatch);
    if ([ADMIN, this.config.queueEventsUser].includes(userId))
      throw new ApiError('user_not_erasable', MESSAGES.userNotErasable);
    const { id } = this.clock.newId();
    const sealedUser = this.secrets.seal(id, userId);
    const erasure = await this.erasures.begin(userId, this.hashesOf(userId), { id, sealedUser, requestedBy });
    this.authentication.forget();
    await this.shared.refresh();
    return erasure;
  }

  list(reader: Principal, { userId, ...page }: ListErasuresDto): Promise<Page<Erasure>> {
    return this.erasures.list(page, reader.userId, userId === undefined ? undefined : this.hashesOf(userId));
  }

  async read(id: string): Promise<Erasure> {
    const erasure = await this.erasures.find(id);
    if (!erasure) throw new ApiError('not_found', MESSAGES.erasureNotFound);
    return erasure;
  }

  private hashesOf(userId: string): Buffer[] {
    return userHashes(userId, this.config.secretsKeys);
  }
}
