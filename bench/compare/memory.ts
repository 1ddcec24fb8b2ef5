/** What a server holds in memory: itself and all its children, read from outside. */
import { setTimeout } from 'node:timers/promises';
import { streamChat } from '../client/stream.ts';
import { portOf } from '../client/side.ts';
import { sampleMemory } from '../process-memory.ts';
import { sum } from '../statistics.ts';
import { asking, type Scenario } from './scenario.ts';

/** After an answer the server may still be freeing what it took. */
const SETTLE_MS = 2_000;
const MEBIBYTE = 2 ** 20;

export const memory: Scenario = {
  name: 'memory',
  describe: 'resident memory of the server and its workers, with what earlier scenarios left in its caches',
  cold: true,
  run: async (side, round, textOf) => {
    await streamChat(side, asking(textOf(30, round)), { maxTokens: 8 });
    await setTimeout(SETTLE_MS);
    const found = sampleMemory(portOf(side.url));
    if (found.length === 0) {
      throw new Error(
        `${side.name}: nobody can be seen listening at ${side.url}; memory is read on Linux, on this machine and as this user only`,
      );
    }
    return {
      'RSS MiB': sum(found.map(({ bytes }) => bytes)) / MEBIBYTE,
      'PSS MiB': sum(found.map(({ pssBytes }) => pssBytes)) / MEBIBYTE,
      processes: found.length,
    };
  },
};
