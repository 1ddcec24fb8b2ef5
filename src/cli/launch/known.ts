import path from 'node:path';
import { Type } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { isFields, parseJson } from '../../lib/base/json.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { readSettingFile } from '../../lib/files/plain-file.ts';
import { Editor, editors, Tool, tools } from './tools.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;
const Own = Type.Record(Type.String(), Type.Union([Tool, Editor]));
const MOST_BYTES = 1024 * 1024;

export const isTool = (known: Tool | Editor): known is Tool => 'program' in known;

const launchFile = (home: string): string => path.join(home, 'launch.json');

export async function knownTools(home: string): Promise<Readonly<Record<string, Tool | Editor>>> {
  return { ...tools, ...editors, ...(await ownTools(launchFile(home))) };
}

async function ownTools(file: string): Promise<Record<string, Tool | Editor>> {
  const as = 'a list of tools';
  const text = await readSettingFile(file, { as, mostBytes: MOST_BYTES }).catch((error: unknown) => {
    if (isFailure(error, 'file_not_found')) return '{}';
    throw error;
  });
  const refuse = (reason: string): Error => fail('setting_file_unusable', { path: file, as, reason });
  const value = parseJson(text);
  if (value === undefined) throw refuse('it is not JSON');
  if (!isFields(value)) throw refuse('it is not an object');
  for (const [name, entry] of Object.entries(value)) {
    if (!NAME.test(name)) throw refuse(`${JSON.stringify(name.slice(0, 40))} is no name of a tool`);
    const shape = typeof entry === 'object' && entry !== null && 'settings' in entry ? Editor : Tool;
    if (Check(shape, entry)) continue;
    const [first] = Errors(shape, entry);
    throw refuse(`${name}${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}`);
  }
  if (!Check(Own, value)) throw refuse('it is not in the form of docs/agents.md');
  return value;
}
