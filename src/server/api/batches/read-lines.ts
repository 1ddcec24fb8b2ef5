import { type Fields, isFields } from '../../../lib/base/json.ts';
import type { BatchEndpoint, BatchError } from '../../../wire/batches.ts';
import { readLines } from '../../../store/batches/lines.ts';
import { isFailure, isSvcError } from '../../../lib/errors/svc-error.ts';
import { parseJsonInTurns } from '../../../lib/json/parse-json-in-turns.ts';

export interface AskedLine {
  readonly number: number;
  readonly customId: string;
  readonly body: object;
}

export interface LineRules {
  readonly endpoint: BatchEndpoint;
  readonly mostBytes: number;
}

const MOST_ID_CHARS = 512;

export async function* askedLines(
  path: string,
  { endpoint, mostBytes }: LineRules,
): AsyncGenerator<AskedLine | BatchError, void, void> {
  for await (const { number, bytes } of readLines(path, mostBytes)) {
    const wrong = (message: string, param: string | null = null): BatchError => ({
      code: 'invalid_request',
      message: `Line ${number}: ${message}`,
      param,
      line: number,
    });
    if (bytes === null) yield wrong(`it is longer than ${mostBytes} bytes; make it shorter.`);
    else if (bytes.toString('latin1').trim() !== '') yield await read(bytes, { endpoint, number, wrong });
  }
}

interface Reading {
  readonly endpoint: BatchEndpoint;
  readonly number: number;
  readonly wrong: (message: string, param?: string) => BatchError;
}

async function read(bytes: Buffer, { endpoint, number, wrong }: Reading): Promise<AskedLine | BatchError> {
  const value = await parsed(bytes);
  if (typeof value === 'string') return wrong(value);
  const { custom_id: customId, method = 'POST', url, body } = value;
  if (typeof customId !== 'string' || customId === '' || customId.length > MOST_ID_CHARS)
    return wrong(`custom_id must be a text of 1 to ${MOST_ID_CHARS} characters.`, 'custom_id');
  if (method !== 'POST') return wrong('method must be POST.', 'method');
  if (url !== endpoint) return wrong(`url must be ${endpoint}, the endpoint of the batch.`, 'url');
  if (!isFields(body)) return wrong('body must be an object: what would be sent to the endpoint.', 'body');
  return { number, customId, body };
}

async function parsed(bytes: Buffer): Promise<Fields | string> {
  try {
    const value = await parseJsonInTurns(bytes);
    return isFields(value) ? value : 'it must be a JSON object.';
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return isFailure(error, 'invalid_json')
      ? `it is not usable JSON (${error.detail.reason}).`
      : error.message;
  }
}

export const isWrong = (line: AskedLine | BatchError): line is BatchError => 'code' in line;
