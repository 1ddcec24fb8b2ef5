/** Short requests over one kept connection, by node:http: fetch alone costs about a millisecond. */
import http from 'node:http';
import { Refusal } from './side.ts';

export interface Asked {
  readonly ms: number;
  readonly answer: string;
}

/** One after the other over one connection, unless somebody brings a way of his own. */
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** GET, or POST where there is a body; any status but 200 is a `Refusal`. */
export async function ask(url: string, body?: object, via = agent): Promise<Asked> {
  try {
    return await send(url, body, via);
  } catch (error) {
    // A server may close a kept connection, after so many requests for example, just when the next one is sent.
    if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET')
      return await send(url, body, via);
    throw error;
  }
}

function send(url: string, body: object | undefined, via: http.Agent): Promise<Asked> {
  const begin = performance.now();
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const request = http.request(url, { agent: via, method, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        answer += part;
      });
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        if (status === 200) resolve({ ms: performance.now() - begin, answer });
        else reject(new Refusal(`${url}: ${status} ${answer.slice(0, 300)}`, status));
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}
