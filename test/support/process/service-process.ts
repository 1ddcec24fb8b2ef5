/** The compiled service as a process of its own, with a home folder of its own and one tiny model. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TinyChatOptions, writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import { importFile } from '../../../src/store/install/import.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import { endProcess, readyUrl, type Settings, startHearth } from './hearth.ts';
import { removeFolder } from '../remove-folder.ts';

export interface ServiceProcess {
  readonly url: string;
  readonly model: string;
  readonly home: string;
  close(): Promise<void>;
}

/** Resolves when the service has printed its ready line. */
export async function startService(
  options: TinyChatOptions = {},
  further: Settings = {},
): Promise<ServiceProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-service-'));
  const home = path.join(folder, 'svc');
  const model = 'shape-test';
  const file = path.join(folder, 'tiny.gguf');
  await writeTinyChat(file, { contextLength: 4096, ...options });
  await importFile(openRegistry({ home }), file, { id: model });
  const settings = { SVC_HOME: home, SVC_PORT: '0', SVC_NUM_THREADS: '1', SVC_LOG_LEVEL: 'warn', ...further };
  const child = startHearth(['serve'], settings);
  const url = await readyUrl(child);
  return {
    url,
    model,
    home,
    close: async () => {
      await endProcess(child);
      await removeFolder(folder);
    },
  };
}
