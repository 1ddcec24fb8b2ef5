/** What the headers of a request say about its caller. */
import type { IncomingMessage } from 'node:http';
import { headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';
import type { AccessFacts } from './guard.ts';

type Head = Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>;

export function readAccessFacts(request: Head): AccessFacts {
  const { headers } = request;
  return {
    host: namedHost(request),
    origin: headers.origin,
    fetchSite: headerValue(headers, 'Sec-Fetch-Site'),
    isLanding: false,
    authorization: headers.authorization,
    apiKeyHeader: headerValue(headers, REQUEST_HEADERS.apiKey),
    pageToken: headerValue(headers, REQUEST_HEADERS.pageToken),
  };
}

/**
 * What the request names as its host: the Host headers, and the authority of a whole URL in the request line where
 * that differs. More than one makes a list, which no rule allows; Node itself would show the first only.
 */
function namedHost({ rawHeaders, url = '' }: Head): string {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [...hosts, ...(authority === undefined || authority === hosts[0] ? [] : [authority])].join(', ');
}
