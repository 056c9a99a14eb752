import { createRequire } from 'node:module';

const requireHere = createRequire(__filename);

/**
 * Loads a package of the application, which is there only when it is used.
 * @throws Error when it is not installed
 */
export const optionalPackage = <Module>(name: string): Module => requireHere(name) as Module;
