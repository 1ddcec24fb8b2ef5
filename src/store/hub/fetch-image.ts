/** Fetches an image from an address that a client named: bounded, and from public hosts only. */
import { type AccessOptions, openAccess } from './access.ts';
import { requestHub, translate } from './hub-request.ts';

export const FETCH_LIMITS = { bytes: 20 * 1024 * 1024, ms: 20_000, stallMs: 10_000 } as const;

/** No host has this name, so none is trusted and none gets credentials. */
const NO_HUB = 'https://hub.invalid';

export type FetchOptions = Pick<AccessOptions, 'trustedHosts' | 'resolveAll' | 'stallMs'>;

export function imageFetcher(options: FetchOptions): (address: string) => Promise<string> {
  const access = openAccess({ stallMs: FETCH_LIMITS.stallMs, ...options, endpoint: NO_HUB });
  return async (address) => {
    const signal = AbortSignal.timeout(FETCH_LIMITS.ms);
    try {
      const url = new URL(address);
      url.hash = '';
      const answer = await requestHub(access, { url, what: 'the image', repo: url.host, signal });
      const type = imageType(answer.headers['content-type']);
      if (type === null) answer.destroy();
      if (type === null) throw new Error('what is there is no image');
      return `data:${type};base64,${(await bounded(answer)).toString('base64')}`;
    } catch (error) {
      if (signal.aborted)
        throw new Error(`it did not come within ${FETCH_LIMITS.ms / 1000} s`, { cause: error });
      throw translate(access, error);
    }
  };
}

function imageType(header: string | undefined): string | null {
  const [type = ''] = (header ?? '').toLowerCase().split(';');
  return /^image\/[\w.+-]{1,64}$/.test(type.trim()) ? type.trim() : null;
}

async function bounded(answer: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of answer) {
      size += part.length;
      if (size > FETCH_LIMITS.bytes) throw new Error(`it has more than ${FETCH_LIMITS.bytes} bytes`);
      parts.push(part);
    }
  } finally {
    answer.destroy();
  }
  return Buffer.concat(parts);
}
