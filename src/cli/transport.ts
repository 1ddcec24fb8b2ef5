/**
 * Reaches the service over its socket, over TLS or over plain http. Returns responses like fetch, which supports
 * neither sockets nor trusting one certificate.
 */
import { request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { checkServerIdentity as checkName } from 'node:tls';
import type { Config } from '../config/config.ts';
import { clientHost, isLoopback, serviceOrigin } from '../config/listen-address.ts';
import { type Certificate, isNamed, isOwnAuthority, readCertificate } from '../config/tls-files.ts';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** For the verbs of hearth. */
export type Place = Pick<Config, 'host' | 'port' | 'socket' | 'tlsCert'>;

export class CertificateMismatch extends Error {}

/** For other programs on this machine. */
export function serviceUrl({ host, port, tlsCert }: Place): string {
  const reachable = clientHost(host);
  if (tlsCert === null) return serviceOrigin('http', reachable, port);
  return serviceOrigin('https', nameFor(reachable, readCertificate(tlsCert)), port);
}

/** File that clients must trust; null if they need none, or the service speaks plain http. */
export function ownAuthority({ tlsCert }: Pick<Place, 'tlsCert'>): string | null {
  return tlsCert !== null && isOwnAuthority(readCertificate(tlsCert)) ? tlsCert : null;
}

/** A host name in the certificate, so that clients accept it; the address itself if it is contained. */
function nameFor(host: string, certificate: Certificate): string {
  const candidates = [host, ...(isLoopback(host) ? ['localhost'] : []), ...certificate.names];
  return candidates.find((name) => !name.includes('*') && isNamed(certificate, name)) ?? host;
}

/** Does not follow redirects. */
export async function callService(place: Place, call: Call): Promise<Response> {
  return exchange(place.tlsCert === null || place.socket !== null ? requestHttp : requestHttps, {
    ...requestOptions(place),
    ...call,
  });
}

/** Uses the name that a client on another machine would, which the certificate must contain. */
export async function callAddress(
  { port, tlsCert }: Place,
  { host, name }: { readonly host: string; readonly name: string },
  call: Call,
): Promise<Response> {
  const headers = { ...call.headers, host: new URL(serviceOrigin('http', name, port)).host };
  const where = { ...call, host, port, agent: false as const, headers };
  if (tlsCert === null) return exchange(requestHttp, where);
  const checkServerIdentity: typeof checkName = (_, certificate) => checkName(name, certificate);
  return exchange(requestHttps, {
    ...where,
    ...trustIn(readCertificate(tlsCert)),
    ...serverName(name),
    checkServerIdentity,
  } as RequestOptions);
}

/** Trusts the certificate itself, regardless of its signer. */
const trustIn = ({ pem }: Certificate) => ({ ca: pem, allowPartialTrustChain: true });

/** Addresses are not allowed as server names. */
const serverName = (host: string) => ({ servername: isIP(host) === 0 ? host : '' });

function requestOptions({ host, port, socket, tlsCert }: Place): RequestOptions {
  if (socket !== null) return { socketPath: socket, host: 'localhost', agent: false };
  const address = { host: clientHost(host), port, agent: false as const };
  if (tlsCert === null) return address;
  const certificate = readCertificate(tlsCert);
  const { leaf } = certificate;
  // The certificate itself is known, which proves more than its names.
  return {
    ...address,
    ...trustIn(certificate),
    ...serverName(address.host),
    checkServerIdentity: (_: string, { raw }: { readonly raw: Buffer }) =>
      raw.equals(leaf.raw) ? undefined : new CertificateMismatch('another certificate'),
  } as RequestOptions;
}

function exchange(
  request: typeof requestHttp,
  { method, path, headers, body, signal, ...where }: RequestOptions & Pick<Call, 'body'>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...where,
        method,
        path,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        ...(signal === undefined ? {} : { signal }),
      },
      (incoming) => {
        const head = new Headers();
        for (const [name, value] of Object.entries(incoming.headersDistinct))
          for (const each of value ?? []) head.append(name, each);
        const status = incoming.statusCode ?? 0;
        const stream =
          status === 204 || status === 304 ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
        resolve(new Response(stream, { status, headers: head }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
