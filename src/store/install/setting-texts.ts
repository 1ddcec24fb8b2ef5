/**
 * Settings that are a text: the chat template and the tool format. A known name or the text itself is stored. Only
 * this file opens a path, and only one that the user of this machine wrote: in a command, or in a manifest from
 * before texts were stored.
 */
import { isAbsolute, resolve } from 'node:path';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import { knownTemplate } from '../../../packages/chat-templates/src/form/known-templates.ts';
import { didYouMean, nearest } from '../../lib/base/nearest.ts';
import { fail, isFailure, isSvcError } from '../../lib/errors/svc-error.ts';
import { readTemplateFile, templateTextDefect } from '../../lib/gguf/template-file.ts';
import { isFormatChoice } from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import { readFormat, readFormatFile } from '../../lib/tool-format/format-file.ts';
import type { ModelManifest, ModelParams } from '../files/manifest.ts';
import type { Registry } from '../registry/registry.ts';

interface TextSetting {
  readonly isName: (value: string) => boolean;
  readonly defect: (text: string) => string | null;
  readonly readFile: (path: string) => Promise<string>;
}

const TEXT_SETTINGS = {
  template: {
    isName: (value) => knownTemplate(value) !== undefined,
    defect: (text) => templateTextDefect(text) ?? null,
    readFile: readTemplateFile,
  },
  toolFormat: {
    isName: isFormatChoice,
    defect: (text) => {
      const read = readFormat(text);
      return 'defect' in read ? `cannot be used: ${read.defect}` : null;
    },
    readFile: readFormatFile,
  },
} as const satisfies Readonly<Partial<Record<keyof ModelParams, TextSetting>>>;

const LONGEST_NAME = 64;

type TextSettingName = keyof typeof TEXT_SETTINGS;
const NAMES = Object.keys(TEXT_SETTINGS) as TextSettingName[];

export const isTextSetting = (name: string): name is TextSettingName => Object.hasOwn(TEXT_SETTINGS, name);

/** Throws `invalid_request` for an unusable text; never opens a file. */
export function checkTexts(patch: { readonly [Name in TextSettingName]?: string | null | undefined }): void {
  for (const name of NAMES) {
    const value = patch[name];
    const { isName, defect } = TEXT_SETTINGS[name];
    if (value === undefined || value === null || isName(value)) continue;
    const { wire, read, expects, names } = LOAD_SETTINGS[name];
    const meant = didYouMean(nearest(value.slice(0, LONGEST_NAME), names));
    const isOdd = read(value) === undefined;
    const reason = isOdd ? `is not usable; write ${expects}` : defect(value);
    if (reason === null) continue;
    throw fail('invalid_request', { param: wire, message: `${wire} ${reason}.${isOdd ? meant : ''}` });
  }
}

/** Accepts a known name, the text, or a path whose text is returned. Only for input of the user of this machine. */
export async function textFromCommand(name: TextSettingName, word: string): Promise<string> {
  const { wire, read, expects, names } = LOAD_SETTINGS[name];
  const known = read(word);
  if (known !== undefined) return known;
  const path = resolve(word);
  try {
    return await TEXT_SETTINGS[name].readFile(path);
  } catch (error) {
    // A misspelt name gets the list of names, not only "no such file".
    if (!isFailure(error, 'file_not_found')) throw error;
    const meant = didYouMean(nearest(word.slice(0, LONGEST_NAME), names));
    const message = `${wire} is neither a known name nor a file: there is no ${JSON.stringify(path)}; write ${expects}.${meant}`;
    throw fail('invalid_request', { param: wire, message }, error);
  }
}

/**
 * Copies the files that older versions named in manifests. A model for which `onFailure` is called cannot be loaded
 * until the setting is set again.
 */
export async function copyNamedFiles(
  registry: Registry,
  onFailure: (sentence: string) => void,
): Promise<void> {
  for (const model of await registry.list()) {
    for (const name of NAMES) {
      try {
        await copyNamed(registry, model, name);
      } catch (error) {
        if (!isSvcError(error)) throw error;
        const { wire } = LOAD_SETTINGS[name];
        onFailure(
          `${model.id} cannot be loaded: its ${wire} names a file that was not copied. ${error.message} Then run: hearth set ${model.id} ${wire}=FILE`,
        );
      }
    }
  }
}

async function copyNamed(
  registry: Registry,
  { id, params }: ModelManifest,
  name: TextSettingName,
): Promise<void> {
  const path = params[name];
  if (path === undefined || !isAbsolute(path)) return;
  const text = await TEXT_SETTINGS[name].readFile(path);
  await registry.store.change(`hearth serve: ${name} of ${id}`, async (writer) => {
    const now = (await writer.installed()).manifests.find((model) => model.id === id);
    if (now?.params[name] !== path) return;
    await writer.putManifest({ ...now, params: { ...now.params, [name]: text } });
  });
}
