/** Starts the process with the bare library and asks it; its environment is that of a worker. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../src/server/engine/local/child/child-environment.ts';
import type { Figures } from '../statistics.ts';
import type { Reply, Request } from './messages.ts';

export interface Library {
  ask(request: Request): Promise<Figures>;
  close(): Promise<void>;
}

export function startLibrary(file: string, threads: number): Library {
  const child = fork(fileURLToPath(new URL('./child.js', import.meta.url)), [file, String(threads)], {
    env: childEnvironment(process.env, { gpu: 'off' }, process.platform),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const gone = once(child, 'exit');
  return {
    ask: async (request) => {
      child.send(request);
      const ended = gone.then(([code]) => {
        throw new Error(`the process with the bare library ended with ${code}`);
      });
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply];
      if ('failed' in reply) throw new Error(reply.failed);
      return reply.figures;
    },
    close: async () => {
      child.kill();
      await gone;
    },
  };
}
