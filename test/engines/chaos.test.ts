/**
 * Many streams over three upstreams that fail by a fixed plan, then while one of them is killed and comes back: no false
 * end, no character twice or lost, no client that hangs, and every failure has a name. SVC_LONG_TESTS runs a thousand.
 */
import { expect, it } from 'vitest';
import {
  type Fault,
  FAULTS,
  type ScriptedUpstream,
  startUpstream,
  TALE,
} from '../support/upstream/scripted-upstream.ts';
import { type Deferred, deferred } from '../../src/lib/base/deferred.ts';
import { type EngineService, knownModel, startEngines } from '../support/upstream/service.ts';

const STREAMS = process.env['SVC_LONG_TESTS'] === '1' ? 1_000 : 60;
/** Of these, the first two thirds meet exactly what is planned; then one upstream is killed among the others. */
const PLANNED = Math.ceil((STREAMS * 2) / 3);
const AT_ONCE = 20;
const NAMES = ['ann', 'bob', 'cid'] as const;
const NAMED = /upstream "(ann|bob|cid)"|(ann|bob|cid): /i;
/** The request to `ann` at which it is killed. */
const KILLED_AT = 3;

interface Plan {
  readonly mayResume: boolean;
  /** How the first upstream that is asked fails, then the second. */
  readonly faults: readonly Fault[];
  readonly ends: 'whole' | 'resumed' | 'failed';
}

/** Each kind of fault before the first word and after some, met once or twice, with and without leave to resume. */
function planOf(stream: number): Plan {
  const round = Math.floor(stream / FAULTS.length);
  const [mayResume, isLate, isTwice, isFine] = [0, 1, 2, 3].map((bit) => ((round >> bit) & 1) === 1);
  const kind = FAULTS[stream % FAULTS.length] ?? 'reset';
  const nextKind = FAULTS[(stream + round) % FAULTS.length] ?? 'reset';
  if (isFine) return { mayResume: mayResume === true, faults: [], ends: 'whole' };
  const first = { kind, after: isLate ? 1 + ((stream * 13) % 90) : 0 };
  const second = { kind: nextKind, after: 1 + ((stream * 29) % 90) };
  // An early fault leads to another upstream; a late one only where the answer may be resumed, and only once.
  const late = (isLate ? 1 : 0) + (isTwice ? 1 : 0);
  const ends = late === 0 ? 'whole' : late === 1 && mayResume ? 'resumed' : 'failed';
  return { mayResume: mayResume === true, faults: isTwice ? [first, second] : [first], ends };
}

interface Outcome {
  readonly text: string;
  readonly done: boolean;
  readonly failure: string | null;
  readonly wasResumed: boolean;
}

it(`${STREAMS} streams end honestly, whatever their upstreams do`, async () => {
  const upstreams = await Promise.all(NAMES.map(() => startUpstream()));
  // Faults bring nothing down, so that each stream finds the upstreams that its plan needs; only the kill does.
  const balance = { failuresUntilDown: Number.POSITIVE_INFINITY, downMs: 20, downMaxMs: 100 };
  const engines = await startEngines({}, { balance });
  await addAll(engines, upstreams);
  const asked = new Map<number, string[]>();
  const met = new Set<string>();
  const heard = new Map<number, Deferred<void>>();
  /** Its client has heard the first words. */
  const heardOf = (stream: number): Deferred<void> => {
    const known = heard.get(stream) ?? deferred<void>();
    heard.set(stream, known);
    return known;
  };
  const faultAt = (name: string, stream: number): Fault | null => {
    const before = asked.get(stream) ?? [];
    // A connection that was closed while it was kept is taken up anew: the same upstream, the same fault.
    if (!before.includes(name)) asked.set(stream, [...before, name]);
    const fault = planOf(stream).faults[asked.get(stream)?.indexOf(name) ?? 0] ?? null;
    if (fault === null) return null;
    met.add(`${fault.kind} ${fault.after === 0 ? 'early' : 'late'}`);
    return fault.after === 0 ? fault : { ...fault, once: heardOf(stream).promise };
  };
  const faultOf = (name: string) => (body: Parameters<ScriptedUpstream['faultOf']>[0]) =>
    faultAt(name, streamOf(body));
  for (const [index, upstream] of upstreams.entries())
    Object.assign(upstream, { faultOf: faultOf(NAMES[index] ?? ''), models: ['tale'] });

  const planned = await runStreams(engines, heardOf, [0, PLANNED]);
  for (const [stream, outcome] of planned.entries())
    expect(endOf(outcome), `stream ${stream}: ${outcome.failure}`).toBe(planOf(stream).ends);
  for (const kind of FAULTS) for (const place of ['early', 'late']) expect(met).toContain(`${kind} ${place}`);

  let cutOff = 0;
  let requests = 0;
  let isBack: Promise<void> = Promise.resolve();
  const [ann] = upstreams;
  if (ann === undefined) throw new Error('there is no upstream');
  ann.faultOf = (body) => {
    requests += 1;
    if (requests === KILLED_AT) {
      cutOff = ann.running;
      isBack = restart(upstreams, faultOf('ann'));
    }
    return faultAt('ann', streamOf(body));
  };
  const others = await runStreams(engines, heardOf, [PLANNED, STREAMS]);
  await isBack;
  await engines.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));

  expect(cutOff, 'requests that the kill cut off').toBeGreaterThan(0);
  expect([...planned, ...others]).toHaveLength(STREAMS);
  for (const { text, done, failure } of [...planned, ...others]) {
    expect(TALE.startsWith(text), `not what was said: ${text.slice(-80)}`).toBe(true);
    expect(done, 'an end that is none, or none that is one').toBe(text === TALE && failure === null);
    if (!done) expect(failure).toMatch(NAMED);
  }
}, 600_000);

