/** hearth top: live in a real pseudo-terminal, once and plain in a pipe. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { JobBoard } from '../../src/server/engine/observe/job-board.ts';
import { createEngine } from '../../src/server/engine/scheduler/loop.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import { silentLogger } from '../../src/lib/base/logger.ts';
import { ECHO_ENGINE, echoBackend, echoModels } from '../support/engine/echo-backend.ts';
import { scriptedService } from '../support/http/scripted-service.ts';
import { entry, hearth, type Settings } from '../support/process/hearth.ts';
import { Terminal } from '../support/process/terminal.ts';
import { temporaryFolder } from '../support/temp-home.ts';

const board = new JobBoard(systemClock);
const engine = createEngine({
  backends: { [ECHO_ENGINE]: echoBackend },
  clock: systemClock,
  log: silentLogger,
  freeMemory: () => [],
  observers: [board],
});
const service = scriptedService({ models: false, over: { models: echoModels, engine, board } });

async function settings(): Promise<Settings> {
  return { SVC_HOME: await temporaryFolder(), SVC_PORT: String(service.port) };
}

describe('hearth top', () => {
  it('shows a model as it is loaded, and leaves the terminal as it was', async () => {
    const terminal = new Terminal(entry(['top']), await settings());
    onTestFinished(() => terminal.remove());
    await terminal.sees('Hearth at http://127.0.0.1:');
    await terminal.sees('No model is loaded');
    await service.client.chat({ messages: [{ role: 'user', content: 'one two' }] });
    await terminal.sees('echo   chat   ready   window 64');
    expect(await terminal.types('q').ended()).toBe(0);
    // The other screen is left again; before it stands only that another home's service answers.
    const [before = '', screen] = terminal.raw.split('\u001b[?1049h');
    expect(before.trim()).toMatch(/^\S[^\n]*$/);
    expect(screen).toBeDefined();
    expect(terminal.raw.endsWith('\u001b[?1049l')).toBe(true);
    await engine.unload('echo');
  });

  it('ends with 3 and a plain line where no server answers', async () => {
    const home = await temporaryFolder();
    const terminal = new Terminal(entry(['top']), { SVC_HOME: home, SVC_PORT: '1' });
    onTestFinished(() => terminal.remove());
    await terminal.sees('no server answers');
    expect(await terminal.ended()).toBe(3);
    expect(terminal.raw).not.toContain('\u001b[?1049h');
  });

  it('tells the state once in a pipe, as text or as JSON', async () => {
    const env = await settings();
    const [plain, json] = [await hearth(['top'], env), await hearth(['top', '--json'], env)];
    expect(plain.code).toBe(0);
    expect(plain.stdout).toContain('No model is loaded');
    expect(plain.stdout).not.toContain('\u001b');
    expect(JSON.parse(json.stdout)).toMatchObject({ models: {}, jobs: {}, queued: 0 });
  });
});
