/** Records that were changed after they were signed: none of them may be called verified. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { parseKeyring } from '../../../src/trust/evidence/keyring.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';
import { hearth } from '../../support/process/hearth.ts';

let service: CampaignService;
let folder: string;
let request: Buffer;
// oxlint-disable-next-line typescript/no-explicit-any -- forgers write what they like
let honest: any;
let keyFile: string;
beforeAll(async () => {
  service = await CampaignService.make();
  await service.start();
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
  request = Buffer.from(
    JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8 }),
  );
  const reply = await service.post('/v1/chat/completions', request.toString(), {
    'X-Svc-Evidence-Mode': 'frozen-v1',
  });
  honest = await reply.json();
  const { stdout } = await hearth(['evidence', 'pubkey'], { SVC_HOME: service.home });
  parseKeyring(stdout);
  keyFile = path.join(folder, 'key.pem');
  await writeFile(keyFile, stdout);
});
afterAll(async () => {
  await service.remove();
  await rm(folder, { recursive: true, force: true });
});

scenario('evidence', async ({ seed, random, book }) => {
  const forged = structuredClone(honest);
  const change = forge(forged, random);
  const file = path.join(folder, 'answer.json');
  const asked = path.join(folder, 'request.json');
  await writeFile(file, JSON.stringify(forged));
  await writeFile(asked, request);
  const args = ['evidence', 'verify', file, '--request', asked, '--pubkey', keyFile];
  const { code, stdout, stderr } = await hearth(args, { SVC_HOME: service.home });
  book.count('forgeries');
  if (code === 0) book.found(seed, `verified although ${change}: ${stdout.slice(0, 200)}`);
  if (/^\s+at /m.test(stderr)) book.found(seed, `a stack trace for ${change}`);
});

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function forge(body: any, random: Random): string {
  const { evidence } = body;
  const payload = Buffer.from(evidence.payload, 'base64');
  const ways: readonly [string, () => void][] = [
    ['the words differ', () => (body.choices[0].message.content += 'x')],
    ['the model differs', () => (body.model = 'other')],
    ['the usage differs', () => (body.usage.completion_tokens += 1)],
    [
      'a byte of the payload differs',
      () => {
        const at = random.below(payload.length);
        payload[at] = (payload[at] ?? 0) ^ (1 << random.below(8));
        evidence.payload = payload.toString('base64');
      },
    ],
    [
      'a byte of the signature differs',
      () => {
        const sig = Buffer.from(evidence.signatures[0].sig, 'base64');
        const at = random.below(sig.length);
        sig[at] = (sig[at] ?? 0) ^ (1 << random.below(8));
        evidence.signatures[0].sig = sig.toString('base64');
      },
    ],
    [
      'the tokens differ',
      () => {
        const tokens = Buffer.from(evidence.output_tokens, 'base64');
        tokens[random.below(tokens.length)]! ^= 1;
        evidence.output_tokens = tokens.toString('base64');
      },
    ],
    ['the payload type differs', () => (evidence.payloadType = 'text/plain')],
    ['there is no signature', () => (evidence.signatures = [])],
  ];
  const [name, apply] = pick(random, ways);
  apply();
  return name;
}
