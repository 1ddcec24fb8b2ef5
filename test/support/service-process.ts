/** The compiled service as a process of its own, with a home folder of its own and one tiny model. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TinyChatOptions, writeTinyChat } from '../../src/builtin/tiny-chat.ts';
import { importFile } from '../../src/models/import.ts';
import { openRegistry } from '../../src/models/registry.ts';

const dist = process.env['HEARTH_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url));

export interface ServiceProcess {
  readonly url: string;
  readonly model: string;
  close(): Promise<void>;
}

/** Resolves when the service has printed its ready line. */
export async function startService(options: TinyChatOptions = {}): Promise<ServiceProcess> {
  const home = await mkdtemp(path.join(tmpdir(), 'hearth-service-'));
  const model = 'shape-test';
  const file = path.join(home, 'tiny.gguf');
  await writeTinyChat(file, { contextLength: 4096, ...options });
  await importFile(openRegistry({ home: path.join(home, 'svc') }), file, { id: model });
  const start = `import(${JSON.stringify(`${dist}/cli/main.js`)}).then(({ main }) => main(['serve']))`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', start], {
    env: {
      PATH: process.env['PATH'],
      SVC_HOME: path.join(home, 'svc'),
      SVC_PORT: '0',
      SVC_GPU: 'off',
      SVC_NUM_THREADS: '1',
      SVC_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await readyUrl(child);
  return {
    url,
    model,
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

function readyUrl(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: unknown) => {
      said += String(chunk);
      const url = /ready at (http:\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the service ended (${code}): ${said}`)));
  });
}
