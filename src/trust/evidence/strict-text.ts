/** Reading what two readers must read alike: a proof, a record, a key history. Throws `invalid_json`. Pure. */
import { parseJson } from '../../lib/json/strict-json.ts';

export const parseStrictly = (text: string | Buffer): unknown =>
  parseJson(typeof text === 'string' ? Buffer.from(text) : text);
