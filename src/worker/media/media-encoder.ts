import { createHash } from 'node:crypto';
import type { TurnMedium } from '../../contract/job.ts';
import { SharedMap } from '../../lib/base/shared-map.ts';
import type { MediumPart, NativeMedium, NativeProjector, Pixels } from '../native.ts';
import { IMAGE_LIMITS } from './limits.ts';
import type { RowRun } from './rows.ts';
import { isWebp, readWebp } from './webp-file.ts';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { builtFile } from '../../lib/base/package-folder.ts';
import { Turns } from '../../lib/base/turns.ts';

export interface PromptRun extends RowRun {
  readonly isWhole: boolean;
  /** Position of each row if the first is at `first`; with M-RoPE four planes one after the other. */
  positionsFrom(first: number): Int32Array;
  encode(): Promise<Float32Array>;
}

export type MediumPiece = { readonly tokens: Uint32Array } | { readonly run: PromptRun };

type RowsPart = Extract<MediumPart, { kind: 'rows' }>;

interface Known {
  readonly digest: string;
  readonly parts: readonly MediumPart[];
}

const OWNER = { owner: '' };

export class MediaEncoder {
  readonly #projector: NativeProjector;
  readonly #digest: string;
  readonly #known = new SharedMap<string, Known>({ entries: IMAGE_LIMITS.known });
  readonly #prepared = new Map<string, NativeMedium>();
  readonly #encoded = new SharedMap<string, Float32Array>({
    entries: IMAGE_LIMITS.known,
    size: IMAGE_LIMITS.keptBytes,
  });
  readonly #encoding = new Map<string, Promise<Float32Array>>();
  #count = 0;

  constructor(projector: NativeProjector, digest: string) {
    this.#projector = projector;
    this.#digest = digest;
  }

  reads(medium: TurnMedium['medium']): boolean {
    return medium === 'image' ? this.#projector.seesImages : this.#projector.hearsAudio;
  }

  get encodedRuns(): number {
    return this.#count;
  }

  /** Rejects with the reason why the file is unusable, as the end of a sentence. */
  async see(bytes: Buffer): Promise<readonly MediumPiece[]> {
    const file = createHash('sha256').update(bytes).digest('hex');
    const known = this.#known.get(file) ?? (await this.#look(file, bytes));
    this.#known.renew(file);
    return known.parts.map((part, at) =>
      part.kind === 'tokens'
        ? { tokens: part.tokens }
        : { run: this.#toRun(part, { digest: `${known.digest} ${at}`, at, file, bytes }) },
    );
  }

  async #look(file: string, bytes: Buffer): Promise<Known> {
    const medium = await this.#prepare(file, bytes);
    const digest = createHash('sha256').update(`${this.#digest} ${medium.pixels}`).digest('hex');
    const known = { digest, parts: medium.parts };
    this.#known.set(file, known, OWNER);
    this.#known.trim();
    return known;
  }

  async #prepare(file: string, bytes: Buffer): Promise<NativeMedium> {
    const medium = await this.#projector.prepare(isWebp(bytes) ? await decodeWebp(bytes) : bytes);
    this.#prepared.get(file)?.dispose();
    this.#prepared.set(file, medium);
    for (const [oldest, old] of this.#prepared) {
      if (this.#prepared.size <= IMAGE_LIMITS.prepared) break;
      this.#prepared.delete(oldest);
      old.dispose();
    }
    return medium;
  }

  #toRun({ rows, positions, isWhole, planes }: RowsPart, image: MediumRun): PromptRun {
    return {
      digest: image.digest,
      rows,
      positions,
      isWhole,
      positionsFrom: (first) => positionsFrom(first, rows, planes),
      encode: () => this.#encodeRows(image),
    };
  }

  #encodeRows(image: MediumRun): Promise<Float32Array> {
    const kept = this.#encoded.get(image.digest);
    this.#encoded.renew(image.digest);
    if (kept !== undefined) return Promise.resolve(kept);
    const begun = this.#encoding.get(image.digest) ?? this.#encode(image);
    this.#encoding.set(image.digest, begun);
    return begun;
  }

  async #encode({ digest, at, file, bytes }: MediumRun): Promise<Float32Array> {
    try {
      const medium = this.#prepared.get(file) ?? (await this.#prepare(file, bytes));
      const rows = await medium.encode(at);
      this.#count += 1;
      this.#encoded.set(digest, rows, { ...OWNER, size: rows.byteLength });
      this.#encoded.trim();
      return rows;
    } finally {
      this.#encoding.delete(digest);
    }
  }
}

interface MediumRun {
  readonly digest: string;
  readonly at: number;
  readonly file: string;
  readonly bytes: Buffer;
}

/** The library returns each row's four positions together and takes them plane by plane, y before x. */
const PLANES = [0, 2, 1, 3] as const;

function positionsFrom(first: number, rows: number, planes: RowsPart['planes']): Int32Array {
  if (planes === null) return Int32Array.from({ length: rows }, (_, row) => first + row);
  const { atZero, atOne } = planes;
  const found = new Int32Array(PLANES.length * rows);
  for (const [plane, member] of PLANES.entries()) {
    for (let row = 0; row < rows; row += 1) {
      const base = atZero[4 * row + member] ?? 0;
      const moves = (atOne[4 * row + member] ?? 0) - base;
      found[plane * rows + row] = base + first * moves;
    }
  }
  return found;
}

/** One at a time: a decoder takes four bytes for each pixel, and as much again for its result. */
const turns = new Turns();

async function decodeWebp(bytes: Buffer): Promise<Pixels> {
  const picture = readWebp(bytes);
  const pixels = picture === null ? null : await turns.run(() => inThread(picture.file));
  if (pixels === null || pixels.width !== picture?.width || pixels.height !== picture.height)
    throw new Error('its data is damaged');
  return pixels;
}

async function inThread(file: Buffer): Promise<Pixels | null> {
  // Node options of this process are not meant for its threads.
  const thread = new Worker(builtFile('worker/media/webp-thread.js'), { workerData: file, execArgv: [] });
  try {
    const [pixels] = (await once(thread, 'message')) as [Pixels | null];
    return pixels;
  } finally {
    await thread.terminate();
  }
}
