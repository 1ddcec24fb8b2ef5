/** What campaigns found once, in its smallest form (test/campaign/cases): it stays mended. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectGguf } from '../../src/lib/gguf/inspect.ts';
import ggufCases from '../campaign/cases/gguf.json' with { type: 'json' };
import requestCases from '../campaign/cases/requests.json' with { type: 'json' };
import { bytesOf, type GgufCase } from '../campaign/files/gguf-mutants.ts';
import { isHonest } from '../campaign/http/honest.ts';
import { CampaignService } from '../campaign/service.ts';
import { NativeChild } from './gguf/native-child.ts';

describe('a request that a campaign found', () => {
  let service: CampaignService;
  beforeAll(async () => {
    service = await CampaignService.make();
    await service.start();
  });
  afterAll(() => service.remove());

  it.each(requestCases)('is answered honestly: $name', async ({ path: route, body }) => {
    const reply = await service.post(route, body);
    const answer = await reply.text();
    expect(isHonest(reply.status, answer), `${reply.status} ${answer}`).toBe(true);
    expect((await service.stream('tell a story', 4)).done).toBe(true);
  });
});

describe('a file that a campaign found', () => {
  const native = new NativeChild();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-cases-'));
  });
  afterAll(async () => {
    native.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(ggufCases as unknown as (GgufCase & { readonly name: string })[])(
    'is refused by the gate, or does not end the process that loads it: $name',
    async (found) => {
      const whole = await writeFile(path.join(folder, 'x.gguf'), bytesOf({ ...found, changes: [] })).then(
        () => inspectGguf(path.join(folder, 'x.gguf')),
      );
      expect(whole.kind).toBeTruthy();
      const file = path.join(folder, 'found.gguf');
      const bytes = bytesOf(found);
      expect(bytes.equals(bytesOf({ ...found, changes: [] }))).toBe(false);
      await writeFile(file, bytes);
      const verdict = await inspectGguf(file).catch((error: Error & { code?: string }) => error.code);
      if (verdict === 'gguf_invalid') return;
      const task = await native.ask(found.base === 'embedding' ? 'embed' : 'probe', file, { texts: ['Hi'] });
      expect(['done', 'refused']).toContain(task.kind);
    },
  );
});
