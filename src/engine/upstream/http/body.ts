/** The body of an answer that is read whole, up to a limit. */
import { broken } from '../failures.ts';
import type { Exchange } from './exchange.ts';
import { readText } from './text.ts';

/** The JSON body of an answer, which is ended by this whatever came of it. */
export async function readJson(answer: Exchange, limitBytes: number): Promise<unknown> {
  const { upstream } = answer.asked;
  try {
    const text = await readAll(answer, limitBytes);
    try {
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw broken(upstream, 'rubbish', 'it is not JSON');
      throw error;
    }
  } finally {
    answer.end();
  }
}

/** The same as text. */
export async function readAll(answer: Exchange, limitBytes: number): Promise<string> {
  const { response, watch } = answer;
  try {
    const text = await readText(response, limitBytes, () => {
      watch.began();
      watch.alive();
    });
    if (text !== null) return text;
  } catch (error) {
    throw answer.failure(error);
  } finally {
    response.destroy();
    answer.end();
  }
  throw broken(answer.asked.upstream, 'rubbish', `it has more than ${limitBytes} bytes`);
}
