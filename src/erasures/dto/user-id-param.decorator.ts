import { USER_ID } from 'webhook-notification/catalogue';
import { invalid } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import { PathParam } from '../../infrastructure/validation/path-param.decorator';

/** Validates that a path segment is a user id (otherwise returns 400), and documents it. */
export const UserIdParam = (): ParameterDecorator =>
  PathParam({
    name: 'userId',
    description: 'Id of the user.',
    schema: { type: 'string', pattern: USER_ID.source },
    example: 'alice',
    parse: (text) => {
      if (!USER_ID.test(text)) throw invalid('userId', MESSAGES.badUserId);
      return text;
    },
  });
