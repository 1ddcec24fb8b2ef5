/** The process with the bare library: arguments FILE and THREADS; one request at a time, each answered once. */
import { bootNative } from '../../src/worker/addon/boot.ts';
import type { Figures } from '../statistics.ts';
import { type Bare, OPTIONS } from './calls.ts';
import { decode, embed, prefill } from './measures.ts';
import type { Reply, Request } from './messages.ts';

const [file = '', threads = '1'] = process.argv.slice(2);
const opened = open();

process.on('message', (request: Request) => {
  void answer(request).then((reply) => process.send?.(reply));
});

async function open(): Promise<Bare> {
  const backend = await bootNative('off');
  return { model: await backend.openModel(file, OPTIONS, () => undefined), threads: Number(threads) };
}

async function answer(request: Request): Promise<Reply> {
  try {
    return { figures: await run(await opened, request) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

function run(bare: Bare, request: Request): Promise<Figures> {
  switch (request.measure) {
    case 'decode':
      return decode(bare, request.streams, request.seed);
    case 'prefill':
      return prefill(bare, request.tokens, request.seed);
    case 'embed':
      return embed(bare, request);
  }
}
