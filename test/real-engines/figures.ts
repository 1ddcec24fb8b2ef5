/** What Hearth adds to an engine: the time of an answer of one token, and the speed of many streams at once. */
import { Agent, request } from 'node:http';
import type { Direct } from './engines.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const ROUNDS = 100;
const STREAMS = 64;
const TOKENS = 16;

/** Milliseconds, the two sides in turn. */
export async function addedLatency(direct: Direct, through: Direct) {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + 10; round += 1) {
    for (const [side, target] of [direct, through].entries()) {
      const startMs = performance.now();
      await answer(target, { max_tokens: 1 });
      if (round >= 10) times[side === 0 ? 0 : 1].push(performance.now() - startMs);
    }
  }
  const at = (list: number[], share: number): number =>
    list.toSorted((one, other) => one - other)[Math.floor(list.length * share)] ?? 0;
  return {
    directP50: round(at(times[0], 0.5)),
    addedP50: round(at(times[1], 0.5) - at(times[0], 0.5)),
    addedP99: round(at(times[1], 0.99) - at(times[0], 0.99)),
  };
}

/** Streams at once, each of as many tokens; the best of two rounds of each side. */
export async function throughput(direct: Direct, through: Direct) {
  const best: [number, number] = [0, 0];
  for (let turn = 0; turn < 2; turn += 1) {
    for (const [side, target] of [direct, through].entries()) {
      const startMs = performance.now();
      const fields = { max_tokens: TOKENS, stream: true, temperature: 1 };
      await Promise.all(Array.from({ length: STREAMS }, () => answer(target, fields)));
      const perS = (STREAMS * TOKENS * 1000) / (performance.now() - startMs);
      best[side === 0 ? 0 : 1] = Math.max(best[side === 0 ? 0 : 1], perS);
    }
  }
  return { directTokensPerS: round(best[0]), streamsRatio: round(best[1] / best[0]) };
}

function answer({ url, model }: Direct, fields: object): Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...fields });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.once('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(String(response.statusCode))),
        );
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;
