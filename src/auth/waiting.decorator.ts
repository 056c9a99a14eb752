import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const WAITS_WITH_KEY = 'auth:waits-with';

/** Requests to this route that have this query parameter may wait. They hold no turn of their user meanwhile. */
export const WaitsWith = (parameter: string): CustomDecorator => SetMetadata(WAITS_WITH_KEY, parameter);
