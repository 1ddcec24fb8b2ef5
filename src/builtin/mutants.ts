/**
 * Seeded random damage to a good model file, for fuzzing whatever reads one: flipped bits
 * and planted values mostly in the header, lengths pushed to their limits, pieces cut out,
 * repeated or moved. The same seed always gives the same files.
 */
import { encodeHeader } from '../gguf/writer.ts';
import { type Random, seededRandom } from './random.ts';
import { soundBytes, soundContent } from './sound-base.ts';

export interface Mutant {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Values at which arithmetic tends to go wrong. */
const EDGES = [
  0n,
  1n,
  2n,
  31n,
  255n,
  65_535n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 62n,
  2n ** 63n,
  2n ** 64n - 1n,
];

type Damage = (bytes: Buffer, place: number, random: Random) => Buffer;

const DAMAGES: Readonly<Record<string, Damage>> = {
  flip: (bytes, place, random) => {
    bytes[place] = (bytes[place] ?? 0) ^ (1 << random.below(8));
    return bytes;
  },
  byte: (bytes, place, random) => {
    bytes[place] = random.below(256);
    return bytes;
  },
  edge32: (bytes, place, random) => {
    if (place + 4 <= bytes.length) bytes.writeUInt32LE(Number(edge(random) & 0xffff_ffffn), place);
    return bytes;
  },
  edge64: (bytes, place, random) => {
    if (place + 8 <= bytes.length) bytes.writeBigUInt64LE(edge(random), place);
    return bytes;
  },
  nudge: (bytes, place, random) => {
    if (place + 4 <= bytes.length)
      bytes.writeInt32LE((bytes.readInt32LE(place) + random.below(65) - 32) | 0, place);
    return bytes;
  },
  truncate: (bytes, place) => bytes.subarray(0, place),
  remove: (bytes, place, random) => splice(bytes, place, random.below(64) + 1, Buffer.alloc(0)),
  insert: (bytes, place, random) =>
    splice(bytes, place, 0, Buffer.alloc(random.below(64) + 1, random.below(256))),
  repeat: (bytes, place, random) =>
    splice(bytes, place, 0, bytes.subarray(place, place + random.below(256) + 1)),
  copy: (bytes, place, random) => {
    const from = random.below(bytes.length);
    bytes.copy(bytes, place, from, from + random.below(64) + 1);
    return bytes;
  },
};

export function* mutants(seed: number, count: number): Generator<Mutant> {
  const good = soundBytes();
  const headerBytes = encodeHeader(soundContent()).length;
  const random = seededRandom(seed);
  const names = Object.keys(DAMAGES);
  for (let index = 0; index < count; index += 1) {
    let bytes = Buffer.from(good);
    const applied: string[] = [];
    for (let rounds = random.below(3); rounds >= 0; rounds -= 1) {
      const name = names[random.below(names.length)] ?? 'flip';
      const place = Math.min(aim(random, headerBytes, bytes.length), Math.max(0, bytes.length - 1));
      bytes = (DAMAGES[name]?.(bytes, place, random) ?? bytes) as typeof bytes;
      applied.push(`${name}@${place}`);
    }
    yield { name: `mutant ${seed}/${index} ${applied.join(' ')}`, bytes };
  }
}

/** Mostly the settings at the start of the header and the tensor table at its end. */
function aim(random: Random, headerBytes: number, totalBytes: number): number {
  const choice = random.below(10);
  if (choice < 4) return random.below(2048);
  if (choice < 7) return headerBytes - 1 - random.below(1536);
  return random.below(choice < 9 ? headerBytes : Math.max(1, totalBytes));
}

function edge(random: Random): bigint {
  return EDGES[random.below(EDGES.length)] ?? 0n;
}

function splice(bytes: Buffer, at: number, removed: number, inserted: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
}
