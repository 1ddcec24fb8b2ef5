/** hearth run in a real pseudo-terminal: over a scripted engine, so that what is seen is exact, and over a real one. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { entry } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { Terminal } from '../support/process/terminal.ts';
import { answer, done, forEver, gate, queued, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { temporaryFolder } from '../support/temp-home.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

const service = scriptedService({ streamHeadAfterMs: 0 });

/** A conversation with the scripted service, from its first prompt on. */
async function opened(
  args: readonly string[] = [],
  env: Record<string, string> = {},
  nodeFlags: readonly string[] = [],
): Promise<Terminal> {
  const home = env['SVC_HOME'] ?? (await temporaryFolder());
  await mkdir(home, { recursive: true });
  const settings = { SVC_HOME: home, SVC_PORT: String(service.port), ...env };
  const terminal = new Terminal([...nodeFlags, ...entry(['run', installed.chat, ...args])], settings, home);
  onTestFinished(() => terminal.remove());
  await terminal.sees('/help lists the commands.');
  await terminal.sees('> ');
  return terminal;
}

const asked = (): string[] => {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('no chat was submitted');
  return job.prompt.turns.map(({ content }) => content);
};

describe('a conversation in a terminal', () => {
  it('goes from question to answer and ends with Ctrl-D', async () => {
    const terminal = await opened();
    service.engine.plays(answer('It is **', 'bold**.'));
    terminal.types('Say something\r');
    await terminal.sees('It is ');
    expect(await terminal.sees('> ')).toContain('**bold**.\n');
    expect(terminal.raw).toContain('\u001b[0;1m**bold**');
    expect(await terminal.types(CTRL_D).ended()).toBe(0);
    // The terminal is left as it was found.
    expect(terminal.raw).toContain(PASTE_ON);
    expect(terminal.raw.endsWith(PASTE_OFF)).toBe(true);
  });

  it('is stopped by Ctrl-C, down to the engine, and goes on', async () => {
    const terminal = await opened();
    service.engine.plays([started(), text('Endless '), forEver()]);
    terminal.types('Talk\r');
    await terminal.sees('Endless ');
    terminal.types(`never sent${CTRL_C}`);
    expect(await terminal.sees('> ')).toContain('Stopped; what was said so far is kept.');
    expect(await service.engine.lastJob.ended).toBe('aborted');
    terminal.types('Go on\r');
    await terminal.sees('Hello there.');
    expect(asked()).toEqual(['Talk', 'Endless ', 'Go on']);
    await terminal.sees('> ');
    terminal.types(CTRL_C);
    await terminal.sees('Press Ctrl-C again to leave');
    await terminal.sees('> ');
    expect(await terminal.types(CTRL_C).ended()).toBe(0);
  });

  it('is stopped by Ctrl-C also when the garbage collector has run meanwhile', async () => {
    // fetch holds the signal that it is given weakly, once the head of a response has arrived.
    const terminal = await opened([], {}, ['--gc-interval=500', '--gc-global']);
    const pieces = Array.from({ length: 300 }, (_, index) => text(`${index} `));
    service.engine.plays([started(), ...pieces, forEver()]);
    terminal.types('Count\r');
    await terminal.sees('299 ');
    terminal.types(CTRL_C);
    await terminal.sees('Stopped; what was said so far is kept.');
    expect(await service.engine.lastJob.ended).toBe('aborted');
  });

  it('shows what it waits for, and reasoning, and takes the former away', async () => {
    const terminal = await opened();
    const [waiting, thinking] = [gate(), gate()];
    service.engine.plays([
      queued(1, 'loading model tiny-chat'),
      waiting.opened,
      started(),
      { type: 'reasoning', text: 'Let me see.' },
      thinking.opened,
      text('Four.'),
      done(),
    ]);
    terminal.types('What is 2+2?\r');
    await terminal.sees('loading model tiny-chat…');
    waiting.open();
    await terminal.sees('\r\u001b[K\u001b[2mLet me see.');
    thinking.open();
    expect(await terminal.sees('> ')).toContain('Four.\n');
  });

  it('says an error and asks again', async () => {
    const terminal = await opened();
    service.engine.plays(
      [fail('context_length_exceeded', { promptTokens: 900, numCtx: 512 })],
      answer('Fine.'),
    );
    terminal.types('A long story\r');
    expect(await terminal.sees('> ')).toMatch(
      /the prompt is 900 tokens long[^]*Nothing was dropped[^]*\/clear/,
    );
    // The question can be had again.
    terminal.types(`${UP}\r`);
    await terminal.sees('Fine.');
    expect(asked()).toEqual(['A long story']);
  });

  it('takes a paste of several lines as one message, and triple quotes too', async () => {
    const terminal = await opened();
    terminal.types('\u001b[200~first\rsecond\r\u001b[201~');
    await terminal.sees('[pasted 1: 2 lines]');
    terminal.types(' end\r');
    await terminal.sees('Hello there.');
    expect(asked()).toEqual(['first\nsecond end']);
    await terminal.sees('> ');
    terminal.types('/clear\r');
    await terminal.sees('> ');
    terminal.types('"""one\r');
    await terminal.sees('... ');
    terminal.types('two"""\r');
    await terminal.sees('Hello there.');
    expect(asked()).toEqual(['one\ntwo']);
  });

  it('keeps what is typed during an answer for afterwards, without showing it in between', async () => {
    const terminal = await opened();
    const open = gate();
    service.engine.plays([started(), text('One '), open.opened, text('answer.'), done()], answer('Two.'));
    terminal.types('First\r');
    await terminal.sees('One ');
    terminal.types('Second\r');
    // Output of the same terminal comes in order: what is typed would be echoed before what follows the gate.
    open.open();
    const seen = await terminal.sees('answer.');
    expect(seen).not.toContain('Second');
    await terminal.sees('Second');
    await terminal.sees('Two.');
  });

  it('remembers lines from one session to the next in a private file, unless told not to', async () => {
    const home = await temporaryFolder();
    const first = await opened([], { SVC_HOME: home });
    first.types('Remember me\r');
    await first.sees('Hello there.');
    await first.sees('> ');
    first.types(' a secret\r');
    await first.sees('Hello there.');
    await first.sees('> ');
    await first.types(CTRL_D).ended();
    const file = path.join(home, 'run-history');
    expect(await readFile(file, 'utf8')).toBe('Remember me\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const second = await opened([], { SVC_HOME: home });
    second.types(UP);
    await second.sees('Remember me');
    second.types('\r');
    await second.sees('Hello there.');
    const third = await opened([], { SVC_HOME: path.join(home, 'none'), SVC_RUN_HISTORY: '0' });
    third.types('Forget me\r');
    await third.sees('Hello there.');
    await third.sees('> ');
    await third.types(CTRL_D).ended();
    await expect(stat(path.join(home, 'none', 'run-history'))).rejects.toThrow('ENOENT');
  });

  it('gives the terminal back when it is told to end', async () => {
    const terminal = await opened();
    terminal.signal('SIGTERM');
    await terminal.ended();
    expect(terminal.raw.endsWith(PASTE_OFF)).toBe(true);
  });
});

describe('a model', () => {
  const over = async (...args: string[]): Promise<Terminal> => {
    const settings = { SVC_HOME: await temporaryFolder(), SVC_PORT: String(service.port) };
    const terminal = new Terminal(entry(['run', ...args]), settings);
    onTestFinished(() => terminal.remove());
    return terminal;
  };

  it('that is not installed is said at once, with the one that was meant', async () => {
    const terminal = await over('tiny-chta');
    await terminal.sees('did you mean tiny-chat?');
    expect(await terminal.ended()).toBe(4);
  });

  it('that gives vectors is refused at once', async () => {
    const terminal = await over(installed.embedding);
    await terminal.sees('cannot chat');
    expect(await terminal.ended()).toBe(2);
  });

  it('need not be named for a question', async () => {
    service.engine.plays(answer('Four.'));
    const terminal = await over('What is 2+2?');
    await terminal.sees('Four.');
    expect(await terminal.ended()).toBe(0);
    expect(service.engine.lastJob.submission.target.modelId).toBe(installed.chat);
  });

  it('is changed within a conversation', async () => {
    const terminal = await opened();
    terminal.types('/model tiny-chta\r');
    await terminal.sees('did you mean tiny-chat?');
    await terminal.sees('> ');
    terminal.types(`/model ${installed.slashed}\r`);
    await terminal.sees(`${installed.slashed} answers (window: `);
    await terminal.sees('> ');
    terminal.types('Hi\r');
    await terminal.sees('Hello there.');
    expect(service.engine.lastJob.submission.target.modelId).toBe(installed.slashed);
  });
});

describe('files of a conversation', () => {
  it('are private, come back, and replace nothing that was there', async () => {
    const home = await temporaryFolder();
    await writeFile(path.join(home, 'mine.json'), 'mine');
    const terminal = await opened([], { SVC_HOME: home });
    terminal.types('Hi\r');
    await terminal.sees('Hello there.');
    await terminal.sees('> ');
    terminal.types('/save mine.json\r');
    await terminal.sees('mine.json exists already');
    await terminal.sees('> ');
    terminal.types('/save talk.json\r');
    await terminal.sees('Saved;');
    await terminal.sees('> ');
    expect((await stat(path.join(home, 'talk.json'))).mode & 0o777).toBe(0o600);
    terminal.types('/clear\r');
    await terminal.sees('> ');
    terminal.types('/load talk.json\r');
    await terminal.sees('2 messages loaded');
    await terminal.sees('> ');
    terminal.types('And?\r');
    await terminal.sees('Hello there.');
    expect(asked()).toEqual(['Hi', 'Hello there.', 'And?']);
    expect(await readFile(path.join(home, 'mine.json'), 'utf8')).toBe('mine');
  });
});

describe('with a real engine', () => {
  let installation: Installation;
  let served: Served;
  beforeAll(async () => {
    installation = await Installation.make({ trained: false });
    served = await installation.serve({ SVC_NUM_THREADS: '1' });
  });
  afterAll(() => installation.remove());

  async function talk(): Promise<Terminal> {
    const bin = path.join(installation.folder, 'bin', 'hearth.js');
    const cwd = path.join(installation.folder, 'cwd');
    await mkdir(cwd, { recursive: true });
    const settings = { SVC_HOME: installation.home, SVC_PORT: served.port };
    const terminal = new Terminal([bin, 'run'], settings, cwd);
    onTestFinished(() => terminal.remove());
    await terminal.sees('hearth-mini answers (window: ');
    await terminal.sees('> ');
    return terminal;
  }

  it('Ctrl-C ends the work of the worker', async () => {
    const terminal = await talk();
    terminal.types('Talk forever\r');
    await terminal.sees('evaluating the prompt…');
    // Some text of the answer, whatever the model says.
    await terminal.sees(' ');
    terminal.types(CTRL_C);
    await terminal.sees('Stopped');
    await expect
      .poll(async () => (await served.client.get('/svc/residency')).body.data)
      .toMatchObject([{ id: 'hearth-mini', running: 0 }]);
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    expect(metrics).toMatch(/duration_seconds_count\{[^}]*error_type="cancelled"[^}]*\} 1$/m);
  });

  it('a full window is said, and /clear helps', async () => {
    const terminal = await talk();
    terminal.types('/set num_ctx=128\r');
    await terminal.sees('> ');
    terminal.types(`${'many words '.repeat(60)}\r`);
    await terminal.sees('/clear begins anew');
    await terminal.sees('> ');
    terminal.types('/clear\r');
    await terminal.sees('A new conversation.');
    await terminal.sees('> ');
    terminal.types('Hi\r');
    await terminal.sees('evaluating the prompt…');
    await terminal.sees('> ');
  });

  it('a signed answer is saved with its request, and verifies', async () => {
    const terminal = await talk();
    terminal.types('/evidence on\r');
    await terminal.sees('> ');
    terminal.types('/set max_tokens=8\r');
    await terminal.sees('> ');
    terminal.types('Hi\r');
    await terminal.sees('Signed; /evidence shows the record.');
    await terminal.sees('> ');
    terminal.types('/evidence save answer.json\r');
    await terminal.sees('Saved. Check it with:');
    await terminal.sees('> ');
    await terminal.types('/bye\r').ended();
    const file = (name: string): string => path.join(installation.folder, 'cwd', name);
    const checked = await installation.run(
      ['evidence', 'verify', file('answer.json'), '--request', file('answer.request.json')],
      { SVC_HOME: installation.home },
    );
    expect([checked.code, checked.stderr]).toEqual([0, '']);
  });
});
