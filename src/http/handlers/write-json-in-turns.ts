/** Writes a large answer as JSON and lets the event loop turn meanwhile: a million numbers take a fifth of a second. */
import { ownTurn } from '../../lib/json/own-turn.ts';

/** Characters that are written before others have their turn. */
const SLICE_CHARS = 128 * 1024;

/** The bytes of JSON.stringify; items of the lists among the members of `value` are what is written at once. */
export async function writeJsonInTurns(value: object): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '';
  const write = async (more: string): Promise<void> => {
    text += more;
    if (text.length < SLICE_CHARS) return;
    slices.push(Buffer.from(text));
    text = '';
    await ownTurn();
  };
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    await write(`${before}${JSON.stringify(name)}:`);
    if (Array.isArray(member)) await writeList(member, write);
    else await write(JSON.stringify(member));
    before = ',';
  }
  slices.push(Buffer.from(before === '{' ? '{}' : `${text}}`));
  return Buffer.concat(slices);
}

async function writeList(items: readonly unknown[], write: (more: string) => Promise<void>): Promise<void> {
  await write('[');
  for (const [at, item] of items.entries())
    await write(`${at === 0 ? '' : ','}${JSON.stringify(item) ?? 'null'}`);
  await write(']');
}
