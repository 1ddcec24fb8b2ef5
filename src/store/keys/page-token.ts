/**
 * Secret of the web page, which proves that its user runs the service. Only that user can read it in the home, and
 * each start makes a new one.
 */
import { join } from 'node:path';
import { writeDurably } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';

const tokenFile = (home: string): string => join(home, 'page-token');

export async function keepPageToken(home: string, token: string): Promise<void> {
  await writeDurably(tokenFile(home), `${token}\n`);
}

export async function readPageToken(home: string): Promise<string | null> {
  return (await readText(tokenFile(home)))?.trim() ?? null;
}
