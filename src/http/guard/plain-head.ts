/**
 * Reads the head of a request where nothing about it is unusual, and gives up on everything else: null sends the bytes to
 * node:http, which is the judge of what HTTP is. What is read here, node:http reads alike; a test holds the two together.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface PlainHead {
  readonly method: string;
  readonly url: string;
  /** Names in lower case, each once. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Where the body begins, and how long the head says it is. */
  readonly headBytes: number;
  readonly bodyBytes: number;
}

const REQUEST_LINE = /^([A-Z]+) (\/[\w/.-]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([A-Za-z0-9-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
/** They change how the body is read, or what the connection is. */
const UNUSUAL = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te']);
const END = Buffer.from('\r\n\r\n');
const LENGTH = /^\d{1,9}$/;

/** `bytes` are the first of a connection; at most `maxBytes` of them, in `maxHeaders` headers, are a head. */
export function readPlainHead(
  bytes: Buffer,
  { maxBytes, maxHeaders }: { readonly maxBytes: number; readonly maxHeaders: number },
): PlainHead | null {
  const end = bytes.indexOf(END);
  if (end === -1 || end > maxBytes) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method, url] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || url === undefined || lines.length > maxHeaders) return null;
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  const rawHeaders: string[] = [];
  for (const line of lines) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    const key = name.toLowerCase();
    if (key in headers || UNUSUAL.has(key)) return null;
    headers[key] = value;
    rawHeaders.push(name, value);
  }
  const { connection = '', 'content-length': length = '' } = headers;
  if (!LENGTH.test(length) || /upgrade/i.test(connection)) return null;
  const headBytes = end + END.length;
  return { method, url, headers, rawHeaders, headBytes, bodyBytes: Number(length) };
}
