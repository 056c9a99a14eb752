import { PathParam } from './path-param.decorator';
import { idOf } from './uuid';

/** Validates that a path segment is a UUID (otherwise returns 400), and documents it. */
export const IdParam = (name: string, description: string): ParameterDecorator =>
  PathParam({ name, description, type: String, format: 'uuid', parse: (text) => idOf(name, text) });
