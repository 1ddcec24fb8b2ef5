/**
 * npm run places -- [PLACE[+PLACE…]…] [--user NAME] [--keep] [-- TEST…]
 *
 * Runs npm start and npm test from a fresh clone in the places where people run them. Without names: every place by
 * itself. Places joined with + are one run. TEST names files for npm test, `all` the whole suite; without it, the tests
 * that a place can influence run. Needs Linux and root: a place may hide programs, or be another user's.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const root = path.dirname(path.dirname(path.dirname(script)));

/** Settings that change nearly everything; no test may be affected by those of the person who runs it. */
const SETTINGS = {
  NODE_ENV: 'production',
  npm_config_omit: 'dev',
  SVC_API_KEY: 'a-key-of-this-terminal',
  SVC_DEFAULT_MODEL: 'no-such-model',
  SVC_KEEP_ALIVE: '0',
  SVC_CACHE_DISK: '0',
  SVC_LOG_LEVEL: 'debug',
  SVC_NUM_CTX: '256',
  SVC_NUM_THREADS: '1',
  SVC_STRICT_PARAMS: '1',
};

/** Nobody can make a folder there, not even root. */
const LOCKED = '/sys';

/** What differs from root in an open folder with everything installed. Environment: null removes a variable. */
const PLACES = {
  plain: {},
  private: { mode: 0o700 },
  user: { isUser: true },
  umask: { umask: 0o077 },
  path: { folder: 'my größe' },
  'no-git': { hides: ['git'], hasNoRepository: true },
  'no-home': { env: { HOME: null, XDG_DATA_HOME: null } },
  'locked-home': { env: { HOME: LOCKED } },
  settings: { env: SETTINGS },
  port: { takes: 8740 },
  'no-ipv6': { isOffline: true, hasNoIpv6: true },
  offline: { isOffline: true },
  lang: { env: { LANG: 'C', LC_ALL: 'C' } },
  tmpdir: { env: { TMPDIR: 'a tmp' } },
  bare: {
    hides: [
      'strace',
      'setpriv',
      'prlimit',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'python',
      'python3',
    ],
  },
  'one-core': { cores: '0' },
};

/** Files, users, processes, paths and the network decide there. */
const TESTS = [
  'test/fault/store',
  'test/native/worker.test.ts',
  ...['doctor', 'one-server-per-home', 'prepare', 'run', 'sealed', 'serve', 'service'].map(
    (name) => `test/e2e/${name}.test.ts`,
  ),
  ...['store', 'config', 'cli'].map((room) => `src/${room}`),
];

function say(line) {
  process.stdout.write(`${line}\n`);
}

async function outside(args) {
  const { names, tests, user, keeps } = parsed(args);
  if (process.platform !== 'linux' || process.geteuid() !== 0) {
    process.stderr.write(
      'The places need Linux and root: some hide programs, or are those of another user.\n',
    );
    process.exit(2);
  }
  const failed = [];
  for (const name of names.length > 0 ? names : Object.keys(PLACES)) {
    const place = merged(name);
    if (!canSeparate(place)) {
      say(
        `${name.padEnd(12)} left out: this machine allows no namespaces, in which programs or the network are hidden`,
      );
      continue;
    }
    const failure = await runIn(name, { place, tests, user });
    if (failure !== null) failed.push(name);
    say(`${name.padEnd(12)} ${failure === null ? 'passed' : `FAILED: ${failure}`}`);
    if (!keeps && failure === null) rmSync(path.dirname(place.checkout), { recursive: true, force: true });
  }
  process.exit(failed.length > 0 ? 1 : 0);
}

function parsed(args) {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const [options, tests] = [args.slice(0, end), args.slice(end + 1)];
  const at = options.indexOf('--user');
  const user = at === -1 ? 'nobody' : options.splice(at, 2)[1];
  const keeps = options.includes('--keep');
  const names = options.filter((option) => option !== '--keep');
  for (const name of names.flatMap((each) => each.split('+'))) {
    if (!Object.hasOwn(PLACES, name)) {
      process.stderr.write(`There is no place ${name}; there are: ${Object.keys(PLACES).join(', ')}.\n`);
      process.exit(2);
    }
  }
  return { names, user, keeps, tests: tests.length === 0 ? TESTS : tests.filter((test) => test !== 'all') };
}

function merged(names) {
  const place = { env: {}, hides: [] };
  for (const { env = {}, hides = [], ...rest } of names.split('+').map((name) => PLACES[name])) {
    Object.assign(place, rest);
    Object.assign(place.env, env);
    place.hides.push(...hides);
  }
  return place;
}

/** Null, or what failed. */
async function runIn(name, { place, tests, user }) {
  const top = mkdtempSync(path.join(tmpdir(), 'hearth-place-'));
  const log = path.join(tmpdir(), `${path.basename(top)}-${name.replaceAll('+', '-').slice(0, 60)}.log`);
  say(`${name.padEnd(12)} ${log}`);
  place.checkout = path.join(top, place.folder ?? 'checkout');
  const identity = place.isUser ? identityOf(user) : { uid: 0, gid: 0 };
  const output = openSync(log, 'w');
  const prepare = "import('./scripts/prepare.mjs').then((module) => module.ensureInstalled())";
  checkOut(place.checkout, output);
  execFileSync(process.execPath, ['-e', prepare], { cwd: place.checkout, stdio: ['ignore', output, output] });
  if (place.hasNoRepository) rmSync(path.join(place.checkout, '.git'), { recursive: true });
  for (const each of ['home', 'tmp', 'a tmp']) mkdirSync(path.join(top, each));
  if (place.isUser) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, top]);
  chmodSync(top, place.mode ?? 0o755);
  const cores = place.cores === undefined ? [] : ['taskset', '-c', place.cores];
  const job = JSON.stringify({ ...place, top, identity, tests });
  const command = [...cores, ...separated(place), process.execPath, script, '--inside', job];
  const { status } = spawnSync(command[0], command.slice(1), { stdio: ['ignore', output, output] });
  return status === 0 ? null : `${status === 3 ? 'npm start' : 'npm test'}, see ${log}`;
}

