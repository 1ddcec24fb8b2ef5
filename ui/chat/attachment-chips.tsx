import { FileText, Image, ScanSearch, X } from 'lucide';
import { useState } from 'preact/hooks';
import { bytes, count, plural } from '../parts/figures.ts';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Picture } from './picture.tsx';
import { type Attachment, sentText } from './talk/attachments.ts';
import { LEAST_CHARS } from './talk/passages.ts';
import { embeddingModel, isToSearch } from './talk/searching.ts';

interface Facts {
  readonly files: readonly Attachment[];
  readonly onRemove?: (at: number) => void;
  /** Switches an unsent file between passages and the whole; repeats the search of a sent one. */
  readonly onSearch: (at: number) => void;
}

export function AttachmentChips({ files, onRemove, onSearch }: Facts) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map((file, at) => (
        <li key={`${file.name} ${at}`}>
          <Chip file={file} />
          {canSearch(file, onRemove === undefined) ? (
            <IconButton
              icon={ScanSearch}
              {...(onRemove === undefined
                ? { name: `Ask ${file.name} once more` }
                : {
                    name: `Only what matches in ${file.name}`,
                    words: 'Only what matches',
                    isPressed: isToSearch(file),
                  })}
              onClick={() => onSearch(at)}
            />
          ) : null}
          {onRemove === undefined ? null : (
            <IconButton icon={X} name={`Remove ${file.name}`} onClick={() => onRemove(at)} />
          )}
        </li>
      ))}
    </ul>
  );
}

const canSearch = ({ text, passages }: Attachment, isSent: boolean): boolean =>
  embeddingModel() !== undefined && (isSent ? passages !== undefined : text.length >= LEAST_CHARS);

function sizeWords(file: Attachment): string {
  const { text, image, passages = [] } = file;
  if (image !== undefined)
    return `${count(image.width)} × ${count(image.height)}, ${bytes((image.url.length * 3) / 4)}`;
  if (isToSearch(file)) return `passages of ${count(text.length)} characters`;
  if (passages.length > 0)
    return `${plural(passages.length, 'passage')}, ${count(sentText(file).length)} of ${count(text.length)} characters`;
  const pages = /\.pdf$/i.test(file.name) ? [...text.matchAll(/^\[Page \d+\]$/gm)].length : 0;
  if (pages > 0) return `${plural(pages, 'page')}, ${plural(text.length, 'character')}`;
  return `${plural(text.split('\n').length, 'line')}, ${plural(text.length, 'character')}`;
}

function Chip({ file }: { file: Attachment }) {
  const { name, text, image } = file;
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
        <small>{sizeWords(file)}</small>
      </summary>
      {isToSearch(file) ? (
        <p class="hint">
          The passages that match your message are chosen when you send it, by {embeddingModel()}.
        </p>
      ) : null}
      {image === undefined ? <pre tabIndex={0}>{isToSearch(file) ? text : sentText(file)}</pre> : null}
      {image !== undefined && isOpen ? <Picture image={image} name={name} isWhole /> : null}
    </details>
  );
}
