import { isFailure } from '../../../../lib/errors/svc-error.ts';
import { writeJson } from '../../../../lib/json/spelled-numbers.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import type { ResponseBody } from '../../../../wire/responses/response.ts';
import { newId } from './item-words.ts';

export interface OpenRecord {
  add(text: string): void;
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

  async drop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#record.drop();
  }
}

/** Every item needs an id, because clients page by it. */
function named(item: InputItem): InputItem {
  return typeof item['id'] === 'string' ? item : { ...item, id: newId('item') };
}
