/** Programs that take the processor from whatever runs beside them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

const SPIN = 'const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };';

/** One per core. */
const PROGRAMS = {
  steady: 'for (;;);',
  intermittent: `${SPIN} setInterval(() => spin(350), 700);`,
  short: `const { spawnSync } = require('node:child_process');
    for (;;) {
      spawnSync(process.execPath, ['-e', ${JSON.stringify(`${SPIN} spin(50)`)}]);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100 * Math.random());
    }`,
};

export type HogKind = keyof typeof PROGRAMS;
export const HOG_KINDS = Object.keys(PROGRAMS) as HogKind[];

/** Resolves when all of them have ended. */
export function startHogs(kind: HogKind | 'none'): () => Promise<void> {
  const count = kind === 'none' ? 0 : availableParallelism();
  const program = kind === 'none' ? '' : PROGRAMS[kind];
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', program], { stdio: 'ignore' }),
  );
  return async () => {
    await Promise.all(hogs.map(end));
  };
}

async function end(hog: ChildProcess): Promise<void> {
  if (hog.signalCode !== null || hog.exitCode !== null) return;
  const gone = once(hog, 'exit');
  hog.kill('SIGKILL');
  await gone;
}
