/** What the unmodified clients talk to: the service over the scripted engine, and the built program with the real one. */
import { Installation } from '../support/process/installation.ts';
import { startScripted, type ScriptedService } from '../support/http/scripted-service.ts';

export interface Target {
  readonly baseURL: string;
  /** Only the scripted engine can be told what to play. */
  readonly scripted: ScriptedService | null;
  close(): Promise<void>;
}

export const targets: readonly (readonly [string, () => Promise<Target>])[] = [
  [
    'the scripted engine',
    async () => {
      const scripted = await startScripted();
      return { baseURL: `${scripted.url}/v1`, scripted, close: () => scripted.close() };
    },
  ],
  [
    'llama.cpp',
    async () => {
      const installation = await Installation.make();
      const served = await installation.serve();
      return { baseURL: `${served.url}/v1`, scripted: null, close: () => installation.remove() };
    },
  ],
];
