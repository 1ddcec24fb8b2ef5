import { signal } from '@preact/signals';
import { bytes, plural } from '../../parts/figures.ts';
import { freshId } from '../../parts/fresh-id.ts';
import { whyNot } from '../../parts/stored.ts';
import { sentenceOf } from '../../service/client.ts';
import { keepDraftFiles, loadDraftFiles, mergedFiles } from './draft-files.ts';
import { noteKept, noteRoom, whyUnkept } from './keeping.ts';
import { type Passage, passageText } from './passages.ts';

export interface Attachment {
  readonly name: string;
  /** As the model reads it; empty for an image. */
  readonly text: string;
  readonly image?: AttachedImage;
  /** The parts to send; empty until chosen with the message. Absent: the whole text. */
  readonly passages?: readonly Passage[];
}

export interface WaitingFile extends Attachment {
  readonly id: string;
}

export interface AttachedImage {
  /** PNG or JPEG as a data URL, the form in which it is sent. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** Larger texts fill the window of any model. */
const MOST_BYTES = 1_000_000;
/** A longer paste becomes a file, because it would push the question out of sight. */
const MOST_PASTED_CHARS = 4000;

const waiting = signal<Readonly<Record<string, readonly WaitingFile[]>>>({});
/** By draft: why a file was not attached, or not searched. */
const attachFaults = signal<Readonly<Record<string, string | null>>>({});
export const findAttachFault = (draft: string): string | null => attachFaults.value[draft] ?? null;
export function setAttachFault(draft: string, fault: string | null): void {
  attachFaults.value = { ...attachFaults.value, [draft]: fault };
}

/** The draft of each reading, which may move while it lasts. */
const readings = signal<Readonly<Record<string, string>>>({});

export const isReadingFor = (draft: string): boolean => Object.values(readings.value).includes(draft);

export function moveReadings(from: string, to: string): void {
  const moved = Object.entries(readings.value).map(([id, draft]) => [id, draft === from ? to : draft]);
  readings.value = Object.fromEntries(moved) as typeof readings.value;
}

export const attachedTo = (draft: string): readonly WaitingFile[] => waiting.value[draft] ?? [];
export const attachedDrafts = (): string[] => Object.keys(waiting.peek());

export function setAttached(draft: string, files: readonly WaitingFile[]): void {
  const old = attachedTo(draft);
  if (old.length === 0 && files.length === 0) return;
  const gone = old.filter((each) => !files.some(({ id }) => id === each.id));
  waiting.value = { ...waiting.value, [draft]: files };
  void keep(
    draft,
    gone.map(({ id }) => id),
  );
}

const waitingFile = (file: Attachment): WaitingFile => ({ ...file, id: freshId() });

export const attach = (draft: string, file: Attachment): void =>
  setAttached(draft, [...attachedTo(draft), waitingFile(file)]);

export function sentFile(unsent: WaitingFile): Attachment {
  const { id: _, ...file } = unsent;
  return file;
}

async function keep(draft: string, gone: readonly string[] = []): Promise<void> {
  const files = attachedTo(draft);
  try {
    await keepDraftFiles(draft, files, gone);
    noteKept(`files ${draft}`, null);
    await noteRoom();
  } catch (error) {
    noteKept(`files ${draft}`, files.length === 0 ? null : whyNot(error));
  }
}

export function keepAttachedAgain(): void {
  for (const draft of attachedDrafts()) if (whyUnkept(`files ${draft}`) !== null) void keep(draft);
}

export async function restoreAttached(): Promise<void> {
  const stored = await loadDraftFiles<WaitingFile>();
  for (const [draft, files] of Object.entries(stored))
    waiting.value = { ...waiting.value, [draft]: mergedFiles(files, attachedTo(draft)) };
}

export async function attachFiles(draft: string, files: Iterable<File>): Promise<void> {
  setAttachFault(draft, null);
  const id = freshId();
  readings.value = { ...readings.value, [id]: draft };
  const read = await Promise.allSettled([...files].map(readFile));
  const { [id]: now = draft, ...others } = readings.value;
  readings.value = others;
  const fresh = read.flatMap((each) => (each.status === 'fulfilled' ? [waitingFile(each.value)] : []));
  setAttached(now, [...attachedTo(now), ...fresh]);
  const failed = read.findLast((each) => each.status === 'rejected');
  if (failed !== undefined) setAttachFault(now, sentenceOf(failed.reason));
}

/** False: short enough for the message itself. */
export function attachPaste(draft: string, text: string): boolean {
  if (text.length <= MOST_PASTED_CHARS) return false;
  const number = attachedTo(draft).length + 1;
  attach(draft, { name: `Pasted text ${number}`, text });
  return true;
}

async function readFile(file: File): Promise<Attachment> {
  if (file.type.startsWith('image/') && file.type !== 'image/svg+xml')
    return (await import('./read-image.ts')).readImage(file);
  if (file.type === 'application/pdf' || /\.pdf$/i.test(file.name))
    return (await import('./read-pdf.ts')).readPdf(file);
  return readText(file);
}

async function readText(file: File): Promise<Attachment> {
  const size = `${file.name} has ${bytes(file.size)}, and at most ${bytes(MOST_BYTES)} can be attached`;
  if (file.size > MOST_BYTES) throw new Error(`${size}; attach the part that matters.`);
  const text = decode(await file.arrayBuffer());
  if (text === null)
    throw new Error(`${file.name} is no text, PDF or image; attach one of these, or paste the text itself.`);
  return { name: file.name, text };
}

function decode(content: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Each file in a fence that nothing in it can close, then the message. */
export function withAttached(text: string, files: readonly Attachment[] = []): string {
  const texts = files.filter(({ image }) => image === undefined);
  return [...texts.map(fenced), text].filter((part) => part !== '').join('\n\n');
}

export const attachedImages = (files: readonly Attachment[] = []): AttachedImage[] =>
  files.flatMap(({ image }) => image ?? []);

export const sentText = ({ text, passages }: Attachment): string =>
  passages === undefined ? text : passageText(text, passages);

function fenced(file: Attachment): string {
  const { name, passages } = file;
  const text = sentText(file);
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  const part = passages === undefined ? '' : ` (${plural(passages.length, 'passage')} of it)`;
  return `File: ${name.replaceAll(/[\r\n]/g, ' ')}${part}\n${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}
