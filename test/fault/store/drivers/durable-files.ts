/** Writes every kind of file that is kept, in the home and from the model named by the arguments. */
import { ResponseStore } from '../../../../src/store/responses/response-store.ts';
import { importFile } from '../../../../src/store/install/import.ts';
import { openRegistry } from '../../../../src/store/registry/registry.ts';
import { rotateKey } from '../../../../src/trust/evidence/rotation.ts';
import { loadIdentity } from '../../../../src/trust/identity/instance.ts';

const [, , home = '', model = ''] = process.argv;
await loadIdentity({ home });
await rotateKey(home, Date.now());
const registry = openRegistry({ home });
await importFile(registry, model, { id: 'm', copy: true });
await registry.setDefault('m');
const responses = new ResponseStore(home, { unixMs: () => Date.now() });
await responses.begin('owner', 'id').end('{}');
await responses.settled();
