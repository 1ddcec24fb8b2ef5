/** Reads records, requests and keys from files, which are hostile like all other input. */
import { readFile } from 'node:fs/promises';
import { fail, isFailure, isSvcError, errorMessage, errorReason } from '../../../lib/errors/svc-error.ts';
import { type Keyring, keyringFromJson, parseKeyring } from '../../../trust/evidence/keyring.ts';
import { readKeyHistory } from '../../../trust/evidence/rotation.ts';
import { readProofFile } from '../../../trust/evidence/proof-file.ts';
import { readSaved, type SavedRecord } from '../../../trust/evidence/record-text.ts';
import { decodeStrictly, parseStrictly } from '../../../trust/evidence/strict-text.ts';
import { type OpenedRecord, openRecord, type RequestFile } from '../../../trust/evidence/verify.ts';

/** Invalid JSON, or JSON that two parsers could read differently, is malformed like a record. */
export async function readJsonFile(path: string): Promise<{ bytes: Buffer; value: unknown }> {
  return parsedFile(path, (bytes) => ({ bytes, value: parseStrictly(bytes) }));
}

async function parsedFile<Parsed>(path: string, parse: (bytes: Buffer) => Parsed): Promise<Parsed> {
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw fail('file_not_found', { path }, cause);
    throw fail('record_malformed', { reason: `${path} cannot be read` }, cause);
  });
  try {
    return parse(bytes);
  } catch (cause) {
    if (!isSvcError(cause)) throw cause;
    if (isFailure(cause, 'record_malformed')) throw cause;
    throw fail('record_malformed', { reason: `${path} is not usable JSON: ${errorReason(cause)}` }, cause);
  }
}

export interface RecordFile {
  readonly path: string;
  readonly record: OpenedRecord;
  /** Tokens per second from the response; null: not reported. */
  readonly reportedSpeed: number | null;
  readonly request: RequestFile | null;
}

export async function readRecord(path: string): Promise<RecordFile> {
  const { text, saved } = await parsedFile(path, (bytes) => {
    const text = decodeStrictly(bytes);
    return { text, saved: readSaved(text) };
  });
  const { value } = saved;
  const record = opened(path, saved);
  const timings: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'timings') : null;
  const speed: unknown =
    typeof timings === 'object' && timings !== null ? Reflect.get(timings, 'predicted_per_second') : null;
  return {
    path,
    record,
    reportedSpeed: typeof speed === 'number' ? speed : null,
    request: enclosed(path, text),
  };
}

function enclosed(path: string, file: string): RequestFile | null {
  const request = readProofFile(file)?.request ?? null;
  if (request === null) return null;
  try {
    const bytes = Buffer.from(request);
    return { bytes, value: parseStrictly(bytes) };
  } catch (cause) {
    if (!isSvcError(cause)) throw cause;
    const reason = `the request in ${path} is not usable JSON: ${errorReason(cause)}`;
    throw fail('record_malformed', { reason }, cause);
  }
}

function opened(path: string, { value, stream }: SavedRecord): OpenedRecord {
  try {
    return openRecord(value, stream);
  } catch (cause) {
    if (!isFailure(cause, 'record_malformed')) throw cause;
    throw fail('record_malformed', { reason: `${path}: ${cause.detail.reason}` }, cause);
  }
}

export async function readKeyring(home: string, pubkeyFile: string | undefined): Promise<Keyring | null> {
  if (pubkeyFile === undefined) {
    const history = await readKeyHistory(home);
    return history === null ? null : { ...keyringFromJson(history), isHome: true };
  }
  try {
    return parseKeyring(decodeStrictly(await readFile(pubkeyFile)));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw fail('file_not_found', { path: pubkeyFile }, cause);
    const reason = isSvcError(cause) ? errorReason(cause) : errorMessage(cause);
    throw fail(
      'record_malformed',
      { reason: `${pubkeyFile} cannot be used as a public key: ${reason}` },
      cause,
    );
  }
}
