/** Responses that are kept for a later request, and those that run now; both are private to the key that asked. */
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import type { InputItem } from '../../../wire/responses/items.ts';
import type { ResponseBody } from '../../../wire/responses/response.ts';
import { isResponseId, newId } from './item-words.ts';
import { lostBody } from './response-body.ts';

/** Where responses are kept; a record is whatever was put. */
export interface ResponseKeeper {
  /** False where the record is too long to be kept. */
  put(owner: string, id: string, record: object): Promise<boolean>;
  /** Null where there is none of that owner. */
  get(owner: string, id: string): Promise<unknown>;
  delete(owner: string, id: string): Promise<boolean>;
}

/** One response and the whole conversation that led to it: deleting an earlier one takes nothing from it. */
interface ResponseRecord {
  readonly schema: 1;
  readonly input: readonly InputItem[];
  readonly response: ResponseBody;
}

export interface RunningResponse {
  /** Ends the answer. */
  readonly stop: () => void;
  /** As it is now, where it is asked for before it is over. */
  readonly body?: () => ResponseBody;
}

export class KeptResponses {
  readonly #keeper: ResponseKeeper | null;
  /** Those that run, by owner and id. */
  readonly #running = new Map<string, RunningResponse>();

  /** Null: nothing is kept. */
  constructor(keeper: ResponseKeeper | null) {
    this.#keeper = keeper;
  }

  get isOn(): boolean {
    return this.#keeper !== null;
  }

  /** Keeps a response that is only begun, so that it can be asked for whatever happens to this process. */
  async begin(
    owner: string,
    { input, response }: Pick<ResponseRecord, 'input' | 'response'>,
    running: RunningResponse,
  ): Promise<void> {
    if (this.#keeper === null) throw fail('responses_not_kept', { param: 'background' });
    if (!(await this.#keeper.put(owner, response.id, recordOf(input, response)))) {
      throw fail('invalid_request', {
        param: 'background',
        message: 'The conversation is too long to be stored, which background needs; leave background out.',
      });
    }
    this.runs(owner, response.id, running);
  }

  /** False where it could not be kept: an answer that was made is not lost because the disk is full. */
  async keep(owner: string, input: readonly InputItem[], response: ResponseBody): Promise<boolean> {
    try {
      return (await this.#keeper?.put(owner, response.id, recordOf(input, response))) === true;
    } catch (error) {
      if (!isFailure(error, 'disk_full', 'store_unwritable')) throw error;
      return false;
    }
  }

  async response(owner: string, id: string): Promise<ResponseBody> {
    const running = this.#running.get(`${owner} ${id}`)?.body;
    if (running !== undefined) return running();
    return (await this.#record(owner, id, 'id')).response;
  }

  async input(owner: string, id: string): Promise<readonly InputItem[]> {
    return (await this.#record(owner, id, 'id')).input;
  }

  /** The conversation up to and with that response. */
  async conversation(owner: string, id: string): Promise<InputItem[]> {
    if (this.#running.get(`${owner} ${id}`)?.body !== undefined) {
      throw fail('invalid_request', {
        param: 'previous_response_id',
        message: `Response ${id} is not over yet; ask for it until it is.`,
      });
    }
    const { input, response } = await this.#record(owner, id, 'previous_response_id');
    return [...input, ...response.output];
  }

  async delete(owner: string, id: string): Promise<void> {
    // One that streams is not kept yet.
    if (this.#running.get(`${owner} ${id}`)?.body !== undefined) {
      this.stop(owner, id);
      this.ended(owner, id);
    }
    if (this.#keeper === null || !isResponseId(id) || !(await this.#keeper.delete(owner, id)))
      throw this.#missing(id, 'id');
  }

  /** Says what can be done with a response while it runs. */
  runs(owner: string, id: string, running: RunningResponse): void {
    this.#running.set(`${owner} ${id}`, running);
  }

  isRunning(owner: string, id: string): boolean {
    return this.#running.has(`${owner} ${id}`);
  }

  ended(owner: string, id: string): void {
    this.#running.delete(`${owner} ${id}`);
  }

  /** False where no response of that id runs. */
  stop(owner: string, id: string): boolean {
    const running = this.#running.get(`${owner} ${id}`);
    running?.stop();
    return running !== undefined;
  }

  async #record(owner: string, id: string, param: string): Promise<ResponseRecord> {
    const found = isResponseId(id) ? await this.#keeper?.get(owner, id) : null;
    if (!isRecord(found)) throw this.#missing(id, param);
    const isLost = UNFINISHED.includes(found.response.status) && !this.isRunning(owner, id);
    return isLost ? { ...found, response: lostBody(found.response) } : found;
  }

  #missing(id: string, param: string): Error {
    return this.#keeper === null
      ? fail('responses_not_kept', { param })
      : fail('response_not_found', { id: id.slice(0, 128), param });
  }
}

const UNFINISHED: readonly ResponseBody['status'][] = ['queued', 'in_progress'];

/** Every item has an id, by which a client can ask for those behind it. */
function recordOf(input: readonly InputItem[], response: ResponseBody): ResponseRecord {
  const named = input.map((item) => (typeof item['id'] === 'string' ? item : { ...item, id: newId('item') }));
  return { schema: 1, input: named, response };
}

const isRecord = (value: unknown): value is ResponseRecord =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'schema') === 1;
