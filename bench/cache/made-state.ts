/**
 * State of a long conversation that nobody read: the rows are made up, in the form and under the key of those that the
 * service saved. Answers after it mean nothing; what a restore takes is what it takes for real ones.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { BlockFolder } from '../../src/worker/cache/disk/block-folder.ts';
import { PromptStore } from '../../src/worker/cache/prompt-store.ts';
import { bytesPerToken, StateBuilder } from '../../src/worker/cache/state-layout.ts';
import { derivedSecret } from '../../src/trust/identity/instance.ts';
import { loadIdentity } from '../../src/trust/identity/instance.ts';
import { seededRandom } from '../../tools/gguf/random.ts';

const GIB = 1024 ** 3;
/** Small numbers in 16 bits, from the same few bytes over and over. */
const PATTERN_BYTES = 1 << 16;

/** The service must be ended, and must have saved some state of this model before. */
export async function makeState(home: string, tokens: readonly number[]): Promise<void> {
  const folder = path.join(home, 'cache');
  const [kind] = readdirSync(folder);
  if (kind === undefined) throw new Error('the service saved nothing yet');
  const secret = derivedSecret((await loadIdentity({ home })).keys, 'prompt cache');
  const key = { secret: Buffer.from(secret, 'hex'), belongsTo: kind };
  const [like] = await new BlockFolder(path.join(folder, kind), key, console.error).scan();
  const layout = like?.header.layout ?? null;
  if (like === undefined || layout === null) throw new Error('the state of this model is kept whole');
  const store = new PromptStore({
    spec: { ramBytes: 64 * GIB, disk: { folder, bytes: 64 * GIB, kind, secret } },
    streams: layout.streams,
    msPerToken: () => 20,
    log: (sentence) => console.error(sentence),
  });
  await store.open();
  const length = tokens.length;
  const builder = new StateBuilder(layout, { start: 0, tokens: length });
  builder.add({ start: 0, held: length, used: length }, rows());
  console.log(`made up: ${length} tokens of ${bytesPerToken(layout)} bytes`);
  store.keep(like.header.owner, Uint32Array.from(tokens), builder.bytes, true);
  await store.save(
    async () => undefined,
    () => true,
  );
}

/** Numbers between 0.03 and 0.06, of either sign: halves of 16 bits whose upper byte is 0x28 or 0xa8. */
function rows(): (bytes: number) => Uint8Array {
  const random = seededRandom(7);
  const pattern = Buffer.alloc(PATTERN_BYTES);
  for (let at = 0; at < PATTERN_BYTES; at += 2) {
    pattern[at] = random.below(256);
    pattern[at + 1] = random.below(2) === 0 ? 0x28 : 0xa8;
  }
  return (bytes) => pattern.subarray(0, bytes);
}
