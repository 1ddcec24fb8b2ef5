/** The address that `hearth serve` will bind, read without packages and without a build. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';

/** Null where only the service can tell; `serve` then reports a taken port itself. */
export function wantedAddress(words, env) {
  const flag = (name) => words.flatMap((word, at) => valueOf(name, word, words[at + 1]))[0];
  const isDev = words.includes('--dev');
  const base = flag('home') ?? (env.SVC_HOME?.trim() || dataFolder(env));
  const file = configText(path.join(isDev ? `${base}-dev` : base, 'config.toml'));
  const setting = (name) => flag(name) ?? (env[`SVC_${name.toUpperCase()}`]?.trim() || inFile(file, name));
  const [, host, portOfHost] = /^([\w.-]*)(?::(\d+))?$/.exec(setting('host') ?? '') ?? [];
  const port = Number(setting('port') ?? portOfHost ?? (isDev ? 8741 : 8740));
  return host === undefined || !(port > 0 && port < 65_536) ? null : { host: host || '127.0.0.1', port };
}

function valueOf(name, word, next) {
  if (word === `--${name}`) return next ?? [];
  return word.startsWith(`--${name}=`) ? word.slice(name.length + 3) : [];
}

function configText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const inFile = (text, name) => new RegExp(`^\\s*${name}\\s*=\\s*["']?([^\\s"'#]+)`, 'm').exec(text)?.[1];

/** Where env-paths puts the home folder. */
function dataFolder({ XDG_DATA_HOME, LOCALAPPDATA }) {
  const home = homedir();
  if (process.platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'hearth');
  if (process.platform === 'win32')
    return path.join(LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'hearth', 'Data');
  return path.join(XDG_DATA_HOME || path.join(home, '.local', 'share'), 'hearth');
}

export async function isTaken({ host, port }) {
  const server = createServer().listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    return error.code === 'EADDRINUSE';
  }
  server.close();
  await once(server, 'close');
  return false;
}
