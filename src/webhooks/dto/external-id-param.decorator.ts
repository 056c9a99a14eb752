import { invalid } from '../../infrastructure/errors/api-error';
import { PathParam } from '../../infrastructure/validation/path-param.decorator';
import { EXTERNAL_ID, EXTERNAL_ID_RULE } from './webhook-fields.decorator';

/** Validates that a path segment is an external id (otherwise returns 400), and documents it. */
export const ExternalIdParam = (): ParameterDecorator =>
  PathParam({
    name: 'externalId',
    description: 'Your own id for the webhook.',
    schema: { type: 'string', pattern: EXTERNAL_ID.source },
    example: 'billing:invoices',
    parse: (text) => {
      if (!EXTERNAL_ID.test(text)) throw invalid('externalId', `externalId ${EXTERNAL_ID_RULE}`);
      return text;
    },
  });
