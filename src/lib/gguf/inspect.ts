/**
 * lib/gguf owns the check of a local GGUF file: opened without following a final link, refused with failures of the
 * catalogue, and parsed in a thread if it is large. It knows nothing of the store.
 */
import * as gguf from '../../../packages/gguf/src/gate/inspect.ts';
import { GgufError } from '../../../packages/gguf/src/gguf-error.ts';
import type { OpenFile } from '../../../packages/gguf/src/open-file.ts';
import { fail } from '../errors/svc-error.ts';
import { openPlainFile } from '../files/plain-file.ts';

const openPlain: OpenFile = async (path) => {
  const { file, stamp } = await openPlainFile(path);
  return { file, sizeBytes: stamp.sizeBytes };
};

/** Throws only `gguf_invalid`, `file_unusable`, `file_not_found` or `store_unreadable`. */
const withFailures =
  <Answer>(inspect: (path: string, open: OpenFile) => Promise<Answer>) =>
  async (path: string): Promise<Answer> => {
    try {
      return await inspect(path, openPlain);
    } catch (error) {
      if (error instanceof GgufError) throw fail('gguf_invalid', { path, reason: error.message }, error);
      if (!isSystemError(error)) throw error;
      throw fail('file_unusable', { path, reason: `it cannot be read (${error.code})` }, error);
    }
  };

export const inspectGguf = withFailures(gguf.inspectGguf);
export const inspectGgufPart = withFailures(gguf.inspectGgufPart);
export const inspectModelOrAdapter = withFailures(gguf.inspectModelOrAdapter);
export const inspectProjector = withFailures(gguf.inspectProjector);
export const readContents = withFailures(gguf.readContents);
export const readMakerDefaults = withFailures(gguf.readMakerDefaults);
export const readMatrixTypes = withFailures(gguf.readMatrixTypes);
export const readTemplateText = withFailures(gguf.readTemplateText);
export const readTensorShapes = withFailures(gguf.readTensorShapes);
export const readVocabularyFacts = withFailures(gguf.readVocabularyFacts);

function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** Questions for gate-thread.ts. */
export const gateQuestions = {
  inspectGguf,
  inspectGgufPart,
  inspectModelOrAdapter,
  inspectProjector,
  readContents,
  readTensorShapes,
  readVocabularyFacts,
} as const;
