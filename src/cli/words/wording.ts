/**
 * cli/words owns the CLI's texts for people: it knows no verb and no terminal. The service's sentences are written
 * for HTTP clients; these replace them in a terminal.
 */
import { HEADERS } from '../../wire/headers.ts';

const PHRASES: readonly (readonly [http: string, terminal: string])[] = [
  ['choose one from GET /v1/models', 'choose one that hearth list shows'],
  ['choose one from GET /svc/cache/pins', 'list yours with: hearth cache pins'],
  ['model from GET /v1/models', 'model that hearth list shows'],
  [
    'send Authorization: Bearer <key> with the value of SVC_API_KEY',
    'set SVC_API_KEY to the key of the service',
  ],
  ['use https:// in place of http://', 'set SVC_TLS_CERT to its certificate'],
  [`without the ${HEADERS.evidenceMode} header`, 'without evidence'],
];

export function inCliWords(sentence: string): string {
  return PHRASES.reduce((text, [http, terminal]) => text.replaceAll(http, terminal), sentence);
}
