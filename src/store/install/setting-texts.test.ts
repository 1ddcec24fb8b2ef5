/** Settings that hold texts: what commands copy, what older versions named, and what nothing opens. */
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, temporaryRegistry, writeChat } from '../../../test/support/temp-home.ts';
import type { ModelParams } from '../files/manifest.ts';
import type { Registry } from '../registry/registry.ts';
import { setParams } from './changes.ts';
import { importFile } from './import.ts';
import { checkTexts, copyNamedFiles, textFromCommand } from './setting-texts.ts';

const TEMPLATE = '{{ messages[0].content }}\n';
const FORMAT = '{"thinking": {"open": "<hm>", "close": "</hm>"}}\n';

/** As a version that kept paths left it. */
async function namedBefore(registry: Registry, params: ModelParams): Promise<void> {
  await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
  const model = await registry.find('m');
  await registry.store.change('test', (writer) => writer.putManifest({ ...model, params }));
}

describe('files that older versions named', () => {
  it('are copied when the service starts', async () => {
    const registry = await temporaryRegistry();
    const folder = await temporaryFolder();
    const [template, toolFormat] = [join(folder, 'chat.jinja'), join(folder, 'format.json')];
    await writeFile(template, TEMPLATE);
    await writeFile(toolFormat, FORMAT);
    await namedBefore(registry, { template, toolFormat, topK: 3 });
    const failures: string[] = [];
    await copyNamedFiles(registry, (sentence) => failures.push(sentence));
    expect((await registry.find('m')).params).toEqual({ template: TEMPLATE, toolFormat: FORMAT, topK: 3 });
    expect(failures).toEqual([]);
  });

  it('stay named where they cannot be a template, and the user is told', async () => {
    const registry = await temporaryRegistry();
    const template = join(await temporaryFolder(), 'key.pem');
    await writeFile(template, '-----BEGIN PRIVATE KEY-----');
    await namedBefore(registry, { template });
    const failures: string[] = [];
    await copyNamedFiles(registry, (sentence) => failures.push(sentence));
    expect((await registry.find('m')).params).toEqual({ template });
    expect(failures).toEqual([expect.stringMatching(/^m cannot be loaded: .* hearth set m template=FILE$/)]);
  });

  it('leave a known name and a text alone', async () => {
    const registry = await temporaryRegistry();
    await namedBefore(registry, { template: 'alpaca', toolFormat: FORMAT });
    await copyNamedFiles(registry, (sentence) => expect.fail(sentence));
    expect((await registry.find('m')).params).toEqual({ template: 'alpaca', toolFormat: FORMAT });
  });
});

it('a command copies the file; what becomes of it later is nothing to the model', async () => {
  const registry = await temporaryRegistry();
  await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
  const file = join(await temporaryFolder(), 'chat.jinja');
  await writeFile(file, TEMPLATE);
  await chmod(file, 0o600);
  await setParams(registry, 'm', { template: await textFromCommand('template', file) });
  await rm(file);
  expect((await registry.find('m')).params).toEqual({ template: TEMPLATE });
  expect(await textFromCommand('template', 'Alpaca')).toBe('alpaca');
  await expect(textFromCommand('template', 'lama-3')).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(
      /^template is neither a known name nor a file: .*lama-3.* Did you mean llama-3/,
    ),
  });
});

it.each(['template', 'toolFormat'] as const)('%s is checked without a look at any file', async (name) => {
  const file = join(await temporaryFolder(), 'x');
  const refusal = (): string => {
    try {
      checkTexts({ [name]: file });
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const missing = refusal();
  await writeFile(file, name === 'template' ? TEMPLATE : FORMAT);
  expect([refusal(), missing]).toEqual([missing, expect.stringContaining('is not usable; write ')]);
});
