/** Keeps responses in the home named by the argument, and prints the id of each when it is told as stored. */
import { ResponseStore } from '../../../../src/store/responses/response-store.ts';

const [, , home = ''] = process.argv;
const responses = new ResponseStore(home, { unixMs: () => Date.now() });
for (let n = 0; ; n += 1) {
  const record = responses.begin('owner', String(n));
  record.add(`{"before":"${'x'.repeat(10_000)}",`);
  await record.end(`"n":${n}}`);
  process.stdout.write(`${n}\n`);
}
