/**
 * hearth status: what a launcher does before it trusts a local endpoint. It reads /v1/identity with a fresh nonce and
 * checks the answer against its headers, against the key of this home, and against the files that are installed.
 */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findPrebuiltFolder, hashBackend } from '../../identity/backend.ts';
import { keyringOf, readKeyHistory } from '../../evidence/keyring.ts';
import { loadIdentity } from '../../identity/instance.ts';
import { hashServerSource } from '../../identity/server-source.ts';
import { findIdentityFault } from '../../identity/sign-identity.ts';
import { headerNames } from '../../protocol/headers.ts';
import type { Identity } from '../../protocol/identity.ts';
import { routes } from '../../protocol/routes.ts';
import { type ApiResponse, baseUrl, callServer, expectOk } from '../api.ts';
import { type CliContext, exitCodes, printable } from '../context.ts';

export interface StatusReport {
  readonly url: string;
  /** True when nothing is wrong. */
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly identity: Identity;
}

export function registerStatus(program: Command, context: CliContext): void {
  program
    .command('status')
    .description('check that the running service is this installation and is ready')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const report = await checkStatus(context.config());
      if (flags.json === true) context.printJson(report);
      else context.print(describe(report));
      context.setExitCode(report.ok ? exitCodes.ok : exitCodes.failure);
    });
}

export async function checkStatus(config: Config): Promise<StatusReport> {
  const nonce = randomBytes(24).toString('base64url');
  const response = await callServer(config, 'GET', `${routes.identity.path}?nonce=${nonce}`);
  const identity = expectOk(response) as Identity;
  const problems = [
    ...headerProblems(response, identity),
    ...(await instanceProblems(config, identity, nonce)),
    ...(await installProblems(identity)),
  ];
  return { url: baseUrl(config), ok: problems.length === 0, problems, identity };
}

function headerProblems({ headers }: ApiResponse, identity: Identity): string[] {
  const pairs = [
    [headerNames.instanceId, identity.instance_id],
    [headerNames.bootId, identity.boot_id],
  ] as const;
  return pairs
    .filter(([name, value]) => headers.get(name) !== value)
    .map(([name]) => `the header ${name} does not match the identity`);
}

async function instanceProblems(config: Config, identity: Identity, nonce: string): Promise<string[]> {
  const own = await loadIdentity({ home: config.home });
  if (identity.product !== 'hearth') return [`the service calls itself "${identity.product}", not hearth`];
  if (identity.instance_id !== own.instanceId) {
    return [
      `instance ${identity.instance_id} answers, but this home (${config.home}) is instance ${own.instanceId}`,
    ];
  }
  const port = Number(new URL(baseUrl(config)).port);
  const faultWith = (keyid: string) => findIdentityFault(identity, { nonce, pinned: { keyid }, port });
  const fault = faultWith(own.keys.keyid);
  if (fault === null) return [];
  // A key may have been replaced because somebody else has it, so an older key is a problem too, but another one.
  const keyids = await knownKeyids(config.home);
  return keyids.some((keyid) => faultWith(keyid) === null)
    ? ['the service still signs with a key that was replaced since it started; restart hearth serve']
    : [`the identity cannot be trusted: ${fault}`];
}

/** The keys that this home ever had; none when their history is damaged, because then it vouches for nothing. */
async function knownKeyids(home: string): Promise<string[]> {
  try {
    const history = await readKeyHistory(home);
    return history === null ? [] : keyringOf(history).keys.map(({ keyid }) => keyid);
  } catch {
    return [];
  }
}

async function installProblems(identity: Identity): Promise<string[]> {
  const [server, backend] = await Promise.all([hashServerSource(), hashBackend(findPrebuiltFolder())]);
  const problems: string[] = [];
  if (identity.server_source_sha256 !== server.sha256) {
    problems.push(
      'the running server is not the installed one (server_source_sha256 differs); restart hearth serve',
    );
  }
  if (identity.backend_sha256 !== (backend?.sha256 ?? null)) {
    problems.push(
      'the bound backend is not the installed one (backend_sha256 differs); restart hearth serve',
    );
  }
  if (!identity.native_ready)
    problems.push('no native backend is ready; reinstall with: npm ci --ignore-scripts');
  return problems;
}

function describe(report: StatusReport): string {
  const { identity } = report;
  const lines = [
    `${report.url} is ${report.ok ? 'ready' : 'not as it should be'}`,
    ...report.problems.map((problem) => `  problem: ${printable(problem)}`),
    `  version       ${printable(identity.version)}`,
    `  instance      ${printable(identity.instance_id)}`,
    `  boot          ${printable(identity.boot_id)}`,
    `  server        ${printable(identity.server_source_sha256)}`,
    `  backend       ${printable(identity.backend_sha256 ?? 'none')}`,
    `  default model ${printable(identity.default_model)}`,
  ];
  return lines.join('\n');
}
