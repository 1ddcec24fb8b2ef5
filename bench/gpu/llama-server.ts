/** llama-server of the same build on a port of its own, with as many slots and as large a window as the service has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Side } from '../client/side.ts';

export interface OtherServer {
  readonly file: string;
  readonly model: string;
  readonly port: number;
  readonly slots: number;
  readonly window: number;
  readonly layers: number;
  readonly log: string;
  readonly signal: AbortSignal;
}

export interface RunningServer {
  readonly url: string;
  readonly readyMs: number;
  stop(): Promise<void>;
}

export async function startLlamaServer(server: OtherServer): Promise<RunningServer> {
  const begin = performance.now();
  const log = openSync(server.log, 'a');
  const child = spawn(server.file, wordsOf(server), { stdio: ['ignore', log, log] });
  const gone = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  const url = `http://127.0.0.1:${server.port}`;
  while (child.exitCode === null && !server.signal.aborted) {
    const healthy = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (healthy) return { url, readyMs: performance.now() - begin, stop };
    await setTimeout(20);
  }
  await stop();
  throw new Error(`llama-server did not come up; its output is in ${server.log}`);
}

function wordsOf({ model, port, slots, window, layers }: OtherServer): string[] {
  const words = `--host 127.0.0.1 --port ${port} -c ${window} -np ${slots} --kv-unified -ngl ${layers}`;
  return ['-m', model, ...words.split(' '), '--chat-template', 'chatml'];
}

/** One more side for the same questions. */
export const sideOf = (url: string, extra: Side['extra']): Side => ({
  name: 'llama-server',
  url,
  model: 'default',
  ...(extra && { extra }),
});
