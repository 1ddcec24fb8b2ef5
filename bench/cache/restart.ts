/** A service is killed, and started again: what it reads of conversations that it knew, against reading them anew. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { text } from '../words.ts';
import { BenchHome, type Reading } from './home.ts';
import { makeState } from './made-state.ts';

/** Of a conversation that was read anew, in a home that is kept. */
interface Known {
  readonly words: number;
  readonly cold: Reading;
}

/**
 * `--home FOLDER`: kept from run to run, so that only the first one reads the conversation anew. `--made`: not even that one
 * does; the state is made up, which tells what a restore takes and nothing else.
 */
export async function restart(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'bench.gguf' },
      words: { type: 'string', default: '1900' },
      ctx: { type: 'string', default: '8192' },
      home: { type: 'string' },
      made: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '1' },
    },
  });
  const words = Number(values.words);
  if (values.home !== undefined) mkdirSync(values.home, { recursive: true });
  const home = new BenchHome({ SVC_NUM_CTX: values.ctx, SVC_NUM_PARALLEL: '4' }, values.home);
  const note = values.home === undefined ? null : path.join(values.home, 'bench-conversation.json');
  const system = { role: 'system', content: text(Math.round(words / 2), 1) };
  const opening = [system, { role: 'user', content: text(Math.round(words / 2), 2) }];
  try {
    home.install(values.model);
    const cold =
      knownReading(note, words) ?? (await (values.made ? makeUp(home, opening) : readAnew(home, opening)));
    if (note !== null) writeFileSync(note, JSON.stringify({ words, cold } satisfies Known));
    print('read anew', cold);
    console.log(`on the disk: ${(home.bytes() / 1e6).toFixed(1)} MB`);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const turn = [
        { role: 'assistant', content: cold.text },
        { role: 'user', content: 'and then?' },
      ];
      const same = await afterKill(home, [...opening, ...turn]);
      print('the same conversation, one turn more, after kill -9', same);
      console.log(`factor: ${(cold.ms / same.ms).toFixed(1)}`);
      const other = await afterKill(home, [system, { role: 'user', content: 'something else, please' }]);
      print('a new conversation with the same system prompt, after kill -9', other);
    }
  } finally {
    await home.close();
  }
}

async function readAnew(home: BenchHome, messages: readonly object[]): Promise<Reading> {
  await home.start();
  await home.load();
  const cold = await home.ask(messages, { max_tokens: 8 });
  await home.saved();
  await home.kill();
  return cold;
}

async function makeUp(home: BenchHome, messages: readonly object[]): Promise<Reading> {
  await home.start();
  const short = await home.ask([{ role: 'user', content: text(100, 3) }]);
  const tokens = await home.tokensOf(messages);
  await home.saved();
  await home.kill();
  await makeState(home.folder, tokens);
  // As if it had been read at the speed of the short one.
  return { ...short, ms: (short.ms * tokens.length) / short.prompt, prompt: tokens.length };
}

/** Killed again before anything of it is saved, so that the next one finds the same. */
async function afterKill(home: BenchHome, messages: readonly object[]): Promise<Reading> {
  const begin = performance.now();
  await home.start();
  await home.load();
  console.log(`started and loaded: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  const reading = await home.ask(messages);
  await home.kill();
  return reading;
}

function knownReading(note: string | null, words: number): Reading | null {
  if (note === null || !existsSync(note)) return null;
  const known = JSON.parse(readFileSync(note, 'utf8')) as Known;
  if (known.words !== words) throw new Error(`${note} is of a conversation of ${known.words} words`);
  return known.cold;
}

function print(name: string, { ms, prompt, evaluated, slot, ram, disk, restoreMs }: Reading): void {
  console.log(
    `${name}: ${prompt} prompt tokens, ${evaluated} evaluated (${slot} slot, ${ram} ram, ${disk} disk), first token ${ms.toFixed(0)} ms: restore ${restoreMs.toFixed(0)} ms, the rest ${(ms - restoreMs).toFixed(0)} ms`,
  );
}