/** What hides programs and the network from a place, and from nothing else. */
function separated({ hides, isOffline }) {
  if (hides.length === 0 && !isOffline) return [];
  return ['unshare', '--mount', ...(isOffline ? ['--net'] : [])];
}

function canSeparate(place) {
  const [command, ...args] = separated(place);
  return command === undefined || spawnSync(command, [...args, 'true']).status === 0;
}

/** Without git, or where this is no clone itself, the files as they are. */
function checkOut(folder, output) {
  const clone = spawnSync('git', ['clone', '--quiet', root, folder], { stdio: ['ignore', output, output] });
  if (clone.status === 0) return;
  const made = ['node_modules', 'dist', 'generated', '.git'].map((name) => path.join(root, name));
  cpSync(root, folder, { recursive: true, filter: (name) => !made.includes(name) });
}

function identityOf(user) {
  const id = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** In namespaces of its own, so that what is hidden here is hidden nowhere else. */
async function inside({ top, checkout, identity, tests, env, hides, umask, takes, isOffline, hasNoIpv6 }) {
  for (const file of hides.flatMap(programs)) hide(file, top);
  if (isOffline) execFileSync('ip', ['link', 'set', 'lo', 'up']);
  if (hasNoIpv6) writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1');
  if (umask !== undefined) process.umask(umask);
  const blocker = takes === undefined ? null : await taken(takes);
  const options = { cwd: checkout, ...identity, env: environment(top, env), stdio: ['ignore', 'pipe', 2] };
  const isStarted = await start(options, { isPortTaken: takes !== undefined });
  if (!isStarted) process.exit(3);
  const { status } = spawnSync('npm', ['test', '--', ...tests], { ...options, stdio: ['ignore', 1, 2] });
  blocker?.close();
  process.exit(status === 0 ? 0 : 1);
}

function environment(top, changes) {
  const { PATH } = process.env;
  const all = { PATH, HOME: path.join(top, 'home'), TMPDIR: path.join(top, 'tmp'), ...changes };
  if (changes.TMPDIR !== undefined) all.TMPDIR = path.join(top, changes.TMPDIR);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

function programs(name) {
  return process.env.PATH.split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .filter((file) => existsSync(file));
}

/** A file that nobody may execute lies over it. */
function hide(file, top) {
  const cover = path.join(top, 'hidden');
  writeFileSync(cover, '', { mode: 0o600 });
  execFileSync('mount', ['--bind', cover, file]);
}

async function taken(port) {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  // Somebody else may have it already, which serves as well.
  await Promise.race([once(server, 'listening'), once(server, 'error')]);
  return server;
}

/** npm start: the service answers a chat and ends; where its home or its port cannot be used it must say so. */
async function start(options, { isPortTaken }) {
  const isLocked = options.env.HOME === LOCKED || isHomeless(options);
  if (isLocked && !isRefused(options, /cannot be written .* SVC_HOME/)) return false;
  const home = isLocked ? { SVC_HOME: path.join(options.cwd, '..', 'home') } : {};
  const env = { ...options.env, ...home };
  if (isPortTaken && !isRefused({ ...options, env }, /is taken by another/)) return false;
  const child = spawn('npm', ['start'], { ...options, env: { ...env, SVC_PORT: '0' }, detached: true });
  const ended = once(child, 'close');
  const url = await readyUrl(child);
  const answers = url !== null && (await isChatting(url, options.env.SVC_API_KEY));
  if (url !== null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  const [code] = await ended;
  say(`npm start: ${url ?? 'not ready'}, ${answers ? 'answers' : 'no answer'}, exit code ${code}`);
  return answers;
}

/** Without HOME, the home of the account counts; that of `nobody` is nowhere. */
function isHomeless({ env, uid }) {
  if (env.HOME !== undefined) return false;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const own = accounts.map((line) => line.split(':')).find((fields) => fields[2] === String(uid));
  return !existsSync(own?.[5] ?? '');
}

function isRefused(options, sentence) {
  const { status, stdout, stderr } = spawnSync('npm', ['start'], {
    ...options,
    stdio: 'pipe',
    encoding: 'utf8',
  });
  say(stdout + stderr);
  return status !== 0 && sentence.test(stderr);
}

async function readyUrl(child) {
  let said = '';
  for await (const part of child.stdout) {
    said += part;
    process.stdout.write(part);
    const url = /ready at (http:\S+)/.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  return null;
}

async function isChatting(url, key) {
  const headers = { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const body = JSON.stringify({
    model: 'hearth-mini',
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 4,
  });
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  say(`POST /v1/chat/completions: ${response.status} ${await response.text()}`);
  return response.status === 200;
}

if (process.argv[2] === '--inside') await inside(JSON.parse(process.argv[3]));
else await outside(process.argv.slice(2));
