import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where this library is installed, or the bundle that contains it. A bundle of ES modules does not say. */
const HERE = typeof __dirname === 'string' ? [__dirname] : [];

/**
 * Loads a package of the application, which is installed only when it is used. In a monorepo it may be installed for
 * the application, but not for this library.
 * @throws Error when it is not installed
 */
export function optionalPackage<Module>(name: string): Module {
  const requireHere = createRequire(join(process.cwd(), 'package.json'));
  const paths = [...HERE, dirname(process.argv[1] ?? ''), process.cwd()];
  return requireHere(requireHere.resolve(name, { paths })) as Module;
}
