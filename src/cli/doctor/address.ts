/** Checks from this machine, with requests like those of another, if others can reach the running service. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../../config/config.ts';
import { isLoopback, isWildcard, serviceOrigin } from '../../config/listen-address.ts';
import { type Certificate, isNamed, readCertificate, readTlsFiles } from '../../config/tls-files.ts';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { routes } from '../../wire/routes.ts';
import { callAddress } from '../transport.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const PATIENCE_MS = 3000;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

export async function addressFindings(config: Config, isRunning: boolean): Promise<Finding[]> {
  if (isLoopback(config.host))
    return [ok('address', 'only this machine can reach it; docs/other-machines.md opens it to others')];
  if (!isRunning) return [ok('address', `${config.host}, once hearth serve runs`)];
  const hosts = isWildcard(config.host) ? ownAddresses(config.host === '::') : [config.host];
  if (hosts.length === 0)
    return [warning('address', 'this machine has no address in a network', 'connect it to one')];
  return Promise.all(hosts.map((host) => lookAt(config, host)));
}

/** IPv4 first, which people type. Link-local addresses are left out, because their zone differs on each machine. */
function ownAddresses(hasV6: boolean): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each = []) => each)
    .filter(({ internal, family }) => !internal && (hasV6 || family === 'IPv4'))
    .filter(({ address }) => !/^(?:fe80|169\.254)/i.test(address))
    .sort((one, other) => one.family.localeCompare(other.family))
    .map(({ address }) => address);
}

async function lookAt(config: Config, host: string): Promise<Finding> {
  const name = nameAt(config, host);
  const url = serviceOrigin(config.tlsCert === null ? 'http' : 'https', name, config.port);
  const ask = (path: string): Promise<number> => fetchStatus(config, { host, name, path });
  try {
    const found = judgeAnswers(url, await ask(routes.health.path), await ask(routes.models.path));
    return found.verdict === 'ok' && name !== host ? unnamed(found, { name, host }) : found;
  } catch (error) {
    return problem('address', `${url} does not answer (${errorMessage(error)})`, remedyFor(config, error));
  }
}

function unnamed(
  { found }: Finding,
  { name, host }: { readonly name: string; readonly host: string },
): Finding {
  return warning(
    'address',
    `${found}; its certificate does not name ${host}`,
    `have ${name} resolve to ${host} on the other machines, or name ${host} in the certificate`,
  );
}

function nameAt({ tlsCert }: Config, host: string): string {
  if (tlsCert === null) return host;
  const certificate = readCertificate(tlsCert);
  if (isNamed(certificate, host)) return host;
  return (
    certificate.names.find((name) => isIP(name) === 0 && name !== 'localhost' && !name.includes('*')) ?? host
  );
}

interface Asked {
  readonly host: string;
  readonly name: string;
  readonly path: string;
}

async function fetchStatus(config: Config, { host, name, path }: Asked): Promise<number> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const response = await callAddress(config, { host, name }, { method: 'GET', path, signal });
  await response.body?.cancel();
  return response.status;
}

export function judgeAnswers(url: string, health: number, models: number): Finding {
  if (health !== 200) {
    return problem(
      'address',
      `${url}/health answers ${health}`,
      'add the name to SVC_ALLOWED_HOSTS; hearth logs says why it was refused',
    );
  }
  if (models !== 401) {
    return problem(
      'address',
      `${url} lets clients in without a key (status ${models})`,
      'hearth key add NAME, and restart hearth serve',
    );
  }
  return ok(
    'address',
    `${url} answers, and asks for a key; if others cannot reach it, look at the firewall of this machine`,
  );
}

function remedyFor({ tlsCert }: Config, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `clients have to use a name that ${tlsCert} has, or get one that names this address`;
  return 'restart hearth serve; hearth logs says what it refused';
}

export function tlsFindings(config: Config, nowMs: number): Finding[] {
  try {
    if (config.tlsCert !== null && config.tlsKey === null) return [clientOnly(config.tlsCert)];
    const files = readTlsFiles(config);
    if (files === null) return isLoopback(config.host) ? [] : [plainWarning(config)];
    return [judgeCertificate(files.certificate, nowMs)];
  } catch (error) {
    return [problem('TLS', errorMessage(error), 'hearth serve refuses to start until this is corrected')];
  }
}

const clientOnly = (certificate: string): Finding =>
  warning(
    'TLS',
    `only SVC_TLS_CERT (${certificate}) is set, which suffices for commands`,
    'hearth serve also needs SVC_TLS_KEY',
  );

const plainWarning = ({ host }: Config): Finding =>
  warning(
    'TLS',
    `keys and prompts travel to ${host} without encryption`,
    'set SVC_TLS_CERT and SVC_TLS_KEY (docs/other-machines.md), unless you trust the network',
  );

export function judgeCertificate({ file, leaf, names }: Certificate, nowMs: number): Finding {
  const untilMs = Date.parse(leaf.validTo);
  const days = Math.floor((untilMs - nowMs) / DAY_MS);
  const renew = `renew it, then send SIGHUP to hearth serve`;
  if (Date.parse(leaf.validFrom) > nowMs) {
    return problem(
      'TLS',
      `${file} is not valid before ${leaf.validFrom}`,
      'set the clock of this machine, or use another certificate',
    );
  }
  if (untilMs <= nowMs) return problem('TLS', `${file} expired on ${leaf.validTo}`, renew);
  if (names.length === 0) {
    return problem(
      'TLS',
      `${file} names no host in subjectAltName, so no client accepts it`,
      'make one with -addext subjectAltName=… (docs/other-machines.md)',
    );
  }
  const found = `${file} is for ${names.join(', ')}, and valid for ${days} more days`;
  return days < SOON_DAYS ? warning('TLS', found, renew) : ok('TLS', found);
}
