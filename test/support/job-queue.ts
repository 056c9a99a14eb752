import {
  createPostgresBackend,
  type Job,
  type JobsOptions,
  Queue,
  type Processor,
  UnrecoverableError,
  Worker,
} from 'bullmq';

/** The store of a third-party queue: Redis or PostgreSQL. */
export interface QueuePlace {
  redisUrl?: string;
  databaseUrl?: string;
  prefix?: string;
  /** PostgreSQL's counterpart of a prefix. */
  schema?: string;
  /** About how many events the stream keeps. */
  maxEvents?: number;
}

/** The instructions of a job. */
export interface Task {
  fails?: 'once' | 'always' | 'for good';
  message?: string;
  result?: unknown;
  /** The name of the gate that the job waits for. */
  waits?: string;
  userId?: unknown;
}

/** A third-party BullMQ queue, with a worker that follows the instructions of the jobs. */
export class JobQueue {
  /** What jobs wait for. */
  readonly gates = new Map<string, Promise<void>>();
  private worker: Worker | null = null;

  private constructor(
    private readonly queue: Queue,
    private readonly work: (processor: Processor) => Worker,
  ) {}

  static open(name: string, { redisUrl, databaseUrl, prefix, schema, maxEvents }: QueuePlace): JobQueue {
    const streams = maxEvents === undefined ? undefined : { events: { maxLen: maxEvents } };
    const common = { ...(prefix && { prefix }), ...(streams && { streams }), drainDelay: 1 };
    if (redisUrl) {
      const options = { ...common, connection: { url: redisUrl, maxRetriesPerRequest: null } };
      return new JobQueue(quiet(new Queue(name, options)), (processor) => quiet(new Worker(name, processor, options)));
    }
    const connection = { connectionString: databaseUrl, max: 2, migrate: true, ...(schema && { schema }) } as never;
    const options = { ...common, connection };
    return new JobQueue(quiet(new Queue(name, options as never, createPostgresBackend as never)), (processor) =>
      quiet(new Worker(name, processor, { ...options, concurrency: 4 } as never, createPostgresBackend as never)),
    );
  }

  get bull(): Queue {
    return this.queue;
  }

  async add(name: string, task: Task = {}, options: JobsOptions = {}): Promise<string> {
    const job = await this.queue.add(name, task, options);
    return job.id ?? '';
  }

  start(): void {
    this.worker ??= this.work((job: Job<Task>) => this.process(job));
  }

  async close(): Promise<void> {
    await this.worker?.close(true);
    await this.queue.close();
  }

  private async process({ data, attemptsMade }: Job<Task>): Promise<unknown> {
    if (data.waits) await this.gates.get(data.waits);
    const message = data.message ?? 'as I was told';
    if (data.fails === 'for good') throw new UnrecoverableError(message);
    if (data.fails === 'always' || (data.fails === 'once' && attemptsMade === 0)) throw new TypeError(message);
    return data.result;
  }
}

function quiet<T extends Queue | Worker>(source: T): T {
  (source as Queue).on('error', () => undefined);
  return source;
}
