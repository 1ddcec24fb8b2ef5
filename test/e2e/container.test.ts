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
const docker = spawnSync('docker', ['--version']).status === 0;
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

/** No daemon is asked: the client looks at each word before it connects. */
describe('the commands of the docs', () => {
  const lines = ['docs/other-machines.md', 'docs/service.md']
    .flatMap((page) => readFileSync(page, 'utf8').split('\n'))
    .filter((line) => /\bdocker /.test(line));
  const commands = lines.flatMap((line) => /\b(docker [^`]*)/.exec(line)?.[1]?.trim() ?? []);
  const text = ['docs/other-machines.md', 'docs/service.md'].map((page) => readFileSync(page, 'utf8')).join();

  it('name files, settings, the port and the home that are', () => {
    expect(commands.length).toBeGreaterThan(3);
    for (const [, file = ''] of commands.join('\n').matchAll(/--file (\S+)/g))
      expect(readFileSync(file)).not.toBe('');
    const known = Object.values(settings).map(({ env }) => env);
    for (const [name] of lines.join('\n').matchAll(/\bSVC_[A-Z_]+/g)) expect(known).toContain(name);
    const run = commands.find((command) => command.startsWith('docker run')) ?? '';
    expect(run).toContain(`--publish ${CANONICAL_PORT}:${CANONICAL_PORT} --volume hearth:/data hearth`);
    expect(run).toContain('--env SVC_API_KEY=');
    expect(dockerfile).toContain('VOLUME /data');
    expect(text).toContain(`http://host.docker.internal:${CANONICAL_PORT}/v1`);
  });

  it.skipIf(!docker)(
    `have no word that the client of Docker does not know${docker ? '' : ' (left out: there is no docker here)'}`,
    () => {
      const said = (command: string): string => {
        const env = { ...process.env, DOCKER_HOST: 'tcp://127.0.0.1:1', SVC_API_KEY: 'secret' };
        return spawnSync('sh', ['-c', command], { encoding: 'utf8', env }).stderr;
      };
      const usage = /unknown (?:shorthand )?flag|unknown command|is not a docker command|requires/;
      expect(said('docker run --detatch hearth')).toMatch(usage);
      // Compose is a plugin, which has a linter above.
      for (const command of commands.filter((each) => !each.startsWith('docker compose')))
        expect(said(command), command).not.toMatch(usage);
    },
  );
});
