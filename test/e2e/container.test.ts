/** The Dockerfile and the compose file, as far as they can be judged without Docker: by linters, and against Hearth's own facts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { DCLinter } from 'dclint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CANONICAL_PORT } from '../../src/config/config.ts';
import { settings } from '../../src/config/settings.ts';

const DOCKERFILE = 'packaging/Dockerfile';
const COMPOSE = 'packaging/compose.yaml';
const dockerfile = readFileSync(DOCKERFILE, 'utf8');
const compose = parse(readFileSync(COMPOSE, 'utf8'));
const hadolint = spawnSync('hadolint', ['--version']).status === 0;

describe('the Dockerfile', () => {
  const stages = dockerfile.split(/^FROM /m).slice(1);
  const image = stages.at(-1) ?? '';

  it('has no fault that the parser of Docker’s language server finds', () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace('USER 10001:10001', 'USR 10001'))).not.toEqual([]);
  });

  it.skipIf(!hadolint)(
    `has none that hadolint finds${hadolint ? '' : ' (left out: there is no hadolint here)'}`,
    () => {
      expect(execFileSync('hadolint', ['--no-fail', DOCKERFILE], { encoding: 'utf8' })).toBe('');
    },
  );

  it('takes Debian only, and builds in a stage that does not stay', () => {
    expect(stages.map((stage) => stage.split(/\s/)[0])).toEqual(['debian:trixie-slim', 'debian:trixie-slim']);
    expect(image).not.toMatch(/\bnpm\b|^COPY (?!--from=build)/m);
  });

  it('runs as an ordinary user, on the address, port and home that the service knows', () => {
    expect(image).toMatch(/^USER 10001:10001$/m);
    expect(image).toContain(`EXPOSE ${CANONICAL_PORT}\n`);
    for (const [name] of image.matchAll(/\bSVC_[A-Z_]+/g))
      expect(Object.values(settings).map(({ env }) => env)).toContain(name);
    expect(image).toContain('CMD ["hearth", "service", "wait"');
  });
});

describe('the compose file', () => {
  it('follows the schema of compose files, and the linter’s rules', () => {
    const [result] = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] }).lintFiles(
      [COMPOSE],
      false,
    );
    expect(result?.messages).toEqual([]);
  });

  it('gives the service no more than it needs', () => {
    const { hearth } = compose.services;
    expect(hearth).toMatchObject({
      read_only: true,
      user: '10001:10001',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
      volumes: ['data:/data'],
      ports: [`127.0.0.1:${CANONICAL_PORT}:${CANONICAL_PORT}`],
    });
    expect(hearth.environment.SVC_API_KEY).toMatch(/^\$\{SVC_API_KEY:\?/);
    expect(Object.keys(compose.volumes)).toEqual(['data']);
  });
});
