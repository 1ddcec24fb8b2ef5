import { isFailure, errorMessage } from '../../lib/errors/svc-error.ts';
import { constants, existsSync } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { askDevices } from '../../server/api/own-worker.ts';
import { type ExaminedConfig, unknownVariables } from '../../config/config.ts';
import { isFetched } from '../../contract/load.ts';
import { readable } from '../../lib/base/byte-size.ts';
import {
  librariesFolder,
  LLAMA_CPP_RELEASE,
  outdatedOwnLibraries,
  ownLibrary,
} from '../../lib/files/native-library.ts';
import { platformLibrary } from '../../lib/files/platforms.ts';
import { describeTrial, readGpuTrial } from '../../store/libraries/gpu-trial.ts';
import { discover } from '../../store/foreign/discover.ts';
import { homeHolder } from '../home-lock.ts';
import type { CliContext } from '../context.ts';
import { foreignEnvironment, localRegistry } from '../local-registry.ts';
import { isOwnHolder, describeHolder } from '../port-holder.ts';
import { readVersion } from '../version.ts';
import { addressFindings, tlsFindings } from './address.ts';
import { type Check, type Finding, ok, problem, warning } from './finding.ts';
import { existingParent } from './machine.ts';

export function installationChecks(context: CliContext, examined: ExaminedConfig): Check[] {
  const { config } = examined;
  return [
    {
      about: 'Hearth',
      look: async () => ok('Hearth', `${readVersion()} (${process.platform}-${process.arch})`),
    },
    { about: 'settings', look: async () => settingFindings(examined, context.env) },
    { about: 'home', look: () => homeFinding(config.home) },
    { about: 'engine', look: () => engineFindings(context, config) },
    { about: 'port', look: () => portFinding(examined) },
    { about: 'address', look: async () => addressFindings(config, await isOwnHolder(config)) },
    { about: 'TLS', look: async () => tlsFindings(config, Date.now()) },
    { about: 'server', look: () => holderFinding(config.home) },
    { about: 'models', look: () => modelFindings(examined) },
    { about: 'other programs', look: () => foreignFinding(context) },
  ];
}

function settingFindings({ file, problems }: ExaminedConfig, env: CliContext['env']): Finding[] {
  const wrong = problems.map(({ message }) =>
    problem('settings', message, `correct it; hearth config shows all`),
  );
  const unknown = unknownVariables(env).map((name) =>
    warning('settings', `${name} is not a setting and has no effect`, 'hearth config lists the settings'),
  );
  const found = [...wrong, ...unknown];
  const place = existsSync(file.path) ? file.path : `no file at ${file.path}`;
  return found.length > 0 ? found : [ok('settings', place)];
}

async function homeFinding(home: string): Promise<Finding> {
  const place = existingParent(home);
  try {
    await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    const remedy = `give this user access to ${place}, or choose another folder with SVC_HOME`;
    return problem('home', `${home} cannot be written by this user`, remedy);
  }
  if (place !== home) return ok('home', `${home} (made at the first start)`);
  const open = await openKeys(path.join(home, 'instance'));
  if (open.length === 0) return ok('home', home);
  return problem('home', `other users can read ${open.join(', ')}`, `chmod 600 ${open.join(' ')}`);
}

async function openKeys(folder: string): Promise<string[]> {
  if (!existsSync(folder) || process.platform === 'win32') return [];
  const files = (await readdir(folder)).map((name) => path.join(folder, name));
  const isOpen = async (file: string): Promise<boolean> =>
    /key|\.pem$/.test(path.basename(file)) && !/pub/.test(file) && ((await stat(file)).mode & 0o077) !== 0;
  const states = await Promise.all(files.map(isOpen));
  return files.filter((_, index) => states[index]);
}

