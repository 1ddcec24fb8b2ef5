/** Keys before they reach the editor, and the file of earlier lines: what hostile input and odd files can do. */
import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { InputGate } from './input-gate.ts';
import { openHistory } from './line-history.ts';

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';

/** What reaches the editor of these parts, as they arrive from a terminal. */
async function through(
  parts: readonly string[],
  held = false,
): Promise<{ text: string; interrupts: number }> {
  const keyboard = new PassThrough();
  let interrupts = 0;
  const gate = new InputGate(keyboard, () => {
    interrupts += 1;
  });
  if (held) gate.hold();
  for (const part of parts) keyboard.write(part);
  keyboard.end();
  if (held) setImmediate(() => gate.release());
  let text = '';
  for await (const piece of gate) text += String(piece);
  return { text: gate.expand(text).text, interrupts };
}

describe('keys', () => {
  it('pass as they are, a paste as one piece without the keys that nobody pressed', async () => {
    const pasted = `a${BEGIN}one\r\ntwo\u0003\u001b[A\rthree\r${END}b`;
    expect((await through([pasted])).text).toBe('aone\ntwo[A\nthreeb');
    expect((await through([`${BEGIN}one line\r${END}`])).text).toBe('one line');
  });

  it('are the same however a terminal cuts them', async () => {
    const keys = `x${BEGIN}one\rtwo${END}y\u001b[A`;
    for (let at = 2; at < keys.length; at += 1) {
      const { text } = await through([keys.slice(0, at), keys.slice(at)]);
      expect(text, String(at)).toBe('xone\ntwoy\u001b[A');
    }
    expect((await through(['\u001b', 'q'])).text).toBe('\u001bq');
  });

  it('wait while an answer runs, until Ctrl-C discards them; in a paste it is no key', async () => {
    expect(await through(['typed'], true)).toEqual({ text: 'typed', interrupts: 0 });
    expect(await through(['typed\u0003later'], true)).toEqual({ text: 'later', interrupts: 1 });
    expect(await through([`${BEGIN}a\u0003b${END}`], true)).toEqual({ text: 'ab', interrupts: 0 });
  });
});

describe('the file of earlier lines', () => {
  const opened = async (home: string) => {
    const notes: string[] = [];
    return { history: await openHistory(home, (note) => notes.push(note)), notes };
  };

  it('becomes private, keeps one of equal lines in a row, and gives the latest first', async () => {
    const home = await temporaryFolder();
    const file = path.join(home, 'run-history');
    await writeFile(file, 'old\n');
    await chmod(file, 0o644);
    const { history } = await opened(home);
    for (const line of ['old', 'new', 'new', ' private', '']) history.add(line);
    history.close();
    expect(await readFile(file, 'utf8')).toBe('old\nnew\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await opened(home)).history.recent).toEqual(['new', 'old']);
  });

  it('is cut to its latest thousand lines', async () => {
    const home = await temporaryFolder();
    const lines = Array.from({ length: 2001 }, (_, index) => `line ${index}`);
    await writeFile(path.join(home, 'run-history'), `${lines.join('\n')}\n`);
    const { history } = await opened(home);
    expect([history.recent.length, history.recent[0]]).toEqual([1000, 'line 2000']);
    expect((await readFile(path.join(home, 'run-history'), 'utf8')).split('\n')[0]).toBe('line 1001');
  });

  it('is left alone where it is a link, and the session goes on without it', async () => {
    const home = await temporaryFolder();
    const target = path.join(home, 'elsewhere');
    await writeFile(target, 'mine');
    await symlink(target, path.join(home, 'run-history'));
    const { history, notes } = await opened(home);
    history.add('line');
    expect(notes).toEqual([expect.stringContaining('Lines are not remembered')]);
    expect(await readFile(target, 'utf8')).toBe('mine');
  });
});
