import path from 'node:path';
import { type ServiceFacts, type ServiceKind, serviceName } from './definition.ts';
import { unitText } from './systemd.ts';
import { launchdLabel, launchdLog, launchdText, windowsText } from './xml-definitions.ts';

type Program = readonly string[];

export interface ServicePlan {
  readonly kind: ServiceKind;
  readonly file: string;
  readonly text: string;
  /** Run after the file is written; they also start the service, unless the user starts it. */
  readonly enable: readonly Program[];
  readonly start: readonly Program[];
  readonly restart: readonly Program[];
  /** Run before the file is removed. Failures are ignored: the service may not be running or enabled. */
  readonly disable: readonly Program[];
  readonly forget: readonly Program[];
  readonly active: Program;
  /** Null: the system does not keep the service's output. */
  readonly logs: ((lines: string, follow: boolean) => Program) | null;
  readonly remedy: string;
  readonly advice: readonly string[];
}

export interface PlanPlaces {
  readonly facts: ServiceFacts;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
}

export function servicePlan(kind: ServiceKind, places: PlanPlaces): ServicePlan {
  switch (kind) {
    case 'systemd-user':
      return systemdPlan(kind, ['systemctl', '--user'], ['journalctl', '--user'], places);
    case 'systemd-system':
      return systemdPlan(kind, ['systemctl'], ['journalctl'], places);
    case 'launchd':
      return launchdPlan(places);
    case 'windows':
      return windowsPlan(places);
  }
}

function systemdPlan(
  kind: 'systemd-user' | 'systemd-system',
  systemctl: Program,
  journalctl: Program,
  { facts, env }: PlanPlaces,
): ServicePlan {
  const unit = `${serviceName(facts.dev)}.service`;
  const config = env['XDG_CONFIG_HOME'] ?? '';
  const user = path.join(
    path.isAbsolute(config) ? config : path.join(facts.userHome, '.config'),
    'systemd/user',
  );
  const isUser = kind === 'systemd-user';
  return {
    kind,
    file: path.join(isUser ? user : '/etc/systemd/system', unit),
    text: unitText(facts, isUser ? 'user' : 'system'),
    enable: [
      [...systemctl, 'daemon-reload'],
      [...systemctl, 'enable', unit],
    ],
    start: [[...systemctl, 'restart', unit]],
    restart: [[...systemctl, 'restart', unit]],
    disable: [[...systemctl, 'disable', '--now', unit]],
    forget: [
      [...systemctl, 'daemon-reload'],
      [...systemctl, 'reset-failed', unit],
    ],
    active: [...systemctl, 'is-active', '--quiet', unit],
    logs: (lines, follow) => [
      ...journalctl,
      '--unit',
      unit,
      '--lines',
      lines,
      ...(follow ? ['--follow'] : []),
    ],
    remedy: isUser
      ? 'log in as this user directly, not by su or sudo, or install for the whole machine with: sudo hearth service install --system; without systemd, run: hearth serve'
      : 'run it as root (sudo) on a machine that systemd started; without systemd, run: hearth serve',
    advice: isUser
      ? ['It runs while you are logged in; to run it from the start of the machine: loginctl enable-linger']
      : [],
  };
}

function launchdPlan({ facts, uid }: PlanPlaces): ServicePlan {
  const label = launchdLabel(facts.dev);
  const file = path.posix.join(facts.userHome, 'Library', 'LaunchAgents', `${label}.plist`);
  const domain = `gui/${uid}`;
  return {
    kind: 'launchd',
    file,
    text: launchdText(facts),
    enable: [],
    start: [['launchctl', 'bootstrap', domain, file]],
    restart: [['launchctl', 'kickstart', '-k', `${domain}/${label}`]],
    disable: [['launchctl', 'bootout', `${domain}/${label}`]],
    forget: [],
    active: ['launchctl', 'print', `${domain}/${label}`],
    remedy: 'log in to the desktop as this user and try again, or run: hearth serve',
    logs: (lines, follow) => ['tail', '-n', lines, ...(follow ? ['-f'] : []), launchdLog(facts)],
    advice: [UNTRIED],
  };
}

function windowsPlan({ facts, env }: PlanPlaces): ServicePlan {
  const name = serviceName(facts.dev);
  const folder = env['LOCALAPPDATA'] ?? path.win32.join(facts.userHome, 'AppData', 'Local');
  const file = path.win32.join(folder, 'hearth', `${name}-logon.xml`);
  return {
    kind: 'windows',
    file,
    text: windowsText(facts),
    enable: [['schtasks', '/Create', '/F', '/TN', name, '/XML', file]],
    start: [['schtasks', '/Run', '/TN', name]],
    restart: [
      ['schtasks', '/End', '/TN', name],
      ['schtasks', '/Run', '/TN', name],
    ],
    disable: [
      ['schtasks', '/End', '/TN', name],
      ['schtasks', '/Delete', '/F', '/TN', name],
    ],
    forget: [],
    active: ['schtasks', '/Query', '/TN', name],
    logs: null,
    remedy: 'try again in a terminal with the rights of an administrator, or run: hearth serve',
    advice: [UNTRIED],
  };
}

const UNTRIED = 'This kind of service was checked for its syntax only, never tried.';
