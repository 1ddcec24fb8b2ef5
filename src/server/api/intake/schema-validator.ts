/**
 * Examines schemas and checks answers in another thread, and caches the results by digest. On the event loop a schema
 * costs its text and a hash. A thread that does not respond is ended, and the requests that waited after the blocking
 * schema are sent again.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { asFailure } from '../../../lib/errors/grammar-failure.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { SharedMap } from '../../../lib/base/shared-map.ts';
import { builtFile } from '../../../lib/base/package-folder.ts';
import { tooLarge } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import type { LeftOut, SchemaToExamine, ThreadReply, ThreadRequest } from './schema-messages.ts';

/**
 * Milliseconds that one request may hold the thread. The budgets of schemas end far earlier, but on a busy machine
 * the thread also waits for a processor, and its first request for the thread to start.
 */
const PATIENCE_MS = 20_000;
/** Kept verdicts, and the characters of their notes: a client chooses the names in pointers. */
const VERDICT_LIMITS = { entries: 4_096, size: 4 * 1024 * 1024 };
/** Members and items of one schema; more are refused before they are written as text. */
const MAX_MEMBERS = 100_000;

export interface AskedSchema {
  readonly schema: object;
  readonly path: string;
  readonly relax: boolean;
}

interface Named {
  readonly digest: string;
  readonly text: string;
}

type Unsent = ThreadRequest extends infer R ? (R extends ThreadRequest ? Omit<R, 'id'> : never) : never;

interface Waiting {
  readonly request: ThreadRequest;
  readonly settle: (reply: ThreadReply) => void;
  readonly reject: (error: unknown) => void;
}

export interface SchemaValidator {
  examine(schemas: readonly AskedSchema[]): Promise<readonly (readonly LeftOut[])[]>;
  findProblem(schema: object, value: string): Promise<string | null>;
}

class ThreadValidator implements SchemaValidator {
  readonly #verdicts = new SharedMap<string, readonly LeftOut[]>(VERDICT_LIMITS);
  readonly #names = new WeakMap<object, Named>();
  /** The thread replies in the order sent. */
  readonly #waiting: Waiting[] = [];
  #thread: Worker | null = null;
  #patience: NodeJS.Timeout | undefined;
  #sent = 0;

  async examine(schemas: readonly AskedSchema[]): Promise<readonly (readonly LeftOut[])[]> {
    const asked = schemas.map(
      ({ schema, path, relax }): SchemaToExamine => ({
        ...this.#named(schema, path),
        path,
        relax,
      }),
    );
    const known = asked.map((schema) => this.#verdicts.get(verdictKey(schema)));
    const unknown = asked.filter((_, at) => known[at] === undefined);
    const fresh = (unknown.length === 0 ? [] : await this.#examineNow(unknown)).values();
    return known.map((verdict) => verdict ?? fresh.next().value ?? []);
  }

  async #examineNow(schemas: readonly SchemaToExamine[]): Promise<readonly (readonly LeftOut[])[]> {
    const reply = await this.#ask({ kind: 'examine', schemas });
    if (reply.kind === 'refused') throw fail('invalid_request', reply.detail);
    if (reply.kind !== 'examined') throw new Error(`the schema thread answered ${reply.kind}`);
    for (const [index, schema] of schemas.entries()) this.#remember(schema, reply.leftOut[index] ?? []);
    return reply.leftOut;
  }

  async findProblem(schema: object, value: string): Promise<string | null> {
    const { digest, text } = this.#named(schema, 'schema');
    let reply = await this.#ask({ kind: 'check', digest, text: null, value });
    if (reply.kind === 'unknown') reply = await this.#ask({ kind: 'check', digest, text, value });
    if (reply.kind === 'refused') return reply.detail.message;
    if (reply.kind !== 'checked') throw new Error(`the schema thread answered ${reply.kind}`);
    return reply.problem;
  }

  #named(schema: object, path: string): Named {
    const known = this.#names.get(schema);
    if (known !== undefined) return known;
    if (countMembers(schema) > MAX_MEMBERS) throw asFailure(tooLarge(path));
    const text = writeJson(schema);
    const named = { digest: hash('sha256', text, 'base64'), text };
    this.#names.set(schema, named);
    return named;
  }

  #remember(schema: SchemaToExamine, leftOut: readonly LeftOut[]): void {
    const size = leftOut.reduce((sum, { pointer, keyword }) => sum + pointer.length + keyword.length, 0);
    this.#verdicts.set(verdictKey(schema), leftOut, { owner: '', size });
    this.#verdicts.trim();
  }

  #ask(request: Unsent): Promise<ThreadReply> {
    return new Promise((settle, reject) => {
      this.#sent += 1;
      const waiting = { request: { ...request, id: this.#sent } as ThreadRequest, settle, reject };
      this.#waiting.push(waiting);
      this.#send(waiting.request);
      if (this.#waiting.length === 1) this.#watch();
    });
  }

  #send(request: ThreadRequest): void {
    this.#thread ??= this.#start();
    this.#thread.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#thread.postMessage(request);
  }

  #start(): Worker {
    const thread = new Worker(builtFile('server/api/intake/schema-thread.js'), { execArgv: [] });
    thread.on('message', (reply: ThreadReply) => {
      if (this.#thread === thread) this.#answered(reply);
    });
    thread.on('error', (error) => this.#lost(thread, error));
    thread.on('exit', () => this.#lost(thread, new Error('the schema thread ended')));
    return thread;
  }

  #answered(reply: ThreadReply): void {
    const first = this.#waiting.shift();
    if (first === undefined || first.request.id !== reply.id)
      throw new Error('the schema thread answered out of turn');
    this.#watch();
    first.settle(reply);
  }

  /** The timeout covers the current request only, and an idle thread keeps no process alive. */
  #watch(): void {
    clearTimeout(this.#patience);
    if (this.#waiting.length === 0) return this.#thread?.unref();
    this.#patience = setTimeout(() => {
      const thread = this.#thread;
      if (thread !== null)
        this.#lost(thread, fail('invalid_request', { message: 'A schema takes too long.' }));
    }, PATIENCE_MS);
  }

  /** The thread's current request fails; the waiting ones go to a new thread. */
  #lost(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    void thread.terminate();
    this.#waiting.shift()?.reject(error);
    for (const { request } of this.#waiting) this.#send(request);
    this.#watch();
  }
}

function verdictKey({ digest, relax }: SchemaToExamine): string {
  return `${relax ? 'relaxed' : 'strict'} ${digest}`;
}

function countMembers(value: object): number {
  const todo: object[] = [value];
  let members = 0;
  for (let next = todo.pop(); next !== undefined && members <= MAX_MEMBERS; next = todo.pop()) {
    for (const member of Object.values(next)) {
      members += 1;
      if (typeof member === 'object' && member !== null) todo.push(member);
    }
  }
  return members;
}

/** One per process: results depend on the schema alone, so all clients share them. */
export const schemaValidator: SchemaValidator = new ThreadValidator();
