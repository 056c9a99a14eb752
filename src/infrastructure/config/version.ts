import { version as packageVersion } from '../../../package.json';

/** The version of the service, for its `user-agent` and the OpenAPI document. */
export const version: string = packageVersion;
