import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import { inspectGguf, inspectGgufPart } from './inspect.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-gate-'));
  await writeTinyChat(join(folder, 'chat.gguf'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a refusal of the gate is a failure that names the file', async () => {
  const path = join(folder, 'chat.gguf');
  await expect(inspectGgufPart(path)).rejects.toMatchObject({
    code: 'gguf_invalid',
    detail: { path, reason: 'it is not a part of a split model' },
  });
});

describe('things that are not plain files', () => {
  it.each(['nowhere.gguf', `${'a'.repeat(300)}.gguf`])('names a missing file: %s', async (name) => {
    await expect(inspectGguf(join(folder, name))).rejects.toMatchObject({ code: 'file_not_found' });
  });

  it('neither reads nor waits for folders, pipes and devices', async () => {
    await mkdir(join(folder, 'folder.gguf'));
    execFileSync('mkfifo', [join(folder, 'pipe.gguf')]);
    for (const path of [join(folder, 'folder.gguf'), join(folder, 'pipe.gguf'), '/dev/zero'])
      await expect(inspectGguf(path)).rejects.toMatchObject({ code: 'file_unusable' });
  });

  it('follows a link to a model and stops at links in a circle', async () => {
    await symlink(join(folder, 'chat.gguf'), join(folder, 'link.gguf'));
    expect(await inspectGguf(join(folder, 'link.gguf'))).toMatchObject({ architecture: 'llama' });
    await symlink(join(folder, 'ring.gguf'), join(folder, 'ring.gguf'));
    await expect(inspectGguf(join(folder, 'ring.gguf'))).rejects.toThrow(/symbolic link loop/);
  });
});
