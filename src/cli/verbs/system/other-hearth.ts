/**
 * Lets another version of Hearth, in a folder of its own, do its part of a comparison: one process per piece of work.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Side } from '../../../server/api/upgrade/side.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { CliFailure, EXIT_CODES } from '../../context.ts';
import { runWithInput } from '../../service/programs.ts';

/** Not in the help: one version calls another with it. Takes the work as JSON and prints the result. */
export const WORK_OPTION = '--work';

export type Work =
  | { readonly kind: 'measure'; readonly casesWithinMs: number | null; readonly withinMs: number }
  | ({ readonly kind: 'replay' } & Pick<Parameters<Side['replay']>[0], 'requests' | 'replies'>)
  | { readonly kind: 'speed'; readonly tokens: readonly number[] };

interface Watched {
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

export function doWork(side: Side, work: Work, watched: Watched): Promise<unknown> {
  switch (work.kind) {
    case 'measure':
      return side.measure({ ...work, ...watched });
    case 'replay':
      return side.replay({ ...work, ...watched });
    case 'speed':
      return side.leastMs(work.tokens, watched.signal);
  }
}

export interface OtherHearth {
  readonly folder: string;
  readonly home: string;
  readonly model: string;
}

export function otherHearth(other: OtherHearth): Side {
  if (!existsSync(programIn(other.folder))) {
    throw new CliFailure(
      `${other.folder} holds no Hearth: there is no bin/hearth.js; name the folder of a checkout or a package`,
      EXIT_CODES.notFound,
    );
  }
  const result = async <T>(work: Work, watched: Watched): Promise<T> =>
    (await askOther(other, work, watched)) as T;
  return {
    measure: ({ casesWithinMs, withinMs, ...watched }) =>
      result({ kind: 'measure', casesWithinMs, withinMs }, watched),
    replay: ({ requests, replies, signal, onProgress }) =>
      result(
        { kind: 'replay', requests, ...(replies === undefined ? {} : { replies }) },
        { signal, onProgress },
      ),
    leastMs: (tokens, signal) => result({ kind: 'speed', tokens }, { signal, onProgress: () => {} }),
  };
}

const programIn = (folder: string): string => path.join(folder, 'bin', 'hearth.js');

async function askOther(
  { folder, home, model }: OtherHearth,
  work: Work,
  { signal, onProgress }: Watched,
): Promise<unknown> {
  const command = [process.execPath, programIn(folder), '--home', home, 'upgrade', model, WORK_OPTION];
  const { code, stdout, stderr } = await runWithInput(command, JSON.stringify(work), {
    signal,
    onOutput: onProgress,
  });
  if (code !== 0) throw fail('other_hearth_failed', { folder, reason: lastLine(stderr) });
  return JSON.parse(stdout);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
