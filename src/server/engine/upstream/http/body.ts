import { isFailure } from '../../../../lib/errors/svc-error.ts';
import { parseAnswerInTurns } from '../../../../lib/json/parse-json-in-turns.ts';
import { broken } from '../failures.ts';
import type { AnswerLimits } from '../limits.ts';
import type { Exchange } from './exchange.ts';
import { readBytes } from './text.ts';

/** Closes the answer in every case. */
export async function readJson(answer: Exchange, { bytes, json }: AnswerLimits): Promise<unknown> {
  const body = await readAll(answer, bytes);
  try {
    return await parseAnswerInTurns(body, json);
  } catch (error) {
    if (!isFailure(error, 'invalid_json')) throw error;
    throw broken(answer.asked.upstream, 'rubbish', `as JSON, ${error.detail.reason}`);
  }
}

export async function readAll(answer: Exchange, limitBytes: number): Promise<Buffer> {
  const { response, watch } = answer;
  try {
    const body = await readBytes(response, limitBytes, () => {
      watch.began();
      watch.alive();
    });
    if (body !== null) return body;
  } catch (error) {
    throw answer.failure(error);
  } finally {
    response.destroy();
    answer.end();
  }
  throw broken(answer.asked.upstream, 'rubbish', `it has more than ${limitBytes} bytes`);
}
