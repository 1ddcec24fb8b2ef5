import { describe, expect, it } from 'vitest';
import { servingAt, unanswered } from './home-lock.ts';

const asked = { url: 'http://127.0.0.1:8740', host: '127.0.0.1', port: 8740 };

describe('an address at which nobody answers', () => {
  it('is told with what to do where no service runs', () => {
    expect(unanswered(asked, null)).toBe(
      'no server answers at http://127.0.0.1:8740; start one with: hearth serve',
    );
    expect(unanswered({ url: 'http://10.0.0.7:8740', host: '10.0.0.7', port: 8740 }, null)).toContain(
      'check SVC_HOST and SVC_PORT, or start one there with: hearth serve',
    );
  });

  it('is told with the service that ends, and with one at another port', () => {
    expect(unanswered(asked, { pid: 7, purpose: servingAt(asked) })).toContain(
      'the service of this home, process 7, is starting, or ending',
    );
    expect(unanswered(asked, { pid: 7, purpose: servingAt({ ...asked, port: 9000 }) })).toContain(
      'this home is used by process 7: hearth serve --port 9000',
    );
    expect(unanswered(asked, { pid: 7, purpose: servingAt({ ...asked, host: '127.0.0.2' }) })).toContain(
      'hearth serve --host 127.0.0.2 --port 8740; to reach it, set SVC_HOST=127.0.0.2 SVC_PORT=8740',
    );
  });
});
