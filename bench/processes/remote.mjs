// Processes of the bench: load, service and receiver never share an event loop. They communicate over Node's IPC
// channel, in named requests with one response each.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const KEPT_OUTPUT = 20_000;

/** @typedef {{ id: number, answer?: any, error?: string }} Answer the response to the request with that id */

/** A process that was started from a file of this folder and responds to requests. */
export class Remote {
  #child;
  #waiting = new Map();
  #nextId = 0;
  #output = '';

  constructor(file, settings = {}) {
    const { PATH, HOME, TMPDIR } = process.env;
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
      env: { PATH, HOME, TMPDIR, ...settings },
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (this.#output = (this.#output + text).slice(-KEPT_OUTPUT)));
    this.#child.on('message', (/** @type {Answer} */ { id, answer, error }) => this.#settle(id, answer, error));
    this.#child.once('close', () => this.#fail(`${file} has ended.`));
    this.#child.once('error', (error) => this.#fail(`${file} does not run: ${error.message}`));
  }

  get pid() {
    return this.#child.pid;
  }

  /** Calls one of the handlers of the process. */
  ask(name, question) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, name, question }, (error) => {
        if (error) this.#settle(id, undefined, error.message);
      });
    });
  }

  /** Kills the process: nothing that it leaves behind is used again. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #settle(id, answer, error) {
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error === undefined) resolve?.(answer);
    else reject?.(new Error(`${error}\n${this.#output}`));
  }

  #fail(reason) {
    for (const id of this.#waiting.keys()) this.#settle(id, undefined, reason);
  }
}

/** The other side: responds to requests with these handlers, and ends with the bench. */
export function serve(handlers) {
  process.on('message', ({ id, name, question }) => {
    Promise.resolve()
      .then(() => handlers[name](question))
      .then(
        (answer) => process.send?.({ id, answer }),
        (error) => process.send?.({ id, error: error.stack ?? String(error) }),
      );
  });
  process.on('disconnect', () => process.exit());
  if (!process.connected) process.exit();
}

/** Milliseconds since 1970 with fractions: the clock that all processes of the bench share. */
export const now = () => performance.timeOrigin + performance.now();
