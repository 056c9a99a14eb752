import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../../..');

/** A code block that names its file: the first line is `// src/….ts`. */
const BLOCK = /```ts\n\/\/ (src\/\S+\.ts)\n([^]*?)```/g;

const files = new Map(
  readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => [...readFileSync(join(ROOT, 'docs', path), 'utf8').matchAll(BLOCK)])
    .map(([, path = '', code = '']) => [resolve(ROOT, path), code] as const),
);

/** Returns the compiler errors of the documents' code, as if each block were the file that it names. */
function errorsOf(sources: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: undefined }, ts.sys, ROOT);
  const host = ts.createCompilerHost({ ...options, noEmit: true });
  const { fileExists, readFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  // Otherwise the compiler searches nothing in folders that exist only in the documents.
  host.directoryExists = undefined;
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  const program = ts.createProgram([...sources.keys()], { ...options, noEmit: true }, host);
  return [...sources.keys()]
    .map((path) => program.getSourceFile(path))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('The code in the documents', () => {
  it('compiles', () => {
    expect([...files.keys()].map((path) => path.slice(ROOT.length + 1))).toContain(
      'src/sources/nightly-export.service.ts',
    );
    expect(errorsOf(files)).toEqual([]);
  });

  it('does not compile with an unknown event type', () => {
    const wrong = new Map(
      [...files].map(([path, code]) => [path, code.replace("'operation.complete'", "'operation.done'")]),
    );
    expect(errorsOf(wrong)).toContainEqual(expect.stringContaining('operation.done'));
  });
});
