/**
 * The secret of the page: whoever shows it is the user that runs the service. It lies in the home, where only that user
 * can read it, and is another one after each start.
 */
import { join } from 'node:path';
import { writeDurably } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';

const tokenFile = (home: string): string => join(home, 'page-token');

export async function keepPageToken(home: string, token: string): Promise<void> {
  await writeDurably(tokenFile(home), `${token}\n`);
}

/** Null before the first start of a service. */
export async function readPageToken(home: string): Promise<string | null> {
  return (await readText(tokenFile(home)))?.trim() ?? null;
}
