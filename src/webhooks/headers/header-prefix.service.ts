import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { headerNames, OWN_PREFIX } from '../../infrastructure/config/header-prefixes';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';

/** Only a process that starts with another value writes. */
const STORE = statement('store_header_prefix')`
    with known as (select header_prefix as before from webhook_service.installation),
      stored as (update webhook_service.installation set header_prefix = $1
                 from known where header_prefix is distinct from $1)
    select before from known`;

/** Webhooks with a header of their owner that the service now sends itself. */
const HIDDEN_BY = statement('find_reserved_headers')`
    select id, count(*) over ()::int as count from webhook_service.webhooks
    where headers <> '{}' and exists (select from jsonb_object_keys(headers) as name where lower(name) = any($1))
    order by id limit 5`;

/** Tells at the start what a changed `HEADER_PREFIX` means to receivers. */
@Injectable()
export class HeaderPrefixService implements OnApplicationBootstrap {
  private readonly logger = new Logger(HeaderPrefixService.name);

  constructor(
    private readonly config: Config,
    private readonly statements: StatementsService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { headerPrefix: prefixes } = this.config;
    const now = prefixes.join(',');
    const [{ before }] = (await this.statements.run<{ before: string | null }>(STORE, [now])) as [
      { before: string | null },
    ];
    if (before !== null && before !== now)
      this.logger.warn(
        `HEADER_PREFIX is now ${now}, and was ${before}: receivers that read headers with the former prefix no longer find them, ` +
          `except ${OWN_PREFIX}-signature. Restart all processes with the same value; two values, comma-separated, send both.`,
      );
    if (now !== OWN_PREFIX) await this.warnOfReserved(prefixes);
  }

  private async warnOfReserved(prefixes: readonly string[]): Promise<void> {
    const names = prefixes.flatMap((prefix) => Object.values(headerNames(prefix)));
    const found = await this.statements.run<{ id: string; count: number }>(HIDDEN_BY, [names]);
    if (found.length === 0) return;
    const ids = found.map(({ id }) => id).join(', ');
    this.logger.warn(
      `${found[0]?.count ?? 0} webhooks have headers that HEADER_PREFIX reserves, and which are therefore not sent: ${ids}.`,
    );
  }
}
