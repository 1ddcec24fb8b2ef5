/** Calls may have no ids; results then match them by name and order. */
import type { ToolCallTurn, Turn } from '../../../../contract/job.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import { AUDIO_KINDS, IMAGE_KINDS, kindOfBase64 } from '../../../../lib/base/file-kinds.ts';
import { writeJson } from '../../../../lib/json/spelled-numbers.ts';
import type { OllamaMessage } from '../../../../wire/ollama/request.ts';
import { orderResults } from '../../intake/result-order.ts';
import { fieldsAt, textAt } from '../fields.ts';
import {
  AUDIO_UNREAD,
  inlineAudio,
  type FoundMedium,
  IMAGE_UNREAD,
  imageAt,
  mixed,
  type MixedText,
  onlyText,
  resultImage,
  type Takes,
  type Omissions,
} from '../media.ts';

export function readTurns(messages: readonly OllamaMessage[], takes: Takes, omissions: Omissions): Turn[] {
  let open: ToolCallTurn[] = [];
  const turns = messages.map((message, index): Turn => {
    const path = `messages[${index}]`;
    const { role } = message;
    const content = (message.content ?? '').toWellFormed();
    if (role === 'user') return { role, ...readMixed(content, message.images, { path, takes }) };
    const found = (message.images ?? []).flatMap((data, at) => {
      const image = role === 'tool' ? resultImage(imageUrl(data), takes) : null;
      if (image === null) omissions.leave(`${path}.images[${at}]`, 'image');
      return image ?? [];
    });
    if (role === 'system') return { role, content };
    if (role === 'tool') return { role, ...mixed([...found, content]), ...answeredCall(message, open) };
    open = readCalls(message.tool_calls ?? [], index);
    const reasoning = (message.thinking ?? '').toWellFormed();
    return {
      role,
      content,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(open.length === 0 ? {} : { toolCalls: [...open] }),
    };
  });
  return orderResults(turns);
}

export function readMixed(
  text: string,
  images: readonly unknown[] | null | undefined,
  { path, takes }: { readonly path: string; readonly takes: Takes },
): MixedText {
  const at = path === '' ? 'images' : `${path}.images`;
  const found = (images ?? []).map((data, index) => readMedium(data, `${at}[${index}]`, takes));
  return mixed([...found, text]);
}

function imageUrl(data: unknown): string | null {
  const kind = kindOfBase64(IMAGE_KINDS, String(data));
  return kind === null ? null : `data:image/${kind};base64,${String(data)}`;
}

/** Ollama's clients send audio in `images`. */
function readMedium(data: unknown, path: string, takes: Takes): FoundMedium {
  const format = kindOfBase64(AUDIO_KINDS, String(data));
  if (format === null && !takes('image')) throw refusal(path, IMAGE_UNREAD);
  if (format === null) return readImage(data, path);
  if (!takes('audio')) throw refusal(path, AUDIO_UNREAD);
  const audio = inlineAudio(data, format);
  if (audio === null) throw refusal(path, 'must be base64');
  return audio;
}

function readImage(data: unknown, path: string): FoundMedium {
  const image = imageAt(imageUrl(data), onlyText);
  if (image === null) throw refusal(path, 'must be a PNG, JPEG, GIF, BMP or WebP image as base64');
  return image;
}

function readCalls(calls: readonly unknown[], message: number): ToolCallTurn[] {
  return calls.map((call, index) => {
    const path = `messages[${message}].tool_calls[${index}]`;
    const { id, function: named } = fieldsAt(call, path);
    const { name, arguments: given } = fieldsAt(named, `${path}.function`);
    return {
      // Deterministic ids keep the prompts of equal conversations equal.
      id: typeof id === 'string' && id !== '' ? id.toWellFormed() : `call_${message}_${index}`,
      name: textAt(name, `${path}.function.name`),
      argumentsJson: writeJson(fieldsAt(given ?? {}, `${path}.function.arguments`)).toWellFormed(),
    };
  });
}

function answeredCall(
  { tool_call_id: givenId, tool_name: givenName }: OllamaMessage,
  open: ToolCallTurn[],
): Pick<Turn, 'toolCallId' | 'name'> {
  const id = givenId ?? '';
  const asked = givenName ?? '';
  const at = open.findIndex((call) => (id === '' ? asked === '' || call.name === asked : call.id === id));
  const [call] = at < 0 ? [] : open.splice(at, 1);
  const callId = id === '' ? call?.id : id;
  const name = call?.name ?? asked;
  return {
    ...(callId === undefined ? {} : { toolCallId: callId.toWellFormed() }),
    ...(name === '' ? {} : { name: name.toWellFormed() }),
  };
}
