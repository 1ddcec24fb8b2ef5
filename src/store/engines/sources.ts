/** Makes upstreams and commands from entries. Keys are read when needed, and never stored. */
import { readFile, stat } from 'node:fs/promises';
import { DEFAULT_DEADLINES, DEFAULT_MAX_CALLS } from '../../server/engine/upstream/limits.ts';
import type { Upstream } from '../../server/engine/upstream/ports.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoCode } from '../../lib/files/durable.ts';
import type { UpstreamEntry, CommandEntry } from './entry.ts';
import type { CommandSource } from '../../server/engine/command/source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function openUpstream(entry: UpstreamEntry, env: Environment): Upstream {
  const {
    name,
    baseUrl,
    dialect,
    privacy,
    publicKey = null,
    deadlines,
    maxCalls = DEFAULT_MAX_CALLS,
  } = entry;
  return {
    name,
    baseUrl,
    dialect,
    privacy,
    publicKey,
    maxCalls,
    deadlines: { ...DEFAULT_DEADLINES, ...deadlines },
    key: () => readKey(entry, env),
    ca: () => readAuthority(entry),
  };
}

/** Identifies an upstream for its residency: any change makes another upstream. */
export function upstreamRevision({
  baseUrl,
  dialect,
  keyEnv,
  keyFile,
  caFile,
  publicKey,
  maxCalls,
  deadlines,
}: UpstreamEntry): string {
  return JSON.stringify([baseUrl, dialect, keyEnv, keyFile, caFile, publicKey, maxCalls, deadlines]);
}

async function readKey({ name, keyEnv, keyFile }: UpstreamEntry, env: Environment): Promise<string | null> {
  if (keyEnv !== undefined) {
    const key = env[keyEnv]?.trim();
    if (key) return checked(name, key);
    throw missing(name, `the variable ${keyEnv} is not set where hearth runs`);
  }
  if (keyFile === undefined) return null;
  try {
    if (process.platform !== 'win32' && ((await stat(keyFile)).mode & 0o077) !== 0)
      throw missing(name, `others may read ${keyFile}; run: chmod 600 ${keyFile}`);
    return checked(name, (await readFile(keyFile, 'utf8')).trim());
  } catch (error) {
    const code = errnoCode(error);
    if (code === undefined || !code.startsWith('E')) throw error;
    throw missing(name, `${keyFile}: ${code}`);
  }
}

/** A line break in a header would begin another one. */
function checked(name: string, key: string): string {
  if (/^[\x21-\x7e]{1,8192}$/.test(key)) return key;
  throw missing(name, 'it is empty or holds characters that no header carries');
}

async function readAuthority({ name, caFile }: UpstreamEntry): Promise<string | null> {
  if (caFile === undefined) return null;
  try {
    return await readFile(caFile, 'utf8');
  } catch (error) {
    throw fail('upstream_unreachable', {
      upstream: name,
      reason: `${caFile}: ${errnoCode(error) ?? 'cannot be read'}`,
    });
  }
}

const missing = (upstream: string, reason: string): Error =>
  fail('upstream_key_missing', { upstream, reason });

/** Concurrent calls if neither the user nor the command limits them. */
const USUAL_CALLS = 64;

export function commandSource(
  entry: Omit<CommandEntry, 'models'>,
): Omit<CommandSource, 'model' | 'modelWord' | 'memoryBytes'> {
  const { name, command, cwd = null, env = {}, dialect, basePath, startMs, maxCalls = USUAL_CALLS } = entry;
  return { name, command, cwd, env, dialect, basePath, startMs, maxCalls };
}
