import { parseDuration } from '../../../lib/base/duration.ts';
import { EngineStore } from '../../../store/engines/engine-store.ts';
import { CliFailure, type CliContext, EXIT_CODES } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';

const LONGEST_MS = 7 * 24 * 3_600_000;

export function engineStore(context: CliContext): EngineStore {
  return new EngineStore(localRegistry(context.config()).store);
}

export function named(type: 'upstream' | 'command' | 'pool'): string {
  return { upstream: 'an upstream', command: 'an engine', pool: 'a pool' }[type];
}

export function readChoice<T extends string>(
  flag: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  throw new CliFailure(`${flag} must be one of ${allowed.join(', ')}`, EXIT_CODES.usage);
}

export function duration(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseDuration(value);
  if (ms !== undefined && ms >= 1 && ms <= LONGEST_MS) return ms;
  throw new CliFailure(`${flag} must be a duration of at most 7 days, such as 30s or 10m`, EXIT_CODES.usage);
}

export function count(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_536) return Number(value);
  throw new CliFailure(`${flag} must be a whole number from 1 to 65536`, EXIT_CODES.usage);
}

export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [key in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]?: V });
}