/** Loads the library in a worker, where it normally runs and where it may crash. */
async function engineFindings(
  context: CliContext,
  { gpu, home }: Pick<ExaminedConfig['config'], 'gpu' | 'home'>,
): Promise<Finding[]> {
  const libraries = librariesFolder(home);
  let facts: Awaited<ReturnType<typeof askDevices>>;
  try {
    facts = await askDevices({ env: context.env, gpu, libraries });
  } catch (error) {
    const reason = isFailure(error, 'native_unavailable') ? error.detail.reason : errorMessage(error);
    return [problem('engine', reason, engineRemedy(gpu, libraries))];
  }
  const engine = engineFinding(facts.folder, libraries);
  const devices = (facts.devices ?? []).filter(({ kind }) => kind !== 'cpu');
  const gpus = devices.map(({ name, description, totalBytes }) =>
    ok('GPU', `${name}: ${description}, ${readable(totalBytes)}`),
  );
  if (gpus.length > 0) return [engine, ...gpus];
  const ready = (facts.gpuSupport ?? []).find(
    (support) => support.missing.length === 0 && !isFetched(support),
  );
  if (gpu === 'off') return [engine, ok('GPU', 'none is used, because SVC_GPU is off')];
  if (ready === undefined) return [engine, ok('GPU', 'none that can be used; models run on the processor')];
  const trial = ready.kind === 'vulkan' ? await readGpuTrial(libraries) : null;
  if (trial !== null && trial.outcome !== 'faster') return [engine, ok('GPU', describeTrial(trial))];
  return [
    engine,
    warning('GPU', `a GPU lacks only its library (${ready.kind})`, `hearth gpu install ${ready.kind}`),
  ];
}

function engineRemedy(gpu: string, libraries: string): string {
  if (gpu !== 'auto' && gpu !== 'off') return 'set SVC_GPU to auto or off; hearth gpu shows what a GPU lacks';
  return ownLibrary(libraries) === null
    ? 'install again with optional packages, or compile the libraries: hearth library build; docs/install.md lists the platforms'
    : 'hearth library use FOLDER copies your own build of llama.cpp again, hearth library remove returns to the one that comes with Hearth';
}

function engineFinding(folder: string, libraries: string): Finding {
  const isOwn = ownLibrary(libraries) !== null;
  const shortfall = isOwn ? undefined : platformLibrary()?.shortfall;
  if (shortfall !== undefined)
    return warning('engine', `llama.cpp loads, from ${folder}, but it ${shortfall}`, 'hearth library build');
  if (isOwn || outdatedOwnLibraries(libraries).length === 0)
    return ok('engine', `${isOwn ? 'your own build of llama.cpp' : 'llama.cpp'} loads, from ${folder}`);
  return warning(
    'engine',
    `llama.cpp loads, from ${folder}; your own build is not used, because this version of Hearth needs ${LLAMA_CPP_RELEASE}`,
    'build that, then: hearth library use FOLDER; or: hearth library remove',
  );
}

async function portFinding({ config }: ExaminedConfig): Promise<Finding> {
  const where = `${config.host}:${config.port}`;
  if (config.port === 0) return ok('port', 'any free one');
  const code = await triedPort(config.host, config.port);
  if (code === null) return ok('port', `${where} is free; nothing serves there`);
  if (code !== 'EADDRINUSE') {
    return problem(
      'port',
      `${where} cannot be bound (${code})`,
      'choose another address with SVC_HOST and SVC_PORT',
    );
  }
  if (await isOwnHolder(config)) return ok('port', `this instance answers at ${where}`);
  return problem('port', await describeHolder(config), 'end that program, or set SVC_PORT');
}

function triedPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function holderFinding(home: string): Promise<Finding> {
  const holder = await homeHolder(home);
  if (holder === null) return ok('server', 'none uses this home');
  return ok('server', `${holder.purpose}, process ${holder.pid}, since ${holder.since}`);
}

async function modelFindings({ config }: ExaminedConfig): Promise<Finding[]> {
  if (!existsSync(config.home)) return [ok('models', 'the built-in ones, from the first start')];
  const registry = localRegistry(config);
  const [models, damaged] = [await registry.list(), await registry.damaged()];
  const broken = damaged.map(({ id, reason }) =>
    problem('models', `${id} is damaged: ${reason}`, `hearth rm ${id}, and install it again`),
  );
  const used = models.flatMap(({ id, files }) =>
    files.flatMap((file) => ('path' in file ? [{ id, path: file.path }] : [])),
  );
  const gone = used
    .filter(({ path }) => !existsSync(path))
    .map(({ id, path }) =>
      problem('models', `${id} lacks its file ${path}`, `put it back, or: hearth rm ${id}`),
    );
  return [ok('models', `${models.length} installed`), ...broken, ...gone];
}

async function foreignFinding(context: CliContext): Promise<Finding> {
  const scans = (await discover(foreignEnvironment(context))).filter(
    ({ candidates }) => candidates.length > 0,
  );
  if (scans.length === 0) return ok('other programs', 'no models of theirs were found');
  const counts = scans.map(({ store, candidates }) => `${store} ${candidates.length}`).join(', ');
  return ok('other programs', `models that can be used in place: ${counts}; see hearth discover`);
}
