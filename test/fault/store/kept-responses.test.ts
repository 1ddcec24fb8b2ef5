/** A response that was told as stored is there after the process was ended at that very moment, and nothing else is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ResponseStore } from '../../../src/store/responses/response-store.ts';
import { bundleScript } from '../../support/process/bundle.ts';
import { endProcess, readyUrl, startHearth } from '../../support/process/hearth.ts';
import { temporaryFolder } from '../../support/temp-home.ts';

const KILLS = 6;
const clock = { unixMs: () => Date.now() };

describe('a stored response', () => {
  it('outlives its process, wherever it is killed', async () => {
    const script = await bundleScript(new URL('./drivers/response-writer.ts', import.meta.url));
    onTestFinished(script.remove);
    const home = await temporaryFolder();
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const child = spawn(process.execPath, [script.path, home], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let told = -1;
      for await (const line of createInterface({ input: child.stdout })) {
        told = Number(line);
        if (told >= 4 * kill) child.kill('SIGKILL');
      }
      await ended;
      const responses = new ResponseStore(home, clock);
      for (let n = 0; n <= told; n += 1)
        expect(await responses.get('owner', String(n)), `record ${n} of ${told}`).toMatchObject({ n });
      expect((await readdir(path.join(home, 'responses'))).filter((name) => name.startsWith('.'))).toEqual(
        [],
      );
    }
  });

  it('is asked for after kill -9 at the last event of its stream', async () => {
    const settings = { SVC_HOME: await temporaryFolder(), SVC_PORT: '0', SVC_LOG_LEVEL: 'error' };
    const killed = startHearth(['serve'], settings);
    onTestFinished(() => endProcess(killed));
    const asked = { model: 'default', input: 'Hello', max_output_tokens: 4, stream: true };
    const stream = await fetch(`${await readyUrl(killed)}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    let told = '';
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (!/^event: response\.(?:completed|incomplete)$/m.test(told)) {
      const piece = await reader?.read();
      if (piece?.value === undefined) throw new Error(`The stream ended early: ${told}`);
      told += piece.value;
    }
    await endProcess(killed, 'SIGKILL');
    const [, id = ''] = /"id":"(resp_\w+)"/.exec(told) ?? [];
    const next = startHearth(['serve'], settings);
    onTestFinished(() => endProcess(next));
    const found = await fetch(`${await readyUrl(next)}/v1/responses/${id}`);
    expect(found.status).toBe(200);
    expect(await found.json()).toMatchObject({
      id,
      status: expect.stringMatching(/^(completed|incomplete)$/),
    });
  });
});
