import type { FileHandle } from 'node:fs/promises';
import type { ModelSettings } from '../../contract/settings/shapes.ts';
import { LOAD_SETTING_ROWS, shortText } from '../../contract/settings/shapes.ts';
import type { LoadSettingRow } from '../../contract/settings/load-settings.ts';
import { openPlainFile } from '../../lib/files/plain-file.ts';
import { runGate } from '../../lib/gguf/run-gate.ts';

type About = 'predictions' | 'vocabulary' | 'template';

export interface Difference {
  readonly name: string;
  readonly about: About;
  readonly own: string | null;
  readonly reference: string | null;
  /** The user set it and accepts other predictions for it: a smaller KV cache, an adapter. */
  readonly isTraded: boolean;
}

/** Covers headers and settings; tensors of the same form may still have other values. */
export interface Differences {
  readonly values: readonly Difference[];
  readonly alike: number;
  /** Tensors of equal name and shape but other types, with the mean bits per weight; null: none. */
  readonly retyped: { readonly count: number; readonly own: number; readonly reference: number } | null;
  readonly reshaped: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

export interface OtherTensors {
  readonly compared: number;
  readonly other: readonly string[];
}

export interface Compared {
  readonly paths: readonly string[];
  readonly settings: ModelSettings;
}

export async function compareModels(own: Compared, reference: Compared): Promise<Differences> {
  const [ours, theirs] = [await readPlaces(own.paths), await readPlaces(reference.paths)];
  const twins = [...ours].flatMap(([name, place]) => {
    const twin = theirs.get(name);
    return twin === undefined ? [] : [{ name, place, twin }];
  });
  const shaped = twins.filter(({ place, twin }) => place.shape === twin.shape);
  const retyped = shaped.filter(({ place, twin }) => place.type !== twin.type);
  const onlyIn = (some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string[] =>
    [...some.keys()].filter((name) => !others.has(name));
  return {
    values: [
      ...otherSettings(own.settings, reference.settings),
      ...(await otherValues(own.paths, reference.paths)),
    ],
    alike: shaped.length - retyped.length,
    retyped:
      retyped.length === 0
        ? null
        : {
            count: retyped.length,
            own: bitsPerWeight(retyped.map(({ place }) => place)),
            reference: bitsPerWeight(retyped.map(({ twin }) => twin)),
          },
    reshaped: twins.filter(({ place, twin }) => place.shape !== twin.shape).map(({ name }) => name),
    missing: onlyIn(theirs, ours),
    added: onlyIn(ours, theirs),
  };
}

export async function otherTensors(
  own: readonly string[],
  reference: readonly string[],
  signal: AbortSignal,
): Promise<OtherTensors> {
  const [ours, theirs] = [await readPlaces(own), await readPlaces(reference)];
  let compared = 0;
  const other: string[] = [];
  for (const [name, place] of ours) {
    const twin = theirs.get(name);
    if (twin?.type !== place.type || twin.shape !== place.shape) continue;
    signal.throwIfAborted();
    compared += 1;
    if (!(await isSame(place, twin))) other.push(name);
  }
  return { compared, other };
}

/** Settings of other groups change no prediction, or only its last bits. */
const GROUPS: Partial<Record<LoadSettingRow['group'], Pick<Difference, 'about' | 'isTraded'>>> = {
  positions: { about: 'predictions', isTraded: false },
  memory: { about: 'predictions', isTraded: true },
  companions: { about: 'predictions', isTraded: true },
  format: { about: 'template', isTraded: false },
};

function otherSettings(own: ModelSettings, reference: ModelSettings): Difference[] {
  return LOAD_SETTING_ROWS.flatMap(([name, row]): Difference[] => {
    const group = GROUPS[row.group];
    if (group === undefined || (row.frozen === 'none' && group.about === 'predictions')) return [];
    const words = (settings: ModelSettings): string | null => {
      const value = settings[name];
      return value === undefined ? null : row.write(value as never);
    };
    const [ours, theirs] = [words(own), words(reference)];
    if (ours === theirs) return [];
    const shown = (text: string | null): string | null => (text === null ? null : shortText(text));
    return [{ name: row.wire, ...group, own: shown(ours), reference: shown(theirs) }];
  });
}

async function otherValues(own: readonly string[], reference: readonly string[]): Promise<Difference[]> {
  const [[ourFile], [theirFile]] = [own, reference];
  if (ourFile === undefined || theirFile === undefined) return [];
  const [ours, theirs] = [await readValues(ourFile), await readValues(theirFile)];
  const found: Difference[] = [];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [value, twin] = [ours.get(name), theirs.get(name)];
    const isEqual = value !== undefined && twin !== undefined && (await isSame(value, twin));
    if (isEqual) continue;
    found.push({
      name,
      about: classifyKey(name),
      own: value?.words ?? null,
      reference: twin?.words ?? null,
      isTraded: false,
    });
  }
  const isOther = found.some(({ name }) => name === ARCHITECTURE);
  // Each architecture has its own names for all else.
  return isOther
    ? found.filter(({ name, about }) => name === ARCHITECTURE || about !== 'predictions')
    : found;
}

const ARCHITECTURE = 'general.architecture';
const TEMPLATE = 'tokenizer.chat_template';
const VOCABULARY = 'tokenizer.';

function classifyKey(key: string): About {
  if (key.startsWith(TEMPLATE)) return 'template';
  return key.startsWith(VOCABULARY) ? 'vocabulary' : 'predictions';
}

interface InFile {
  readonly path: string;
  readonly from: number;
  readonly bytes: number;
}

async function readValues(path: string): Promise<Map<string, InFile & { readonly words: string }>> {
  const { values } = await runGate('readContents', path);
  const own = `${architectureIn(values)}.`;
  const decides = (key: string): boolean =>
    key === ARCHITECTURE || key.startsWith(VOCABULARY) || key.startsWith(own);
  return new Map([...values].flatMap(([key, value]) => (decides(key) ? [[key, { path, ...value }]] : [])));
}

const architectureIn = (values: ReadonlyMap<string, { readonly words: string }>): string =>
  (values.get(ARCHITECTURE)?.words ?? '').replaceAll('"', '');

interface Place extends InFile {
  readonly type: string;
  readonly shape: string;
  readonly weights: number;
}

async function readPlaces(paths: readonly string[]): Promise<Map<string, Place>> {
  const found = new Map<string, Place>();
  for (const path of paths) {
    const { tensors } = await runGate('readContents', path);
    for (const [name, place] of tensors) found.set(name, { path, ...place });
  }
  return found;
}

function bitsPerWeight(places: readonly Place[]): number {
  const sum = (of: (place: Place) => number): number => places.reduce((total, place) => total + of(place), 0);
  return (8 * sum(({ bytes }) => bytes)) / sum(({ weights }) => weights);
}

const PIECE_BYTES = 1024 * 1024;

async function isSame(a: InFile, b: InFile): Promise<boolean> {
  if (a.bytes !== b.bytes) return false;
  const [{ file: own }, { file: other }] = await Promise.all([openPlainFile(a.path), openPlainFile(b.path)]);
  try {
    for (let at = 0; at < a.bytes; at += PIECE_BYTES) {
      const bytes = Math.min(PIECE_BYTES, a.bytes - at);
      const [here, there] = await Promise.all([
        readPiece(own, a.from + at, bytes),
        readPiece(other, b.from + at, bytes),
      ]);
      if (!here.equals(there)) return false;
    }
    return true;
  } finally {
    await own.close();
    await other.close();
  }
}

async function readPiece(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
