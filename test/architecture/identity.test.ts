/** Who asks is read from a request in one place; whatever else names these headers sends them, or takes them out. */
import { expect, it } from 'vitest';
import { files, textOf } from './sources.ts';

const NAMING: Readonly<Record<string, string>> = {
  'server/http/guard/guard.ts': 'reads them and decides',
  'wire/headers.ts': 'names them',
  'server/http/request-log.ts': 'takes them out',
  'cli/log/logger.ts': 'takes them out',
  'cli/api.ts': 'sends the key of the service',
  'cli/verbs/server/serve.ts': 'shows how to send it',
  'cli/words/wording.ts': 'a sentence for people',
  'lib/errors/request-errors.ts': 'a sentence for people',
  'server/engine/upstream/http/exchange.ts': 'sends the key of an upstream',
  'store/hub/hub-request.ts': 'sends the token of the hub',
  'store/libraries/package-source.ts': 'sends the credentials of a proxy',
};

it('the headers that hold keys are read by the guard alone', () => {
  const code = (file: string): string =>
    textOf(file).replaceAll(/^\s*\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const naming = files.filter((file) =>
    /authorization|x-api-key|apiKeyHeader|HEADERS\.apiKey/i.test(code(file)),
  );
  expect(naming).toEqual(Object.keys(NAMING).toSorted());
});
