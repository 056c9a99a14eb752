import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { pathOf, placeOf, type Sample } from './samples';

const TYPESCRIPT = ['ts', 'tsx'];
export const isTypeScript = ({ language }: Pick<Sample, 'language'>): boolean => TYPESCRIPT.includes(language);

/** Returns why a block of data, or a fragment, cannot be parsed; null when it can, or its language has no parser here. */
export function syntaxErrorOf({ language, code, way }: Sample): string | null {
  // A fragment of an object or a class is complete within one.
  const [before, after] = [
    ['', '({', 'class Sample {', '{'],
    ['', '})', '}', '}'],
  ];
  const tries = way === 'fragment' ? before!.map((open, i) => `${open}\n${code}\n${after![i]}`) : [code];
  const errors = tries.map((text) => errorOf(language, text));
  return errors.includes(null) ? null : errors[0]!;
}

function errorOf(language: string, text: string): string | null {
  try {
    if (language === 'json') JSON.parse(text);
    if (language === 'yaml') parseAllDocuments(text).forEach(({ errors: [error] }) => expectNone(error?.message));
    if (TYPESCRIPT.includes(language) || language === 'js') {
      const compilerOptions = {
        target: ts.ScriptTarget.ES2023,
        jsx: ts.JsxEmit.Preserve,
        experimentalDecorators: true,
      };
      const fileName = `sample.${language === 'js' ? 'ts' : language}`;
      const { diagnostics = [] } = ts.transpileModule(text, { compilerOptions, fileName, reportDiagnostics: true });
      expectNone(diagnostics[0] && messageOf(diagnostics[0]));
    }
    return null;
  } catch (error) {
    return String(error);
  }
}

function expectNone(message: string | undefined): void {
  if (message !== undefined) throw new SyntaxError(message);
}

const messageOf = ({ messageText }: ts.Diagnostic): string => ts.flattenDiagnosticMessageText(messageText, '\n');

/**
 * Compiles the blocks, all of them in one program, as if each were the file that it names: in the repository, when that is in
 * `src`, otherwise in a folder of its page. Returns the errors of each block that has some, by its place.
 */
export function compile(samples: readonly Sample[], root: string): Map<string, string[]> {
  const files = new Map<string, Sample>();
  for (const sample of samples) {
    const path = pathOf(sample);
    const folder = path.startsWith('src/') ? root : join(root, '.samples', sample.page.replaceAll(/\W+/g, '-'));
    files.set(join(folder, path), sample);
  }
  const program = programOf(new Map([...files].map(([path, { code }]) => [path, code])), root);
  const found = [...files].map(([path, sample]) => {
    const file = program.getSourceFile(path);
    const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    const lineOf = ({ start = 0 }: ts.Diagnostic) => sample.line + 1 + file!.getLineAndCharacterOfPosition(start).line;
    return [placeOf(sample), diagnostics.map((one) => `${sample.page}:${lineOf(one)}: ${messageOf(one)}`)] as const;
  });
  return new Map(found.filter(([, errors]) => errors.length > 0));
}

function programOf(sources: ReadonlyMap<string, string>, root: string): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    config: object;
  };
  const ofRoot = ts.parseJsonConfigFileContent({ ...config, files: [], include: undefined }, ts.sys, root).options;
  const options: ts.CompilerOptions = {
    ...ofRoot,
    // Those of an application: modules with a top-level await, and imports that end in .js.
    ...{ module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ...{ moduleDetection: ts.ModuleDetectionKind.Force, jsx: ts.JsxEmit.Preserve },
    ...{ noUnusedLocals: false, noUnusedParameters: false, noEmit: true },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  // Otherwise the compiler searches nothing in folders that exist only in the documents.
  host.directoryExists = undefined;
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  return ts.createProgram([...sources.keys()], options, host);
}
