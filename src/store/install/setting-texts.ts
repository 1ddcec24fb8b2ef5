/**
 * Settings that hold a text of the user: the chat template and the tool format. What is kept is a known name or the text
 * itself. A file is opened only here, for a path that the user of this machine wrote: in a command, or in a manifest from
 * before texts were kept.
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
  /** Why a text is unusable, as the end of a sentence; null if it is usable. */
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

/** Limit of a word that may be a misspelt name. */
const LONGEST_NAME = 64;

type TextSettingName = keyof typeof TEXT_SETTINGS;
const NAMES = Object.keys(TEXT_SETTINGS) as TextSettingName[];

export const isTextSetting = (name: string): name is TextSettingName => Object.hasOwn(TEXT_SETTINGS, name);

/** Throws `invalid_request` for a text that cannot be used; it opens no file, whatever it is given. */
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

/**
 * What a command says of such a setting: a known name, the text, or the path of a file, whose text is returned. Only for
 * words of the user of this machine.
 */
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
 * Copies the files that older versions named in manifests; `onFailure` is told of each that cannot be, whose model is
 * loaded only when it is set again.
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
    // A value that the user has set meanwhile wins.
    if (now?.params[name] !== path) return;
    await writer.putManifest({ ...now, params: { ...now.params, [name]: text } });
  });
}
