import { Global, Module } from '@nestjs/common';
import { ClaimsRepository } from './claims.repository';
import { OutcomesRepository } from './outcomes.repository';
import { RetentionCutoffService } from './retention-cutoff.service';
import { StoppingWebhooksRepository } from './stopping-webhooks.repository';
import { WaitingRowsRepository } from './waiting-rows.repository';

/** Owns the rows of deliveries: all statements that insert, change or delete one, by the state that they lead to. */
@Global()
@Module({
  providers: [
    WaitingRowsRepository,
    ClaimsRepository,
    OutcomesRepository,
    StoppingWebhooksRepository,
    RetentionCutoffService,
  ],
  exports: [
    WaitingRowsRepository,
    ClaimsRepository,
    OutcomesRepository,
    StoppingWebhooksRepository,
    RetentionCutoffService,
  ],
})
export class RowsModule {}
