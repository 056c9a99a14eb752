import { version as packageVersion } from '../../../package.json';

/** The version of the service, as its `user-agent` and the OpenAPI document name it. */
export const version: string = packageVersion;
