import type { ChildProcess } from 'node:child_process';

export interface OrdinaryPostgres {
  url: string;
  pid: number;
  stop(): Promise<void>;
}
export interface OrdinaryProgram {
  program: string;
  options: { uid?: number; gid?: number; cwd: string };
}
export function initOrdinaryData(data: string, password?: string): string;
export function ordinaryFolder(): string;
export function ordinaryPostgresBin(): string | undefined;
export function ordinaryProgram(name: string): OrdinaryProgram;
export function serveOrdinaryData(data: string, port: number, more?: Record<string, string>): Promise<ChildProcess>;
export function startOrdinaryPostgres(more?: Record<string, string>): Promise<OrdinaryPostgres>;
