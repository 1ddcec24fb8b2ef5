import { expect, it } from 'vitest';
import { temporaryFolder, temporaryRegistry, writeChat } from '../../../../test/support/temp-home.ts';
import { setParams } from '../../../store/install/changes.ts';
import { importFile } from '../../../store/install/import.ts';
import { installedModels } from './installed-models.ts';

it('a model may think where a text of its user says how it writes', async () => {
  const registry = await temporaryRegistry();
  const folder = await temporaryFolder();
  await importFile(registry, await writeChat(folder), { id: 'm' });
  const models = installedModels(registry);
  expect((await models.find('m')).reasoning).toBe(false);
  await setParams(registry, 'm', { template: 'gemma' });
  expect((await models.find('m')).reasoning).toBe(false);
  await setParams(registry, 'm', { template: '<think>{{ messages[0].content }}</think>' });
  expect((await models.find('m')).reasoning).toBe(true);
});
