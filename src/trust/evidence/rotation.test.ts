/** A rotation while a service runs: what it signs, what it shows, and who believes that. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleFacts } from '../../../test/support/records/sample-record.ts';
import { type InstanceIdentity, loadIdentity, replaceKey } from '../identity/instance.ts';
import { signIdentity } from '../identity/sign-identity.ts';
import { newEvidenceIssuer } from './issuer.ts';
import { keyringFromJson, parseKeyring } from './keyring.ts';
import type { EvidenceMember } from './record.ts';
import { HAND_OVER_MS, readKeyHistory, readSigningKey, rotateKey } from './rotation.ts';
import { findServiceFault } from './shown-keys.ts';
import { checkChain, checkSignature, conclude, openRecord, parseStatement } from './verify.ts';

const START_MS = 1_790_000_000_500;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-rotation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function running() {
  const home = await mkdtemp(path.join(folder, 'home-'));
  const identity = await loadIdentity({ home });
  const clock = { now: START_MS, unixMs: () => clock.now };
  const issuer = newEvidenceIssuer({
    identity,
    version: '0',
    clock,
    serverSource: Promise.resolve({ sha256: 'ab'.repeat(32), files: [], folder: '' }),
    backend: async () => null,
    signingKey: () => readSigningKey(home, identity.instanceId),
  });
  const issue = async (): Promise<EvidenceMember> => (await issuer.issue(sampleFacts())).member;
  const rotate = () => rotateKey(home, clock.now + HAND_OVER_MS);
  const history = async () => keyringFromJson(await readKeyHistory(home));
  return { home, identity, clock, issue, rotate, history };
}

const opened = (member: EvidenceMember) => {
  const record = openRecord(member);
  return { record, payload: record.payload, statement: parseStatement(record.payload) };
};

describe('a service whose key is rotated', () => {
  it('leads a verifier that has only the first key to the history', async () => {
    const { home, identity, issue, rotate } = await running();
    await rotate();
    const { record } = opened(await issue());
    const first = parseKeyring(identity.keys.publicKeyPem);
    const [finding] = checkSignature(record, first, parseStatement).findings;
    expect(finding).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('pubkey --history') });
    const history = parseKeyring(JSON.stringify(await readKeyHistory(home)));
    expect(checkSignature(record, history, parseStatement).findings[0]?.outcome).toBe('passed');
  });

  it('signs nothing while its hand-overs cannot be read', async () => {
    const { home, identity, rotate } = await running();
    await rotate();
    const rotations = path.join(home, 'instance', 'rotations');
    await rm(rotations, { recursive: true });
    await writeFile(rotations, '');
    await expect(readKeyHistory(home)).rejects.toThrow('ENOTDIR');
    await expect(readSigningKey(home, identity.instanceId)).rejects.toThrow('ENOTDIR');
  });

  it('signs with the new key at once, and the records before and after stay verifiable', async () => {
    const { clock, identity, issue, rotate, history } = await running();
    const members = [await issue()];
    for (const later of [0, 1, 5_000]) {
      await rotate();
      members.push(await issue());
      clock.now += later;
      members.push(await issue());
    }
    const keyring = await history();
    const records = members.map(opened);
    for (const { record } of records) {
      expect(conclude(checkSignature(record, keyring, parseStatement).findings)).toMatchObject({
        exitCode: 0,
        level: 'L0',
      });
    }
    const issuers = records.map(({ statement }) => statement.predicate.issuer);
    expect(new Set(issuers.map(({ keyid }) => keyid)).size).toBe(4);
    expect(new Set(issuers.map(({ boot_id: boot }) => boot))).toEqual(new Set([identity.bootId]));
    // One chain over all keys.
    expect(checkChain(records).map(({ outcome }) => outcome)).toEqual(Array(6).fill('passed'));
  });

  it('dates nothing with the old key after the hand-over, however the two processes interleave', async () => {
    const { home, clock, issue, rotate, history } = await running();
    const old = await readFile(path.join(home, 'instance', 'key.pem'), 'utf8');
    await rotate();
    const next = await readFile(path.join(home, 'instance', 'key.pem'), 'utf8');
    // The hand-over is on the disk, and the key is not yet.
    await writeFile(path.join(home, 'instance', 'key.pem'), old);
    const before = await issue();
    clock.now += HAND_OVER_MS + 1000;
    await expect(issue()).rejects.toMatchObject({
      code: 'evidence_unavailable',
      message: expect.stringContaining('hearth evidence rotate'),
    });
    await writeFile(path.join(home, 'instance', 'key.pem'), next);
    for (const member of [before, await issue()]) {
      const { findings } = checkSignature(openRecord(member), await history(), parseStatement);
      expect(conclude(findings).exitCode).toBe(0);
    }
    // A rotation that was interrupted is made again.
    await writeFile(path.join(home, 'instance', 'key.pem'), old);
    await rotate();
    clock.now += 1;
    const { findings } = checkSignature(openRecord(await issue()), await history(), parseStatement);
    expect(conclude(findings).exitCode).toBe(0);
  });

  it('signs nothing with a key that is not its own', async () => {
    const { home, issue } = await running();
    const other = await running();
    await replaceKey(home, other.identity.keys);
    await expect(issue()).rejects.toMatchObject({
      code: 'instance_unusable',
      message: expect.stringContaining('never had'),
    });
    await rm(path.join(home, 'instance', 'key.pem'));
    await expect(issue()).rejects.toMatchObject({ message: expect.stringContaining('is missing') });
    await rm(path.join(home, 'instance'), { recursive: true });
    await loadIdentity({ home });
    await expect(issue()).rejects.toMatchObject({ message: expect.stringContaining('another instance') });
  });
});

describe('the identity that it shows', () => {
  const nonce = 'nonce-12345678';
  const shownBy = async (home: string, identity: InstanceIdentity) => {
    const body = { object: 'svc.identity', instance_id: identity.instanceId, boot_id: identity.bootId };
    const signer = await readSigningKey(home, identity.instanceId);
    return { ...body, signature: signIdentity(body, nonce, signer) };
  };

  it('is believed by all who knew an earlier key, or the instance id, and by nobody who knows a later one', async () => {
    const { home, identity, rotate } = await running();
    const shown = [await shownBy(home, identity)];
    for (let count = 0; count < 2; count += 1) {
      await rotate();
      shown.push(await shownBy(home, identity));
    }
    expect(shown[0]?.signature).not.toHaveProperty('key_history');
    for (const [at, body] of shown.entries()) {
      expect(findServiceFault(body, { nonce, pinned: { instanceId: identity.instanceId } })).toBeNull();
      for (const [known, { signature }] of shown.entries()) {
        const fault = findServiceFault(body, { nonce, pinned: { keyid: signature.keyid } });
        expect([at, known, fault === null]).toEqual([at, known, known <= at]);
      }
    }
    expect(
      findServiceFault(shown[2] ?? {}, { nonce: 'another-nonce', pinned: { keyid: identity.keys.keyid } }),
    ).toContain('nonce');
  });

  it('is not believed with a history of others, or one that was cut or altered', async () => {
    const { home, identity, rotate } = await running();
    await rotate();
    const stranger = await running();
    await stranger.rotate();
    const own = await shownBy(home, identity);
    const theirs = await shownBy(stranger.home, stranger.identity);
    const history = (await readKeyHistory(home)) ?? { rotations: [] };
    const pinned = { keyid: identity.keys.keyid };
    for (const key_history of [
      theirs.signature.key_history,
      { ...history, rotations: [] },
      { ...history, instance_id: stranger.identity.instanceId },
      {},
      null,
      'x',
    ]) {
      const forged = { ...own, signature: { ...own.signature, key_history } };
      expect(findServiceFault(forged, { nonce, pinned })).not.toBeNull();
    }
    // Another service's own words, under the pinned id.
    const claimed = { ...theirs, instance_id: identity.instanceId };
    for (const expected of [pinned, { instanceId: identity.instanceId }])
      expect(findServiceFault(claimed, { nonce, pinned: expected })).not.toBeNull();
  });

  it('is a file of keys for a verifier', async () => {
    const { home, identity, issue, rotate } = await running();
    const first = await issue();
    const early = parseKeyring(JSON.stringify(await shownBy(home, identity)));
    await rotate();
    const later = parseKeyring(JSON.stringify(await shownBy(home, identity)));
    const code = (member: EvidenceMember, keyring: typeof early) =>
      conclude(checkSignature(openRecord(member), keyring, parseStatement).findings).exitCode;
    expect([code(first, early), code(first, later), code(await issue(), later)]).toEqual([0, 0, 0]);
    expect(() => parseKeyring('{"object":"svc.identity"}')).toThrow('not a key history');
  });
});
