import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const requireHere = createRequire(__filename);

/**
 * Loads a package of the application, which is installed only when it is used. In a monorepo it may be installed for
 * the application, but not for this library.
 * @throws Error when it is not installed
 */
export function optionalPackage<Module>(name: string): Module {
  const paths = [__dirname, dirname(process.argv[1] ?? ''), process.cwd()];
  return requireHere(requireHere.resolve(name, { paths })) as Module;
}
