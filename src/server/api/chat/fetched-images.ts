import type { Turn, TurnMedium } from '../../../contract/job.ts';
import { asError, fail, isSvcError } from '../../../lib/errors/svc-error.ts';
import type { JobContent } from '../generation/choices.ts';

export type FetchImage = (address: string) => Promise<string>;

/** Chosen: addresses of one request. Images within the request are bounded where they are read. */
const MOST_ADDRESSES = 16;

/** If a tool's image cannot be fetched, its address stays, and the image reader replaces it by a note. */
export async function withImages(content: JobContent, fetchImage: FetchImage | null): Promise<JobContent> {
  const { prompt } = content;
  if (fetchImage === null || prompt.kind !== 'chat') return content;
  const addresses = addressesIn(prompt.turns);
  if (addresses.length === 0) return content;
  if (new Set(addresses).size > MOST_ADDRESSES)
    throw fail('images_too_many', { images: new Set(addresses).size, limit: MOST_ADDRESSES });
  const found = new Map<string, string | Error>();
  // Sequential, so that one request cannot make the service open many connections at once.
  for (const address of new Set(addresses))
    found.set(address, await fetchImage(address).catch((error: unknown) => asError(error)));
  let image = 0;
  const turns = prompt.turns.map((turn): Turn => {
    if (turn.media === undefined) return turn;
    const media = turn.media.map((medium): TurnMedium => {
      if (medium.medium !== 'image') return medium;
      image += 1;
      const fetched = found.get(medium.url) ?? medium.url;
      if (typeof fetched === 'string') return { ...medium, url: fetched };
      if (turn.role === 'tool') return medium;
      throw fail('image_unusable', { image, reason: fetchReason(fetched), remedy: REMEDY }, fetched);
    });
    return { ...turn, media };
  });
  return { ...content, prompt: { ...prompt, turns } };
}

const REMEDY = 'send the image itself as a data URL';

const isAddress = (url: string): boolean => !url.startsWith('data:');

const addressesIn = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ media = [] }) =>
    media.flatMap((medium) => (medium.medium === 'image' && isAddress(medium.url) ? [medium.url] : [])),
  );

/** Removes the remedies, which are for users of a model hub. */
function fetchReason(error: Error): string {
  const { reason } = isSvcError(error) ? (error.detail as { readonly reason?: unknown }) : { reason: null };
  return `its address cannot be fetched (${typeof reason === 'string' ? reason : error.message})`;
}
