import type { RequestDetail } from '../../../wire/operation/requests.ts';

type Headers = Readonly<Record<string, string>>;

export function httpArchive(requests: readonly RequestDetail[], creator: { name: string; version: string }) {
  return { log: { version: '1.2', creator, entries: requests.map(harEntry) } };
}

function harEntry(request: RequestDetail) {
  const { text, ...view } = request;
  const type = text?.response.headers['content-type'] ?? '';
  return {
    startedDateTime: new Date(request.started_ms).toISOString(),
    time: request.total_ms,
    request: {
      method: request.method,
      url: `http://localhost${text?.path ?? request.route}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: listed(text?.request.headers ?? {}),
      queryString: [],
      headersSize: -1,
      bodySize: text === undefined ? -1 : text.request.body.length,
      ...(text === undefined || text.request.body === ''
        ? {}
        : { postData: { mimeType: 'application/json', text: text.request.body } }),
    },
    response: {
      status: request.status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: listed(text?.response.headers ?? {}),
      content: {
        size: text === undefined ? -1 : text.response.body.length,
        mimeType: type,
        ...(text === undefined ? {} : { text: text.response.body }),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: harTimings(request),
    _hearth: view,
  };
}

/** HAR's terms: blocked is queue and load, wait the prompt, receive the answer. */
function harTimings(request: RequestDetail) {
  const blocked = (request.queue_ms ?? 0) + (request.load_ms ?? 0);
  const receive = request.decode_ms ?? 0;
  return { blocked, send: 0, wait: Math.max(0, request.total_ms - blocked - receive), receive };
}

const listed = (headers: Headers): { name: string; value: string }[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));
