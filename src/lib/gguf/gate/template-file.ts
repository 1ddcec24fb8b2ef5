/** A chat template in a file of its own, held to what one inside of a model is held to. */
import { TEMPLATE_LIMITS } from '../../chat-template/limits.ts';
import { sizeDefect } from '../../chat-template/template-form.ts';
import { fail } from '../../errors/svc-error.ts';
import { openPlainFile } from '../../files/plain-file.ts';
import { templateDefect } from './template-checks.ts';

/** Throws `file_unusable`, `file_not_found` or `store_unreadable`. */
export async function readTemplateFile(path: string): Promise<string> {
  const { file, stamp } = await openPlainFile(path);
  try {
    const refuse = (defect: string | undefined): void => {
      if (defect !== undefined) throw fail('file_unusable', { path, reason: `the chat template ${defect}` });
    };
    refuse(sizeDefect(stamp.sizeBytes));
    // A file may grow while it is read, so no more is read than it may have.
    const bytes = Buffer.alloc(TEMPLATE_LIMITS.sourceBytes);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const source = bytes.toString('utf8', 0, bytesRead);
    refuse(source.trim() === '' ? 'is empty' : templateDefect(source));
    return source;
  } finally {
    await file.close();
  }
}
