import { describe, expect, it } from 'vitest';
import { KeyHolder } from '../../api/access/key-holder.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { Askers, type FreshKeys } from './askers.ts';

const rules = {
  allowedHosts: [],
  allowedOrigins: [],
  allowLocalPages: false,
  allowDockerHost: false,
  apiKey: null,
  ownHosts: () => [],
  needsKey: false,
};
const request = () => ({
  url: '/',
  headers: { authorization: 'Bearer k' },
  rawHeaders: ['Host', 'localhost'],
});

/** Keys that count how often they are asked. */
function counting(fields: Partial<FreshKeys> = {}) {
  const asked = { current: 0, refreshed: 0, holder: 0 };
  const holder = Object.create(KeyHolder.prototype, { refusal: { value: () => null } }) as KeyHolder;
  const keys: FreshKeys = {
    hasKeys: true,
    holderOf: () => {
      asked.holder += 1;
      return holder;
    },
    get isCurrent() {
      asked.current += 1;
      return fields.isCurrent ?? true;
    },
    refresh: async () => {
      asked.refreshed += 1;
      await fields.refresh?.();
    },
  };
  return { askers: new Askers(rules, keys), asked, holder };
}

describe('who asks', () => {
  it('is found out once, at the door, where what is known of the keys is current', async () => {
    const { askers, asked, holder } = counting();
    const chat = request();
    expect(askers.now(chat)).toMatchObject({ holder });
    expect(await askers.of(chat)).toMatchObject({ holder });
    expect(asked).toEqual({ current: 1, refreshed: 0, holder: 1 });
    await askers.of(request());
    expect(asked).toMatchObject({ refreshed: 1, holder: 2 });
  });

  it('is not said at the door of keys that changed or cannot be trusted, and nobody comes in by it', async () => {
    const refresh = async () => {
      throw fail('internal');
    };
    const { askers, asked } = counting({ isCurrent: false, refresh });
    const chat = request();
    expect(askers.now(chat)).toBeNull();
    await expect(askers.of(chat)).rejects.toMatchObject({ code: 'internal' });
    expect(asked.holder).toBe(0);
  });
});
