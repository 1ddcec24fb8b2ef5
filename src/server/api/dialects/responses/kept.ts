import { fail } from '../../../../lib/errors/svc-error.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import type { ResponseBody } from '../../../../wire/responses/response.ts';
import { isResponseId } from './item-words.ts';
import { type OpenRecord, ResponseDraft } from './response-draft.ts';
import { lostBody } from './response-body.ts';

export interface ResponseKeeper {
  begin(owner: string, id: string): OpenRecord;
  get(owner: string, id: string): Promise<unknown>;
  delete(owner: string, id: string): Promise<boolean>;
}

/** Contains the whole conversation before it, so deleting an earlier response loses nothing. */
export interface ResponseRecord {
  readonly schema: 1;
  readonly input: readonly InputItem[];
  readonly response: ResponseBody;
}

export interface RunningResponse {
  readonly stop: () => void;
  readonly body?: () => ResponseBody;
}

export class KeptResponses {
  readonly #keeper: ResponseKeeper | null;
  readonly #running = new Map<string, RunningResponse>();

  constructor(keeper: ResponseKeeper | null) {
    this.#keeper = keeper;
  }

  get isOn(): boolean {
    return this.#keeper !== null;
  }

  draft(owner: string, id: string, input: readonly InputItem[]): ResponseDraft | null {
    return this.#keeper === null ? null : new ResponseDraft(this.#keeper.begin(owner, id), input);
  }

  /** Stores a response before it is generated, so that it can be fetched even if this process ends. */
  async begin(
    owner: string,
    { input, response }: Pick<ResponseRecord, 'input' | 'response'>,
    running: RunningResponse,
  ): Promise<void> {
    const draft = this.draft(owner, response.id, input);
    if (draft === null) throw fail('responses_not_kept', { param: 'background' });
    if (!(await draft.end(response))) {
      throw fail('invalid_request', {
        param: 'background',
        message: 'The conversation is too long to be stored, which background needs; leave background out.',
      });
    }
    this.runs(owner, response.id, running);
  }

  async response(owner: string, id: string): Promise<ResponseBody> {
    const running = this.#running.get(`${owner} ${id}`)?.body;
    if (running !== undefined) return running();
    return (await this.#record(owner, id, 'id')).response;
  }

  async input(owner: string, id: string): Promise<readonly InputItem[]> {
    return (await this.#record(owner, id, 'id')).input;
  }

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
    // A response that streams is not stored yet.
    if (this.#running.get(`${owner} ${id}`)?.body !== undefined) {
      this.stop(owner, id);
      this.ended(owner, id);
    }
    if (this.#keeper === null || !isResponseId(id) || !(await this.#keeper.delete(owner, id)))
      throw this.#missing(id, 'id');
  }

  runs(owner: string, id: string, running: RunningResponse): void {
    this.#running.set(`${owner} ${id}`, running);
  }

  isRunning(owner: string, id: string): boolean {
    return this.#running.has(`${owner} ${id}`);
  }

  ended(owner: string, id: string): void {
    this.#running.delete(`${owner} ${id}`);
  }

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

const isRecord = (value: unknown): value is ResponseRecord =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'schema') === 1;
