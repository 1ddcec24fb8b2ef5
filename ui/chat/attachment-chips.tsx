import { FileText, Image, X } from 'lucide';
import { useState } from 'preact/hooks';
import { bytes, count, plural } from '../parts/figures.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Picture } from './picture.tsx';
import type { Attachment } from './talk/attachments.ts';

interface Facts {
  readonly files: readonly Attachment[];
  /** Absent: they are sent already. */
  readonly onRemove?: (at: number) => void;
}

/** Files of a message; each opens to what the model gets. */
export function AttachmentChips({ files, onRemove }: Facts) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map((file, at) => (
        <li key={`${file.name} ${at}`}>
          <Chip file={file} />
          {onRemove === undefined ? null : (
            <IconButton icon={X} name={`Remove ${file.name}`} onClick={() => onRemove(at)} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Chip({ file: { name, text, image } }: { file: Attachment }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {image === undefined || isOpen ? (
          <Icon of={image === undefined ? FileText : Image} />
        ) : (
          <Picture image={image} name={name} isWhole={false} />
        )}
        <span class="file-name">{name}</span>
        <small>
          {image === undefined
            ? `${plural(text.split('\n').length, 'line')}, ${count(text.length)} characters`
            : `${count(image.width)} × ${count(image.height)}, ${bytes((image.url.length * 3) / 4)}`}
        </small>
      </summary>
      {image === undefined ? <pre tabIndex={0}>{text}</pre> : null}
      {image !== undefined && isOpen ? <Picture image={image} name={name} isWhole /> : null}
    </details>
  );
}
