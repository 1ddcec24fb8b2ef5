/** Finds the access token of a hub. Only hub-request.ts sends it, and nothing prints it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoCode } from '../../lib/files/durable.ts';
import { envPath } from '../../lib/files/env-path.ts';

export interface TokenSources {
  readonly tokenFile?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
}

/** Order: a named file, HF_TOKEN, HF_TOKEN_PATH, the file that `hf auth login` writes. */
export async function findToken({ tokenFile, env, userHome }: TokenSources): Promise<string | null> {
  if (tokenFile !== undefined) {
    return checkToken(
      await readFile(tokenFile, 'utf8').catch((error: unknown) => {
        throw fail('file_not_found', { path: tokenFile, param: 'token-file' }, error);
      }),
    );
  }
  if (isSet(env['HF_HUB_DISABLE_IMPLICIT_TOKEN'])) return null;
  const direct = env['HF_TOKEN']?.trim() || env['HUGGING_FACE_HUB_TOKEN']?.trim();
  if (direct) return checkToken(direct);
  const cache = envPath(env['XDG_CACHE_HOME'], userHome) ?? join(userHome, '.cache');
  const hfHome = envPath(env['HF_HOME'], userHome) ?? join(cache, 'huggingface');
  return readStored(envPath(env['HF_TOKEN_PATH'], userHome) ?? join(hfHome, 'token'));
}

async function readStored(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, 'utf8');
    return text.trim() === '' ? null : checkToken(text);
  } catch (error) {
    if (errnoCode(error) !== undefined) return null;
    throw error;
  }
}

/** The token becomes a header, so anything that could end the header is refused, without repeating it. */
function checkToken(text: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]{8,512}$/.test(token)) return token;
  throw fail('invalid_request', {
    param: 'HF_TOKEN',
    message: 'The hub token is not usable: it is empty, too long or has unusual characters.',
  });
}

export function isSet(value: string | undefined): boolean {
  return value !== undefined && ['1', 'true', 'yes', 'on'].includes(value.trim().toLowerCase());
}
