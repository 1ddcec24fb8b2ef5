/**
 * Who asks, found out once for each request: at the door where that looks at it, else by the hooks. Looking costs a stat
 * of the key file and the hash of what is offered.
 */
import type { IncomingMessage } from 'node:http';
import { headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';
import { type AccessFacts, type AccessRules, type Asker, type NamedKeys, whoAsks } from './guard.ts';

/** Keys that people have; a file that cannot be trusted makes `refresh` reject. */
export interface FreshKeys extends NamedKeys {
  /** Whether what is known of them is all that there is to know, and can be trusted. */
  readonly isCurrent: boolean;
  refresh(): Promise<void>;
}

/** As much of a request as says who asks. */
export type Asking = Pick<IncomingMessage, 'url' | 'headers'> & { readonly rawHeaders: readonly string[] };

export class Askers {
  readonly #known = new WeakMap<Asking, Asker>();
  readonly #rules: AccessRules;
  readonly #keys: FreshKeys;

  constructor(rules: AccessRules, keys: FreshKeys) {
    this.#rules = rules;
    this.#keys = keys;
  }

  /** Null while that cannot be said at once. */
  now(request: Asking): Asker | null {
    return this.#keys.isCurrent ? this.#find(request) : null;
  }

  async of(request: Asking): Promise<Asker> {
    const known = this.#known.get(request);
    if (known !== undefined) return known;
    await this.#keys.refresh();
    return this.#find(request);
  }

  #find(request: Asking): Asker {
    const asker = whoAsks(this.#rules, this.#keys, factsOf(request));
    this.#known.set(request, asker);
    return asker;
  }
}

/** What a request says of who asks; no route has seen it. */
export function factsOf(request: Asking): AccessFacts {
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
function namedHost({ rawHeaders, url = '' }: Asking): string {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [...hosts, ...(authority === undefined || authority === hosts[0] ? [] : [authority])].join(', ');
}
