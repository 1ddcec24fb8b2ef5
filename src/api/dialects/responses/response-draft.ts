/** The record of a response while the answer is made: what led to it is written at once, the response at its end. */
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import type { InputItem } from '../../../wire/responses/items.ts';
import type { ResponseBody } from '../../../wire/responses/response.ts';
import { newId } from './item-words.ts';

/** A record that is being written; one of its two ends has to be called. */
export interface OpenRecord {
  add(text: string): void;
  /** Adds the last part and keeps the record, whatever happens to this process then; false where it is too long. */
  end(text: string): Promise<boolean>;
  drop(): Promise<void>;
}

export class ResponseDraft {
  readonly #record: OpenRecord;
  #isOver = false;

  constructor(record: OpenRecord, input: readonly InputItem[]) {
    this.#record = record;
    record.add(`{"schema":1,"input":${writeJson(input.map(named))},"response":`);
  }

  /** Keeps the response; false where the record is too long. */
  end(response: ResponseBody): Promise<boolean> {
    this.#isOver = true;
    return this.#record.end(`${writeJson(response)}}`);
  }

  /** Never loses a finished answer because the disk is full; returns false if it could not be stored. */
  async keep(response: ResponseBody): Promise<boolean> {
    try {
      return await this.end(response);
    } catch (error) {
      if (!isFailure(error, 'disk_full', 'store_unwritable')) throw error;
      return false;
    }
  }

  /** Discards an answer that nobody gets; without effect once it is stored. */
  async drop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#record.drop();
  }
}

/** Every item has an id, so that a client can page through them. */
function named(item: InputItem): InputItem {
  return typeof item['id'] === 'string' ? item : { ...item, id: newId('item') };
}
