import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { capture, endProcess, hasExited, type Settings, spawnFile } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const ROOT = join(__dirname, '../../..');

/** The application of `test/host` as a process of its own, with the built library. */
export interface Host {
  readonly url: string;
  readonly child: ChildProcess;
  logs(): string;
  /** Asks it over HTTP, with its key unless other headers are given. */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Ends it with SIGTERM and hands on the exit signal or code. */
  stop(): Promise<NodeJS.Signals | number | null>;
}

export interface Answer {
  status: number;
  body: unknown;
}

/** Compiles the applications of test/host into a folder beside a link to node_modules. */
export function buildHost(application = 'host-application'): { entry: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'wns-host-'));
  const output = join(folder, 'test/host');
  mkdirSync(output, { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2023,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  for (const file of readdirSync(join(ROOT, 'test/host'))) {
    const source = readFileSync(join(ROOT, 'test/host', file), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    writeFileSync(join(output, file.replace(/\.ts$/, '.js')), outputText);
  }
  const entry = join(output, `${application}.js`);
  return { entry, remove: () => rmSync(folder, { recursive: true }) };
}

export async function startHost(entry: string, settings: Settings): Promise<Host> {
  const child = spawnFile(entry, [], settings);
  const logs = capture(child, ['stdout', 'stderr']);
  const listening = () => /^listening at (\S+)$/m.exec(logs())?.[1];
  await waitFor(() => hasExited(child) || listening() !== undefined, { what: 'the host' });
  const url = listening();
  if (url === undefined) throw new Error(`The host did not start. It printed:\n${logs()}`);
  return {
    url,
    child,
    logs,
    ask: async (method, path, body, headers = { 'x-host-key': 'open sesame' }) => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    },
    stop: async () => (await endProcess(child, 'SIGTERM')) ?? child.signalCode,
  };
}
