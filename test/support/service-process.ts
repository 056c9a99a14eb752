import type { ChildProcess } from 'node:child_process';
import type { Chronicle, Part } from './chronicle';
import { capture, freePort, hasExited, type Settings, spawnNode } from './service';
import { PATIENCE_MS, waitFor } from './wait-for';

/** Of one request; a frozen or starting process answers none. */
const ANSWERS_WITHIN_MS = 20_000;

export interface Ended {
  exitCode: number | null;
  tookMs: number;
}

export interface Readiness {
  status: number;
  checks: Record<string, string>;
}

/** A process of the service with its own port, which tests can kill, freeze, stop and restart. */
export class ServiceProcess {
  /** Everything that it has printed, across restarts. */
  private printed: (() => string)[] = [];
  private child: ChildProcess | null = null;
  private isBack: () => void = () => undefined;
  private isThawed: () => void = () => undefined;

  private constructor(
    readonly name: string,
    readonly port: number,
    private readonly settings: Settings,
    private readonly chronicle: Chronicle,
  ) {}

  static async create(name: string, settings: Settings, chronicle: Chronicle): Promise<ServiceProcess> {
    return new ServiceProcess(name, await freePort(), settings, chronicle);
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  logs(): string {
    return this.printed.map((text) => text()).join('');
  }

  /** Returns the end of its log, without ordinary lines. */
  lastWords(): string {
    const lines = this.logs().split('\n');
    return lines
      .filter((line) => !line.includes('"level":30'))
      .join('\n')
      .trim()
      .slice(-1500);
  }

  /** Waits until it is live; whether it is ready depends on the stores. */
  async start(more: Settings = {}): Promise<void> {
    const child = spawnNode('src/main.js', [], { ...this.settings, PORT: String(this.port), ...more });
    this.child = child;
    this.printed.push(capture(child, ['stdout', 'stderr']));
    const what = `${this.name} to live`;
    // Some 2 s when nothing else runs; several start at once.
    const timeoutMs = 2 * PATIENCE_MS;
    await waitFor(async () => hasExited(child) || (await this.lives()), { what, timeoutMs });
    if (hasExited(child)) throw new Error(`${this.name} ended with ${child.exitCode}. It printed:\n${this.logs()}`);
    this.isBack();
  }

  async kill(): Promise<void> {
    const end = this.chronicle.tear(this.name);
    this.isAway();
    this.child?.kill('SIGKILL');
    await this.gone('SIGKILL');
    end();
  }

  /** Ends it with SIGTERM. */
  async end(): Promise<Ended> {
    const startedAt = Date.now();
    this.isAway();
    this.child?.kill('SIGTERM');
    try {
      await this.gone('SIGTERM');
    } catch (error) {
      this.child?.kill('SIGKILL');
      throw error;
    }
    return { exitCode: this.child?.exitCode ?? null, tookMs: Date.now() - startedAt };
  }

  freeze(): void {
    this.isThawed = this.chronicle.tear(this.name);
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
    this.isThawed();
  }

  runs(): boolean {
    return this.child !== null && !hasExited(this.child);
  }

  async ready(): Promise<Readiness> {
    const answer = await fetch(`${this.url}/health/ready`, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    const { checks } = (await answer.json()) as { checks: Record<string, string> };
    return { status: answer.status, checks };
  }

  async lives(): Promise<boolean> {
    const answer = await fetch(`${this.url}/health/live`, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    await answer.arrayBuffer();
    return answer.status === 200;
  }

  /** Records that this part is unavailable until the next start. */
  private isAway(): void {
    const part: Part | null = this.name.startsWith('api') ? 'api' : null;
    if (part) this.isBack = this.chronicle.absence(part);
  }

  private async gone(signal: string): Promise<void> {
    const { child } = this;
    const what = `the end of ${this.name} after ${signal}`;
    if (child) await waitFor(() => hasExited(child), { what, everyMs: 5 });
  }
}
