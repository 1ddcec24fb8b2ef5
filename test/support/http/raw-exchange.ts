/** Bytes over a bare socket, for what no HTTP client would send, and the answers cut out of what comes back. */
import net from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** Bytes after the last whole answer. */
  readonly rest: string;
}

const patienceMs = 60_000;

/**
 * Writes the pieces and waits until the server has closed the connection; one that it keeps open is a failure.
 * With `halfClose` the client says that no more will come, which Node's server takes for its going away.
 */
export async function exchange(
  port: number,
  pieces: readonly (string | Buffer)[],
  { halfClose = false } = {},
): Promise<Exchange> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('end', resolve);
    socket.once('close', () => resolve());
    // A reset is one of the ways in which a server may hang up; what it said before counts.
    socket.once('error', () => resolve());
    const hang = () =>
      reject(new Error(`the connection stays open after: ${Buffer.concat(received).toString('latin1')}`));
    setTimeout(hang, patienceMs).unref();
  });
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece;
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  }
  if (halfClose) socket.end();
  await closed.finally(() => socket.destroy());
  return parse(Buffer.concat(received).toString('latin1'));
}

function parse(text: string): Exchange {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (true) {
    const found = cutAnswer(rest);
    if (!found) return { answers, rest };
    answers.push(found.answer);
    rest = found.rest;
  }
}

function cutAnswer(text: string): { answer: RawAnswer; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...fields] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
  if (end < 0 || Number.isNaN(status)) return undefined;
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const length = status < 200 ? 0 : Number(headers['content-length'] ?? text.length);
  const from = end + 4;
  const body = text.slice(from, from + length);
  return { answer: { status, headers, body }, rest: text.slice(from + length) };
}
