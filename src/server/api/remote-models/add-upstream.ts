/** hearth upstream add: the user's settings, completed by the facts that the upstream reports. */
import type { Privacy } from '../../../contract/settings/privacy.ts';
import type { Dialect, Upstream, UpstreamModel } from '../../engine/upstream/ports.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { asError, fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { checkEngineName, type EngineStore, taken } from '../../../store/engines/engine-store.ts';
import type { KnownModel, UpstreamEntry } from '../../../store/engines/entry.ts';
import { type Environment, openUpstream } from '../../../store/engines/sources.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { parsePublicKey } from '../../../trust/identity/dsse.ts';
import { served } from './directory.ts';
import type { OwnProbe } from './own-probe.ts';
import { BlockList, isIP } from 'node:net';

export interface AskedUpstream
  extends Pick<
    UpstreamEntry,
    'keyEnv' | 'keyFile' | 'caFile' | 'publicKey' | 'models' | 'deadlines' | 'maxCalls'
  > {
  readonly name: string;
  readonly url: string;
  readonly dialect: Dialect | null;
  readonly privacy: Privacy | null;
}

export interface AddPorts {
  readonly registry: Pick<Registry, 'list'>;
  readonly engines: Pick<EngineStore, 'put' | 'read'>;
  readonly probe: OwnProbe;
  readonly env: Environment;
}

export interface AddedUpstream {
  readonly entry: UpstreamEntry;
  readonly silent: Error | null;
  readonly offered: number;
}

/**
 * Without a dialect the upstream must respond now; otherwise it may be offline. One that fails the pinned key's proof
 * is not added.
 */
export async function addUpstream(ports: AddPorts, asked: AskedUpstream): Promise<AddedUpstream> {
  const { name, url, dialect, privacy, ...said } = asked;
  await checkFree(ports, name);
  const baseUrl = readUpstreamUrl(url);
  const before = (await ports.engines.read()).entries.find((entry) => entry.name === name);
  const draft: UpstreamEntry = {
    schema: 1,
    type: 'upstream',
    name,
    baseUrl,
    dialect: dialect ?? 'openai',
    privacy: privacy ?? addressPrivacy(baseUrl),
    ...defined(said),
    aliases: before?.type === 'upstream' ? before.aliases : {},
    ...(before?.type === 'upstream' && before.limits !== undefined ? { limits: before.limits } : {}),
    known: [],
    addedAt: new Date(systemClock.unixMs()).toISOString(),
  };
  const { signal } = new AbortController();
  const found = dialect ?? (await ports.probe.detect(openUpstream(draft, ports.env), signal));
  const entry = { ...draft, dialect: found };
  checkPinned(entry);
  let silent: Error | null = null;
  const known = await provedModels(ports.probe, openUpstream(entry, ports.env), signal).catch(
    (error: unknown) => {
      if (isFailure(error, 'upstream_unproved')) throw error;
      silent = asError(error);
      return [];
    },
  );
  const added = { ...entry, known: [...served(entry, known.map(knownModel))] };
  await ports.engines.put(added);
  return { entry: added, silent, offered: known.length };
}

export async function provedModels(
  probe: Pick<OwnProbe, 'proved' | 'models'>,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<readonly UpstreamModel[]> {
  await probe.proved(upstream, signal);
  return probe.models(upstream, signal);
}

function checkPinned({ publicKey, dialect, name }: UpstreamEntry): void {
  if (publicKey === undefined) return;
  const refuse = (message: string): Error => fail('invalid_request', { param: 'public_key', message });
  if (parsePublicKey(publicKey) === null)
    throw refuse('The public key is not one in PEM, as hearth evidence pubkey prints it.');
  if (dialect !== 'hearth')
    throw refuse(`Upstream "${name}" speaks ${dialect}; only a Hearth can prove that it has a public key.`);
}

/** Installed models with this prefix would hide an engine's. */
export async function checkFree({ registry }: Pick<AddPorts, 'registry'>, name: string): Promise<void> {
  checkEngineName(name);
  const hidden = (await registry.list()).find(({ id }) => id === name || id.startsWith(`${name}/`));
  if (hidden !== undefined) throw taken(name, `the installed model ${hidden.id} begins with it`);
}

export const knownModel = (model: UpstreamModel): KnownModel => ({
  ...model,
  media: model.media === null ? null : [...model.media],
});

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

export function readUpstreamUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  } catch {
    throw refuse('is not a URL; write for example http://10.0.0.5:8000');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw refuse('must not hold a key; name a variable with --key-env, or a file with --key-file');
  if (url.search !== '' || url.hash !== '') throw refuse('must end with its path');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|models)$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

const OWN_NETWORK = new BlockList();
for (const [address, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  OWN_NETWORK.addSubnet(address, bits);
OWN_NETWORK.addSubnet('fc00::', 7, 'ipv6');
OWN_NETWORK.addSubnet('fe80::', 10, 'ipv6');

/** Names of the public network count as remote. */
export function addressPrivacy(baseUrl: string): Privacy {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return 'local';
  const version = isIP(host);
  if (version !== 0) return OWN_NETWORK.check(host, version === 6 ? 'ipv6' : 'ipv4') ? 'lan' : 'remote';
  return !host.includes('.') || /\.(?:local|lan|internal|home\.arpa)$/.test(host) ? 'lan' : 'remote';
}

const refuse = (what: string): Error =>
  fail('invalid_request', { param: 'url', message: `The URL of an upstream ${what}.` });