/** Asks for the streams from one number up to another, so many at once; their outcomes in order. */
async function runStreams(
  engines: EngineService,
  heardOf: (stream: number) => Deferred<void>,
  [from, to]: readonly [number, number],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = from;
  const client = async (): Promise<void> => {
    while (next < to) {
      const stream = next;
      next += 1;
      outcomes[stream - from] = await streamOnce(engines, stream, () => heardOf(stream).resolve());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return outcomes;
}

const endOf = ({ done, wasResumed }: Outcome): Plan['ends'] =>
  !done ? 'failed' : wasResumed ? 'resumed' : 'whole';

/** Which stream a request belongs to: its first message says so. */
function streamOf({ messages }: Parameters<ScriptedUpstream['faultOf']>[0]): number {
  const [first] = messages as readonly { readonly content: string }[];
  return Number(first?.content);
}

async function addAll(engines: EngineService, upstreams: readonly ScriptedUpstream[]): Promise<void> {
  for (const [index, name] of NAMES.entries()) {
    const baseUrl = `${upstreams[index]?.url}/v1`;
    // Long enough for a busy machine: nothing but a planned stall may take so long.
    const deadlines = { connectMs: 30_000, firstByteMs: 2_000, stallMs: 2_000, wholeMs: 60_000 };
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

/** Kills the first with all that it runs; it comes back at the same address. */
async function restart(upstreams: ScriptedUpstream[], faultOf: ScriptedUpstream['faultOf']): Promise<void> {
  const [before] = upstreams;
  if (before === undefined) throw new Error('there is no upstream');
  await before.close();
  const after = await startUpstream(before.port);
  Object.assign(after, { faultOf, models: ['tale'] });
  upstreams[0] = after;
}

async function streamOnce({ service }: EngineService, stream: number, onWords: () => void): Promise<Outcome> {
  const body = {
    model: 'tale',
    stream: true,
    svc_resume: planOf(stream).mayResume,
    messages: [{ role: 'user', content: String(stream) }],
  };
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) {
    const { message } = (await response.json()) as { message: string };
    return { text: '', done: false, failure: message, wasResumed: false };
  }
  return readStream(response, onWords);
}

async function readStream({ body }: Response, onWords: () => void): Promise<Outcome> {
  let read = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
      read += decoder.decode(bytes, { stream: true });
      if (read.includes('word')) onWords();
    }
  } catch {
    // A stream that failed is cut behind its error frame.
  }
  const frames = read.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice(6)] : []));
  const chunks = frames.flatMap((frame) => (frame === '[DONE]' ? [] : [JSON.parse(frame)]));
  return {
    text: chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join(''),
    done: frames.at(-1) === '[DONE]',
    failure: chunks.find((chunk) => chunk.error !== undefined)?.message ?? null,
    wasResumed: chunks.some((chunk) => chunk.svc_resumed !== undefined),
  };
}
