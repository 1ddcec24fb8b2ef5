import { computed, signal } from '@preact/signals';
import { FROZEN_MODE, REQUEST_HEADERS } from '../../src/wire/headers.ts';
import { readProofFile } from '../../src/trust/evidence/proof-file.ts';
import type { Finding } from '../../src/trust/evidence/verify.ts';
import { addressOf, place } from '../parts/address.ts';
import { ask, sentenceOf } from '../service/client.ts';
import { type Checked, checkRecord, compareAnswers, kindOf, textOfFile } from './check.ts';
import { keyText, meetService, trust } from './trust.ts';

export interface Held {
  readonly record: string;
  readonly request: string | null;
  readonly nonce?: string;
  readonly from: string;
  readonly subject?: string;
  readonly key?: string;
}

interface Opened {
  readonly held: Held;
  readonly checked: Checked | null;
  readonly comparison: readonly Finding[] | null;
}

/** By the id in the address; null: the record that this view requested or read from files. */
type Place = string | null;

const records = signal<ReadonlyMap<Place, Opened>>(new Map());

/** Never another address's record, whatever is still being fetched or checked. */
export const opened = computed(() => records.value.get(place.value.id) ?? null);

interface Doing {
  readonly what: 'asking' | 'comparing' | 'reading' | null;
  readonly fault: string | null;
}
const doings = signal<ReadonlyMap<Place, Doing>>(new Map());
const doing = computed(() => doings.value.get(place.value.id));
export const busy = computed(() => doing.value?.what ?? null);
export const fault = computed(() => doing.value?.fault ?? null);

const setDoing = (id: Place, now: Doing): void => {
  doings.value = new Map(doings.peek()).set(id, now);
};

export function askSigned(model: string, prompt: string, maxTokens: number): Promise<void> {
  leaveNamed();
  return during(null, 'asking', async () => {
    await meetService();
    const body = { model, messages: [{ role: 'user', content: prompt }], max_tokens: maxTokens };
    const request = JSON.stringify(body);
    const nonce = crypto.randomUUID();
    const record = await frozen(request, nonce);
    await hold(null, { record, request, nonce, from: 'asked here', subject: prompt });
  });
}

export function askAgain(): Promise<void> {
  const { id } = place.peek();
  return during(id, 'comparing', async () => {
    const { held, checked: first } = records.peek().get(id) ?? {};
    if (held === undefined || first == null || held.request === null) return;
    const { request } = held;
    const record = await frozen(request, crypto.randomUUID());
    const second = await checkRecord({ record, request, key: keyFor(held, first) });
    if (second.statement === null)
      throw new Error('The second answer is not signed by the key of the first, so they cannot be compared.');
    update(id, held, { comparison: await compareAnswers(first, second) });
  });
}

export function takeFiles(files: Iterable<File>): Promise<void> {
  const { id } = place.peek();
  return during(id, 'reading', async () => {
    const texts = await Promise.all(
      [...files].map(async (file) => ({ name: file.name, text: await textOfFile(file) })),
    );
    const of = (kind: ReturnType<typeof kindOf>) => texts.find(({ text }) => kindOf(text) === kind);
    const [proof, record, request, key] = [of('proof'), of('record'), of('request'), of('key')];
    if (key !== undefined) trust.value = { kind: 'given', text: key.text, name: key.name };
    const old = records.peek().get(id)?.held ?? null;
    const whole = readProofFile(proof?.text ?? '');
    if (whole !== null) {
      leaveNamed(id);
      const { publicKey } = whole;
      const enclosed = publicKey === null ? {} : { key: publicKey };
      await hold(null, {
        ...whole,
        request: request?.text ?? whole.request,
        from: proof?.name ?? '',
        ...enclosed,
      });
    } else if (record !== undefined) {
      leaveNamed(id);
      await hold(null, { record: record.text, request: request?.text ?? null, from: record.name });
    } else if (old !== null && (request ?? key) !== undefined) {
      await hold(id, { ...old, request: request?.text ?? old.request });
    } else if (key === undefined) {
      put(id, null);
      throw new Error(
        request === undefined
          ? 'This is not a record. Choose a saved answer that holds its member "evidence", with its request and key if you have them.'
          : 'This is only a request. Choose the saved answer as well.',
      );
    }
  });
}

/** Leaves a named record for a newer one, unless the user has left it already. */
function leaveNamed(from = place.peek().id): void {
  const now = place.peek();
  if (from !== null && now.view === 'proof' && now.id === from) location.hash = addressOf('proof');
}

function put(id: Place, record: Opened | null): void {
  const next = new Map(records.peek());
  if (record === null) next.delete(id);
  else next.set(id, record);
  records.value = next;
}

/** Does nothing where another record has been opened meanwhile. */
function update(id: Place, held: Held, part: Partial<Opened>): void {
  const now = records.peek().get(id);
  if (now?.held === held) put(id, { ...now, ...part });
}

/** Shows no verdict before `ready`, and returns the new one. */
export async function hold(id: Place, held: Held, ready?: Promise<unknown>): Promise<Checked> {
  put(id, { held, checked: null, comparison: null });
  await ready;
  const checked = await judge(held);
  update(id, held, { checked });
  return checked;
}

/** Judges the open record again, once other keys are trusted than before. */
export async function judgeAgain(): Promise<void> {
  const { id } = place.peek();
  const { held, checked = null } = records.peek().get(id) ?? {};
  if (held !== undefined && checked !== null) update(id, held, { checked: await judge(held) });
}

/** With the trusted key, or else with the key in the file. */
async function judge(held: Held): Promise<Checked> {
  const { record, request, nonce, key } = held;
  const trusted = keyText();
  const judged = await checkRecord({ record, request, key: trusted, nonce });
  if (trusted !== keyText()) return judge(held);
  if (judged.statement !== null || key === undefined) return judged;
  return { ...(await checkRecord({ record, request, key, nonce })), isKeyEnclosed: true };
}

export const keyFor = ({ key }: Held, { isKeyEnclosed }: Checked): string | null =>
  isKeyEnclosed === true ? (key ?? null) : keyText();

export async function frozen(request: string, nonce: string, signal?: AbortSignal): Promise<string> {
  const headers = { [REQUEST_HEADERS.evidenceMode]: FROZEN_MODE, [REQUEST_HEADERS.evidenceNonce]: nonce };
  const options = { body: request, headers, ...(signal === undefined ? {} : { signal }) };
  return (await ask('/v1/chat/completions', options)).text();
}

async function during(id: Place, what: Doing['what'], work: () => Promise<void>): Promise<void> {
  setDoing(id, { what, fault: null });
  try {
    await work();
    setDoing(id, { what: null, fault: null });
  } catch (error) {
    setDoing(id, { what: null, fault: sentenceOf(error) });
  }
}
