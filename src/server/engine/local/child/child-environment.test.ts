import { describe, expect, it } from 'vitest';
import { childEnvironment } from './child-environment.ts';

const settings = { gpu: 'off' };

describe('the environment of a worker', () => {
  it('has the PATH of Windows under whichever case it is written', () => {
    const host = { Path: 'C:\\Windows', SYSTEMROOT: 'C:\\Windows', Secret: 'x' };
    const environment = childEnvironment(host, settings, 'win32');
    expect(environment).toMatchObject({ PATH: 'C:\\Windows', SystemRoot: 'C:\\Windows' });
    expect(Object.keys(environment)).not.toContain('Secret');
  });

  it('tells the cases apart elsewhere', () => {
    expect(childEnvironment({ Path: '/evil' }, settings, 'linux')['PATH']).toBe('/usr/bin:/bin');
  });
});
