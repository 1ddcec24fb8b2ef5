/** A home that cannot be changed, has no room, or holds what is no file: the service serves, or says why in one sentence. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { importFile } from '../../../src/store/install/import.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import { loadIdentity } from '../../../src/trust/identity/instance.ts';
import { needsReadable, NOBODY } from '../../support/process/other-user.ts';
import {
  builtDist,
  collect,
  endProcess,
  hearth,
  readyUrl,
  startHearth,
} from '../../support/process/hearth.ts';
import { temporaryFolder, writeChat } from '../../support/temp-home.ts';

const uid = process.geteuid?.() === 0 ? { uid: NOBODY } : {};
/** What another user must be able to read to run Hearth. */
const PROGRAM = [process.execPath, join(builtDist, 'cli', 'main.js')];
const settings = (home: string) => ({
  SVC_HOME: home,
  SVC_PORT: '0',
  SVC_NUM_THREADS: '1',
  SVC_HUB_HOSTS: '',
});

/** One sentence on stderr, and nothing of the inside of the program. */
function expectSentence(stderr: string, about: RegExp): void {
  expect(stderr).toMatch(about);
  expect(stderr).not.toMatch(/^\s+at |node:internal|Error:/m);
}

describe('a home that this user cannot change', () => {
  it('serves what is in it, says once that it is read-only, and keeps nothing', async (context) => {
    const home = await readOnlyHome(true);
    needsReadable(context, ...PROGRAM, home);
    const child = startHearth(['serve'], settings(home), uid);
    const output = collect(child);
    onTestFinished(() => endProcess(child));
    const url = await readyUrl(child, output);
    const ask = (path: string, body: object, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'm', ...body }),
      });
    const messages = [{ role: 'user', content: 'Hi' }];
    const frozen = { 'X-Svc-Evidence-Mode': 'frozen-v1' };
    expect((await ask('/v1/chat/completions', { messages, max_tokens: 4 }, frozen)).status).toBe(200);
    expect((await ask('/v1/responses', { input: 'Hi', max_output_tokens: 4 })).status).toBe(200);
    await endProcess(child);
    expect(child.exitCode).toBe(0);
    expect(output.stderr().match(/is read-only: it is served as it is/g)).toHaveLength(1);
    expect(output.stderr()).not.toMatch(/EACCES|EROFS|EPERM/);
    const listing = execFileSync('find', [
      home,
      '-name',
      'tuning',
      '-o',
      '-name',
      'responses',
      '-o',
      '-name',
      '*.lock',
    ]);
    expect(listing.toString()).toBe('');
    expectSentence(
      (await hearth(['default', 'm'], settings(home), uid)).stderr,
      /cannot be written \(EACCES\)/,
    );
  });

  it('and without an identity is refused in a sentence', async (context) => {
    const home = await readOnlyHome(false);
    needsReadable(context, ...PROGRAM, home);
    const { code, stderr } = await hearth(['serve'], settings(home), uid);
    expect(code).toBe(1);
    expectSentence(stderr, /instance" cannot be written \(EACCES\); check its owner/);
  });
});

describe('a first start', () => {
  it('on a full disk says which file has no room', async (context) => {
    const home = await fullDisk(context);
    const { code, stderr } = await hearth(['serve'], settings(home));
    expect(code).toBe(1);
    expectSentence(stderr, /There is not enough room for ".*" \(ENOSPC\); free some space/);
  });
});

describe.skipIf(process.platform === 'win32')('what is no file, in the place of', () => {
  it.each<[string, string[]]>([
    ['instance/key.pem', ['serve']],
    ['instance/id', ['serve']],
    ['config.toml', ['serve']],
    ['serve.lock', ['serve']],
    ['instance', ['serve']],
  ])('%s is named, not waited for', async (name, verb) => {
    const home = await temporaryFolder();
    await loadIdentity({ home });
    await rm(join(home, name), { recursive: true, force: true });
    if (name === 'instance') await writeFile(join(home, name), '');
    else execFileSync('mkfifo', [join(home, name)]);
    const { code, stderr } = await hearth(verb, settings(home));
    expect(code).not.toBe(0);
    expectSentence(stderr, new RegExp(`${name}.*(?:pipe|plain file|ENOTDIR|EEXIST)`));
  });
});

async function readOnlyHome(complete: boolean): Promise<string> {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const home = join(folder, 'home');
  await mkdir(home);
  if (complete) {
    await loadIdentity({ home });
    await importFile(openRegistry({ home }), await writeChat(folder), { id: 'm' });
  }
  // Another's folder, or this user's own without the right to write.
  if (process.geteuid?.() === 0) execFileSync('chown', ['-R', `${NOBODY}`, folder]);
  execFileSync('chmod', ['-R', 'a-w', home]);
  onTestFinished(() => void execFileSync('chmod', ['-R', 'u+w', home]));
  return home;
}

/** A file system of its own without a free byte, or a skipped test that says why. */
async function fullDisk(context: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a small tmpfs cannot be mounted here: ${String(error).split('\n')[0]}`);
  }
  onTestFinished(() => void execFileSync('/bin/umount', ['-l', folder]));
  await writeFile(join(folder, 'everything'), Buffer.alloc(4096));
  return folder;
}
