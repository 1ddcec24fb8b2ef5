/**
 * Many streams over three upstreams that fail at random, while one of them is killed and comes back: no false end, no
 * character twice or lost, no client that hangs, and every failure has a name. SVC_LONG_TESTS runs a thousand.
 */
import { expect, it } from 'vitest';
import {
  type Fault,
  FAULTS,
  type ScriptedUpstream,
  startUpstream,
  TALE,
} from '../support/upstream/scripted-upstream.ts';
import { type EngineService, knownModel, startEngines } from '../support/upstream/service.ts';
import { seededRandom } from '../../bench/balance/seeded-random.ts';

const STREAMS = process.env['SVC_LONG_TESTS'] === '1' ? 1_000 : 60;
const AT_ONCE = 20;
const NAMES = ['ann', 'bob', 'cid'] as const;
const NAMED = /upstream "(ann|bob|cid)"|(ann|bob|cid): /i;

interface Outcome {
  readonly text: string;
  readonly done: boolean;
  readonly failure: string | null;
  readonly wasResumed: boolean;
}

it(`${STREAMS} streams end honestly, whatever their upstreams do`, async () => {
  const random = seededRandom(11);
  const upstreams = await Promise.all(NAMES.map(() => startUpstream()));
  // An upstream that is down is tried again soon: what is seen here is what follows from faults, not from waiting.
  const engines = await startEngines({}, { balance: { downMs: 20, downMaxMs: 100, busyMs: 20 } });
  await addAll(engines, upstreams);
  const fault = (): Fault | null => {
    if (random() < 0.7) return null;
    const kind = FAULTS[Math.floor(random() * FAULTS.length)] ?? 'reset';
    return { kind, after: random() < 0.4 ? 0 : Math.floor(random() * 199) };
  };
  for (const upstream of upstreams) Object.assign(upstream, { faultOf: fault, models: ['tale'] });
  const outcomes: Outcome[] = [];
  let asked = 0;
  const client = async (): Promise<void> => {
    while (asked < STREAMS) {
      asked += 1;
      const isThird = asked === Math.floor(STREAMS / 3);
      if (isThird) await restart(upstreams, 0, fault);
      outcomes.push(await streamOnce(engines, asked % 2 === 0));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  await engines.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));

  expect(outcomes).toHaveLength(STREAMS);
  for (const { text, done, failure } of outcomes) {
    expect(TALE.startsWith(text), `not what was said: ${text.slice(-80)}`).toBe(true);
    expect(done, 'an end that is none, or none that is one').toBe(text === TALE && failure === null);
    if (!done) expect(failure).toMatch(NAMED);
  }
  const count = (holds: (outcome: Outcome) => boolean) => outcomes.filter(holds).length;
  // The run has met everything that it is about.
  expect(count(({ done }) => done)).toBeGreaterThan(STREAMS / 3);
  expect(count(({ done }) => !done)).toBeGreaterThan(STREAMS / 20);
  expect(count(({ wasResumed }) => wasResumed)).toBeGreaterThan(STREAMS / 30);
}, 600_000);

async function addAll(engines: EngineService, upstreams: readonly ScriptedUpstream[]): Promise<void> {
  for (const [index, name] of NAMES.entries()) {
    const baseUrl = `${upstreams[index]?.url}/v1`;
    const deadlines = { connectMs: 2_000, firstByteMs: 2_000, stallMs: 2_000, wholeMs: 60_000 };
    await engines.add({ name, baseUrl, dialect: 'vllm', deadlines, known: [knownModel('tale')] }, ['tale']);
  }
  await engines.engines.put({
    schema: 1,
    type: 'pool',
    name: 'tale',
    members: NAMES.map((name) => `${name}/tale`),
    equalWeights: true,
    addedAt: '2026-01-01T00:00:00Z',
  });
}

/** Kills one with all that it runs; it comes back at the same address. */
async function restart(
  upstreams: ScriptedUpstream[],
  index: number,
  faultOf: ScriptedUpstream['faultOf'],
): Promise<void> {
  const before = upstreams[index];
  if (before === undefined) throw new Error(`there is no upstream ${index}`);
  await before.close();
  const after = await startUpstream(before.port);
  Object.assign(after, { faultOf, models: ['tale'] });
  upstreams[index] = after;
}

async function streamOnce({ service }: EngineService, mayResume: boolean): Promise<Outcome> {
  const body = {
    model: 'tale',
    stream: true,
    svc_resume: mayResume,
    messages: [{ role: 'user', content: 'Go.' }],
  };
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) {
    const { error } = (await response.json()) as { error: string };
    return { text: '', done: false, failure: error, wasResumed: false };
  }
  return readStream(response);
}

async function readStream({ body }: Response): Promise<Outcome> {
  let read = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body as unknown as AsyncIterable<Uint8Array>)
      read += decoder.decode(bytes, { stream: true });
  } catch {
    // A stream that failed is cut behind its error frame.
  }
  const frames = read.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice(6)] : []));
  const chunks = frames.flatMap((frame) => (frame === '[DONE]' ? [] : [JSON.parse(frame)]));
  return {
    text: chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join(''),
    done: frames.at(-1) === '[DONE]',
    failure: chunks.find((chunk) => chunk.error !== undefined)?.error ?? null,
    wasResumed: chunks.some((chunk) => chunk.svc_resumed !== undefined),
  };
}
