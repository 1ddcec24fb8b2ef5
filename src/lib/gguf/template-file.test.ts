import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSvcError, errorReason } from '../errors/svc-error.ts';
import { readTemplateFile } from './template-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-template-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function read(source: string): Promise<string> {
  const file = path.join(folder, 'chat.jinja');
  await writeFile(file, source);
  try {
    return await readTemplateFile(file);
  } catch (error) {
    return isSvcError(error) ? `${error.code}: ${errorReason(error)}` : String(error);
  }
}

describe('a template in a file', () => {
  it('is read as it stands', async () => {
    expect(await read('{{ messages[0].content }}\n')).toBe('{{ messages[0].content }}\n');
  });

  it.each([
    ['empty', ' \n', 'setting_file_unusable: it is empty'],
    ['too large', 'x'.repeat(300_000), 'setting_file_unusable: it is 300000 bytes long; the limit is 262144'],
    [
      'a text that says nothing',
      '-----BEGIN PRIVATE KEY-----',
      'setting_file_unusable: it has no tag such as {{ messages[0].content }}',
    ],
    ['hostile', '{{ x.__class__ }}', 'setting_file_unusable: it reaches for the insides of its interpreter'],
  ])('is refused when it is %s', async (_, source, refusal) => {
    expect(await read(source)).toBe(refusal);
  });

  it('is refused when it is not there, or no file', async () => {
    await expect(readTemplateFile(path.join(folder, 'nothing'))).rejects.toMatchObject({
      code: 'file_not_found',
    });
    await expect(readTemplateFile(folder)).rejects.toMatchObject({ code: 'setting_file_unusable' });
  });
});
