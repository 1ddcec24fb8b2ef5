/** A service of its own for a benchmark: the built CLI on a free port with an empty home. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Served {
  readonly url: string;
  /** Milliseconds from spawn to the first 200 of /health. */
  readonly healthyMs: number;
  close(): Promise<void>;
}

export async function serve(port: number, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  const begin = performance.now();
  const child = spawn(process.execPath, [path.resolve('bin', 'hearth.js'), 'serve'], {
    env: { ...process.env, SVC_HOME: home, SVC_PORT: String(port), SVC_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = once(child.stdout, 'data');
  const url = `http://127.0.0.1:${port}`;
  const healthyMs = await firstHealth(url, begin);
  await ready;
  return {
    url,
    healthyMs,
    close: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export async function firstHealth(url: string, begin: number): Promise<number> {
  while (performance.now() - begin < 60_000) {
    const healthy = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return performance.now() - begin;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error('the service did not come up within a minute');
}
