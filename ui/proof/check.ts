/**
 * ui/proof owns the view that requests signed answers and checks records. The verifier of src/trust decides, the same
 * one as in the command. It does not know how a record is made.
 */
import { checkClaims } from '../../src/server/api/replay/check-claims.ts';
import { checkReplay } from '../../src/trust/evidence/compare.ts';
import { parseKeyring } from '../../src/trust/evidence/keyring.ts';
import { readProofFile } from '../../src/trust/evidence/proof-file.ts';
import { readSaved } from '../../src/trust/evidence/record-text.ts';
import { decodeStrictly, parseStrictly } from '../../src/trust/evidence/strict-text.ts';
import { type AnyStatement, isOfAnswer } from '../../src/trust/evidence/any-statement.ts';
import {
  conclude,
  type Finding,
  type OpenedRecord,
  openRecord,
  parsePayload,
  type Verdict,
} from '../../src/trust/evidence/verify.ts';
import { sha256Hex } from '../../src/trust/identity/canonical.ts';
import { findServiceFault } from '../../src/trust/evidence/shown-keys.ts';
import { Buffer } from './browser/buffer.ts';
import { settled } from './browser/crypto.ts';

export interface Checked extends Verdict {
  readonly record: OpenedRecord;
  /** Null without the signature of a trusted key: nothing of it is read then. */
  readonly statement: AnyStatement | null;
  readonly payloadSha256: string;
  /** The key that signed it came in the same file. */
  readonly isKeyEnclosed?: true;
}

export interface Claims {
  /** The response as it was saved, or the bare record. */
  readonly record: string;
  readonly request: string | null;
  /** PEM or a key history. */
  readonly key: string | null;
  readonly nonce?: string | undefined;
}

/** Like `hearth evidence verify`, without the service. Throws if the text is not a record. */
export function checkRecord({ record: text, request, key, nonce }: Claims): Promise<Checked> {
  return settled(() => {
    const { value, stream } = readSaved(text);
    const record = openRecord(value, stream);
    const asked = request === null ? null : { bytes: utf8(request), value: parseStrictly(request) };
    const keyring = key === null ? null : parseKeyring(key);
    const { findings, statement } = checkClaims(record, keyring, { request: asked, nonce });
    return { ...conclude(findings), record, statement, payloadSha256: sha256Hex(record.payload) };
  });
}

/**
 * Compares two answers to the same request like a replay: the signed parts, and the text in the file, which may
 * differ from them. Both must be checked before.
 */
export function compareAnswers(first: Checked, second: Checked): Promise<Finding[]> {
  return settled(() => {
    const [claimed, again] = [first.statement, second.statement];
    const answer = second.record.response;
    if (claimed === null || again === null || answer === null || !isOfAnswer(claimed) || !isOfAnswer(again))
      throw new Error('One of the records is not verified.');
    const { model, backend, exec, prompt, sampling, output, server } = again.predicate;
    const findings = checkReplay(claimed, {
      tuple: { model, backend, exec },
      // A template sees the second in which it is rendered. Its output is compared by hash.
      prompt: { ...prompt, template_clock: claimed.predicate.prompt.template_clock },
      sampling,
      output,
      answer: { choices: answer.choices, usage: answer.usage },
      serverSha256: server.server_source_sha256,
    });
    return [...compareWords(first.record.response, answer), ...findings];
  });
}

function compareWords(
  shown: OpenedRecord['response'],
  again: NonNullable<OpenedRecord['response']>,
): Finding[] {
  if (shown === null) return [];
  const isSame = wordsOf(shown.choices) === wordsOf(again.choices);
  return [
    {
      level: 'L3',
      name: 'this file',
      outcome: isSame ? 'passed' : 'failed',
      detail: isSame
        ? 'the same words came again'
        : 'other words came: what this file says is not what the model answers. The rows below are about what was signed',
    },
  ];
}

/** Without ids, which differ for each answer. */
function wordsOf(choices: unknown): string {
  const list = Array.isArray(choices) ? (choices as readonly Choice[]) : [];
  return JSON.stringify(
    list.map(({ message, text }) => [
      message?.content ?? text,
      message?.tool_calls?.map(({ function: called }) => [called?.name, called?.arguments]),
    ]),
  );
}

interface Choice {
  readonly text?: unknown;
  readonly message?: {
    readonly content?: unknown;
    readonly tool_calls?: readonly {
      readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
    }[];
  };
}

export function headlineOf({ exitCode, level, findings }: Verdict): string {
  if (exitCode === 0) return level === 'L0' ? 'Signed; the request was not compared' : 'Verified';
  if (exitCode === 2) return 'Not enough to tell';
  const failed = new Set(findings.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name));
  if (failed.has('signature')) return 'Not signed by a trusted key';
  if (failed.has('response') || failed.has('stream')) return 'The answer was changed';
  if ([...failed].every((name) => ABOUT_ASKING.has(name))) return 'Signed, but for another request';
  return 'Not what was signed';
}

const ABOUT_ASKING: ReadonlySet<string> = new Set(['request', 'nonce', 'sampling']);

/** Null if the key with this id signed the identity for this nonce. */
export function identityFault(
  body: Record<string, unknown>,
  nonce: string,
  keyid: string,
): Promise<string | null> {
  return settled(() => findServiceFault(body, { nonce, pinned: { keyid } }));
}

const REQUESTS = ['messages', 'prompt', 'input'];

export function findQuestion(request: string | null): string | null {
  if (request === null) return null;
  const value = parseStrictly(request);
  const { messages, prompt } = asMembers(value);
  const turns = Array.isArray(messages) ? messages.map(asMembers) : [];
  const asked = turns.findLast(({ role }) => role === 'user')?.['content'] ?? prompt;
  return typeof asked === 'string' ? asked : textOfParts(asked);
}

const asMembers = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null ? { ...value } : {};

function textOfParts(content: unknown): string | null {
  const parts = Array.isArray(content) ? content.map(asMembers) : [];
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? text : []));
  return texts.length === 0 ? null : texts.join('\n');
}

export function kindOf(text: string): 'proof' | 'record' | 'request' | 'key' | null {
  if (readProofFile(text) !== null) return 'proof';
  if (text.includes('-----BEGIN PUBLIC KEY-----') && !text.trimStart().startsWith('{')) return 'key';
  try {
    const value = savedValue(text) as Record<string, unknown>;
    if (value['object'] === 'svc.key-history') return 'key';
    if ('evidence' in value || 'payloadType' in value) return 'record';
    return REQUESTS.some((name) => name in value) ? 'request' : null;
  } catch {
    return null;
  }
}

export function answerText({ record }: Checked): string | null {
  const choices = record.response?.choices;
  const [first] = Array.isArray(choices) ? (choices as readonly Choice[]) : [];
  const text = first?.message?.content ?? first?.text;
  return typeof text === 'string' ? text : null;
}

/** The response, or the event of a stream that holds the record. */
export const savedValue = (text: string): unknown => readSaved(text).value;

export const payloadText = ({ record }: Checked): string =>
  JSON.stringify(parsePayload(record.payload), null, 2);

/** Text of a chosen file; `Blob.text` would drop a byte order mark. */
export const textOfFile = async (file: Blob): Promise<string> =>
  decodeStrictly(new Uint8Array(await file.arrayBuffer()));

const utf8 = (text: string) => Buffer.from(text);
