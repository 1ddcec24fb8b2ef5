/**
 * hearth status: the checks of a launcher before it trusts a local endpoint. It reads /v1/identity with a fresh nonce
 * and checks the answer against its headers, the key of this home, and the installed files.
 */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { Check } from 'typebox/value';
import type { Config } from '../../../config/config.ts';
import { librariesFolder, ownLibrary } from '../../../lib/files/native-library.ts';
import { hashBackend, prebuiltFolders } from '../../../trust/identity/backend.ts';
import { type PublicIdentity, readPublicIdentity } from '../../../trust/identity/public-identity.ts';
import { hashServerSource } from '../../../trust/identity/server-source.ts';
import { findIdentityFault } from '../../../trust/identity/sign-identity.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { DRAINING, HealthResponse } from '../../../wire/health.ts';
import { Identity } from '../../../wire/identity.ts';
import { routes } from '../../../wire/routes.ts';
import { type ApiResponse, baseUrl, callServer, expectOk } from '../../api.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';

export interface StatusReport {
  readonly url: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** Null if the answering program wanted a key but is not this instance, so none was sent. */
  readonly identity: Identity | null;
}

export function registerStatus(program: Command, context: CliContext): void {
  program
    .command('status')
    .description('check that the running service is this installation and ready')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const report = await checkStatus(context.config());
      if (flags.json === true) context.printJson(report);
      else context.print(describe(report));
      context.setExitCode(report.ok ? EXIT_CODES.ok : EXIT_CODES.failure);
    });
}

export async function checkStatus(config: Config): Promise<StatusReport> {
  const url = baseUrl(config);
  const nonce = randomBytes(24).toString('base64url');
  const ask = (as: Config) => callServer(as, 'GET', `${routes.identity.path}?nonce=${nonce}`);
  // Sends the API key only if the service requests one and names this instance; a stranger on the port gets none.
  const open = await ask({ ...config, apiKey: null });
  const own = await readPublicIdentity(config.home);
  const wantsKey = open.status === 401;
  const stranger = strangerProblem(config, open.headers.get(HEADERS.instanceId), own.instanceId);
  if (wantsKey && stranger !== null) return { url, ok: false, problems: [stranger], identity: null };
  const response = wantsKey ? await ask(config) : open;
  const identity = expectOk(response);
  if (!Check(Identity, identity))
    throw new CliFailure(`the server at ${url} is not Hearth (its identity has an unexpected structure)`);

  const problems = [
    ...(await drainProblems(config)),
    ...headerProblems(response, identity),
    ...instanceProblems(config, identity, own, nonce),
    ...(await installProblems(identity, config.home)),
  ];
  return { url, ok: problems.length === 0, problems, identity };
}

function strangerProblem(config: Config, instanceId: string | null, ownId: string): string | null {
  if (instanceId === ownId) return null;
  const stranger = instanceId === null ? 'a program without an instance id' : `instance ${instanceId}`;
  return `${stranger} answers, but this home (${config.home}) is instance ${ownId}`;
}

async function drainProblems(config: Config): Promise<string[]> {
  const { body } = await callServer({ ...config, apiKey: null }, 'GET', routes.health.path);
  const isDraining = Check(HealthResponse, body) && body.status === DRAINING;
  return isDraining ? ['it is shutting down: running answers finish, new requests are refused'] : [];
}

function headerProblems({ headers }: ApiResponse, identity: Identity): string[] {
  const pairs = [
    [HEADERS.instanceId, identity.instance_id],
    [HEADERS.bootId, identity.boot_id],
  ] as const;
  return pairs
    .filter(([name, value]) => headers.get(name) !== value)
    .map(([name]) => `the header ${name} does not match the identity`);
}

function instanceProblems(config: Config, identity: Identity, own: PublicIdentity, nonce: string): string[] {
  if (identity.product !== 'hearth') return [`the service calls itself "${identity.product}", not hearth`];
  const stranger = strangerProblem(config, identity.instance_id, own.instanceId);
  if (stranger !== null) return [stranger];
  // A socket is not relayed from another port.
  const port = config.socket === null ? { port: config.port } : {};
  const fault = findIdentityFault(identity, { nonce, pinned: { keyid: own.keyid }, ...port });
  return fault === null ? [] : [`the identity cannot be trusted: ${fault}`];
}

async function installProblems(identity: Identity, home: string): Promise<string[]> {
  const [server, backend] = await Promise.all([
    hashServerSource(),
    backendProblem(identity.backend_sha256, librariesFolder(home)),
  ]);
  const problems: string[] = [];
  if (identity.server_source_sha256 !== server.sha256) {
    problems.push(
      'the running server is not the installed one (server_source_sha256 differs); restart hearth serve',
    );
  }
  if (backend !== null) problems.push(backend);

  if (!identity.native_ready) {
    problems.push(
      'no native backend is ready; restart hearth serve if its files were replaced; otherwise hearth doctor says why, and npm ci --ignore-scripts installs it again',
    );
  }
  return problems;
}

/** The GPU setting and the found GPU decide which package a service loads. */
async function backendProblem(sha256: string | null, libraries: string): Promise<string | null> {
  if (sha256 === null) return null;
  const own = ownLibrary(libraries);
  for (const folder of own === null ? prebuiltFolders(libraries) : [own.folder])
    if ((await hashBackend(folder))?.sha256 === sha256) return null;
  return own === null
    ? 'the bound backend is not an installed one (backend_sha256 differs); restart hearth serve'
    : 'the service computes with another llama.cpp than the one that hearth library selects; restart hearth serve';
}

function describe({ url, ok, problems, identity }: StatusReport): string {
  const lines = [
    `${url} is ${ok ? 'ready' : 'not as expected'}`,
    ...problems.map((problem) => `  problem: ${printable(problem)}`),
    ...(identity === null ? [] : describeIdentity(identity)),
  ];
  return lines.join('\n');
}

function describeIdentity(identity: Identity): string[] {
  return [
    `  version       ${printable(identity.version)}`,
    `  instance      ${printable(identity.instance_id)}`,
    `  boot          ${printable(identity.boot_id)}`,
    `  server        ${printable(identity.server_source_sha256)}`,
    `  backend       ${printable(identity.backend_sha256 ?? 'none')}${untested(identity)}`,
    `  default model ${printable(identity.default_model)}`,
    ...(identity.sealed === undefined ? [] : [`  sealed        ${describeSeal(identity.sealed)}`]),
  ];
}

function untested({ backend_untested: release }: Identity): string {
  return release === undefined ? '' : ` (llama.cpp ${printable(release)}, untested by Hearth)`;
}

/** Names the guard: a guard of Node's functions alone is much weaker than the kernel's. */
function describeSeal({ network, worker_files: files }: NonNullable<Identity['sealed']>): string {
  const workers = files === null ? 'no worker has started yet' : `files of workers: ${printable(files)}`;
  return `connections: ${printable(network)}; ${workers}`;
}
