/** A service is killed, and started again: what it reads of conversations that it knew, against reading them anew. */
import { parseArgs } from 'node:util';
import { text } from '../words.ts';
import { BenchHome, type Reading } from './home.ts';

export async function restart(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'bench.gguf' },
      words: { type: 'string', default: '1900' },
      ctx: { type: 'string', default: '8192' },
    },
  });
  const words = Number(values.words);
  const home = new BenchHome({ SVC_NUM_CTX: values.ctx, SVC_NUM_PARALLEL: '4' });
  try {
    home.install(values.model);
    await home.start();
    await home.load();
    const system = { role: 'system', content: text(Math.round(words / 2), 1) };
    const opening = [system, { role: 'user', content: text(Math.round(words / 2), 2) }];
    const cold = await home.ask(opening, { max_tokens: 8 });
    print('read anew', cold);
    print('megabytes on the disk', (await home.saved()) / 1e6);
    await home.kill();

    await home.start();
    await home.load();
    const next = [
      ...opening,
      { role: 'assistant', content: cold.text },
      { role: 'user', content: 'and then?' },
    ];
    const same = await home.ask(next);
    print('the same conversation, one turn more, after kill -9', same);
    print('factor', cold.ms / same.ms);
    await home.kill();

    await home.start();
    await home.load();
    const other = [system, { role: 'user', content: 'something else, please' }];
    print('a new conversation with the same system prompt, after kill -9', await home.ask(other));
  } finally {
    await home.close();
  }
}

function print(name: string, value: Reading | number): void {
  if (typeof value === 'number') return console.log(`${name}: ${value.toFixed(1)}`);
  const { ms, prompt, evaluated, slot, ram, disk, restoreMs } = value;
  console.log(
    `${name}: ${prompt} prompt tokens, ${evaluated} evaluated (${slot} slot, ${ram} ram, ${disk} disk), first token ${ms.toFixed(0)} ms, of that restore ${restoreMs.toFixed(0)} ms`,
  );
}
