/**
 * Counts the work between two turns of the event loop: how often blocks of our own code ran, as V8 counts them for
 * coverage, and how many characters of JSON were read and written. Unlike time, the counts are the same on a busy
 * machine. Of what ran before `start`, only the calls are counted, so that nothing should have been asked before.
 */
import { type Profiler, Session } from 'node:inspector';

const OWN = /\/(?:src|dist|generated\/packages)\//;
const WORST_TOLD = 4;

export interface Work {
  readonly blocks: number;
  readonly jsonRead: number;
  readonly jsonWritten: number;
  /** Where most of the blocks are. */
  readonly where: string;
}

export class WorkMeter {
  readonly #session = new Session();
  readonly #json = { parse: JSON.parse, stringify: JSON.stringify };
  #read = 0;
  #written = 0;
  #most: Work = nothing;

  /** JSON is replaced from here on, because others keep its functions. */
  constructor() {
    const { parse, stringify } = this.#json;
    JSON.parse = (text, reviver) => {
      this.#read += text.length;
      return parse(text, reviver);
    };
    JSON.stringify = (...given: [unknown]) => {
      const text = stringify(...given);
      this.#written += text?.length ?? 0;
      return text;
    };
  }

  start(): void {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  stop(): void {
    Object.assign(JSON, this.#json);
    this.#session.disconnect();
  }

  /** The most that any one turn did while this went on. */
  async most(run: () => Promise<unknown>): Promise<Work> {
    this.#note();
    this.#most = nothing;
    const next = (): void => {
      this.#note();
      turn = setImmediate(next);
    };
    let turn = setImmediate(next);
    try {
      await run();
    } finally {
      clearImmediate(turn);
      this.#note();
    }
    return this.#most;
  }

  #note(): void {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    const functions = result
      // Code that was made at run time, such as a validator, has no address.
      .filter(({ url }) => OWN.test(url) || url === '')
      .flatMap(({ url, functions: inside }) =>
        inside.map(({ functionName, ranges }) => ({
          name: `${url.replace(/.*\//, '')} ${functionName}`,
          blocks: ranges.reduce((sum, { count }) => sum + count, 0),
        })),
      );
    const blocks = functions.reduce((sum, each) => sum + each.blocks, 0);
    const json = {
      jsonRead: Math.max(this.#read, this.#most.jsonRead),
      jsonWritten: Math.max(this.#written, this.#most.jsonWritten),
    };
    this.#read = 0;
    this.#written = 0;
    if (blocks <= this.#most.blocks) {
      this.#most = { ...this.#most, ...json };
      return;
    }
    const worst = functions.toSorted((a, b) => b.blocks - a.blocks).slice(0, WORST_TOLD);
    this.#most = { blocks, ...json, where: worst.map((each) => `${each.name}: ${each.blocks}`).join(', ') };
  }

  /** Answers come at once where the session is that of this very thread. */
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

const nothing: Work = { blocks: 0, jsonRead: 0, jsonWritten: 0, where: '' };
