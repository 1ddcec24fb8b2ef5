import { FileText, X } from 'lucide';
import { count, plural } from '../parts/figures.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import type { Attachment } from './talk/attachments.ts';

interface Facts {
  readonly files: readonly Attachment[];
  /** Absent: they are sent already. */
  readonly onRemove?: (at: number) => void;
}

/** Files of a message; each opens to the text that the model reads. */
export function AttachmentChips({ files, onRemove }: Facts) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map(({ name, text }, at) => (
        <li key={`${name} ${at}`}>
          <details>
            <summary>
              <Icon of={FileText} />
              <span class="file-name">{name}</span>
              <small>
                {plural(text.split('\n').length, 'line')}, {count(text.length)} characters
              </small>
            </summary>
            <pre tabIndex={0}>{text}</pre>
          </details>
          {onRemove === undefined ? null : (
            <IconButton icon={X} name={`Remove ${name}`} onClick={() => onRemove(at)} />
          )}
        </li>
      ))}
    </ul>
  );
}
