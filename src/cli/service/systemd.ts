/** Units for systemd 240 and newer; an older one skips unknown lines with a warning. */
import { READY_SECONDS, serveArguments, type ServiceFacts, waitArguments } from './definition.ts';

/** The system's service also has a file for SVC_API_KEY that only root can read. */
export const SYSTEM_HOME = '/var/lib/hearth';
export const SYSTEM_ENVIRONMENT = '/etc/hearth/hearth.env';

export type UnitScope = 'user' | 'system';

/**
 * No MemoryDenyWriteExecute, because V8 compiles at run time; no ProcSubset=pid, because free memory is read from
 * /proc/meminfo.
 */
const BOTH = `NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
UMask=0077`;

const SYSTEM = `DynamicUser=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateTmp=yes
RemoveIPC=yes
KeyringMode=private`;

export function unitText(facts: ServiceFacts, scope: UnitScope): string {
  const start = [facts.node, ...serveArguments(facts)].map(word).join(' ');
  const wait = [facts.node, ...waitArguments(facts)].map(word).join(' ');
  return `# Written by: hearth service install${scope === 'system' ? ' --system' : ''}. Changes belong into a drop-in, which stays:
# systemctl ${scope === 'user' ? '--user ' : ''}edit ${facts.dev ? 'hearth-dev' : 'hearth'}
[Unit]
Description=Hearth, a local LLM service${facts.dev ? ' (development)' : ''}
After=network.target
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${start}
# The unit has started when the service answers.
ExecStartPost=${wait}
# Reads config.toml again.
ExecReload=/bin/kill -HUP $MAINPID
TimeoutStartSec=${READY_SECONDS + 10}
TimeoutStopSec=${facts.stopSeconds}
KillMode=mixed
Restart=on-failure
RestartSec=2
# A worker that the kernel ends for its memory does not take the service with it.
OOMPolicy=continue
${[...placeLines(facts, scope), BOTH].join('\n')}

[Install]
WantedBy=${scope === 'user' ? 'default.target' : 'multi-user.target'}
`;
}

function placeLines(facts: ServiceFacts, scope: UnitScope): string[] {
  if (scope === 'user')
    return facts.home === null ? [] : [`Environment=${assignment(`SVC_HOME=${facts.home}`)}`];
  return [
    'StateDirectory=hearth',
    'StateDirectoryMode=0700',
    `Environment=SVC_HOME=${SYSTEM_HOME}`,
    `EnvironmentFile=-${SYSTEM_ENVIRONMENT}`,
    SYSTEM,
    ...devices(facts.gpuGroups),
  ];
}

function devices(gpuGroups: ServiceFacts['gpuGroups']): string[] {
  if (gpuGroups === null) return ['PrivateDevices=yes'];
  const allowed = ['char-drm', 'char-nvidia*', 'char-kfd'].map((name) => `DeviceAllow=${name} rw`);
  const groups = gpuGroups.length === 0 ? [] : [`SupplementaryGroups=${gpuGroups.join(' ')}`];
  return ['DevicePolicy=closed', ...allowed, ...groups];
}

const word = (text: string): string => assignment(text.replaceAll('$', '$$$$'));

/** For Environment=, where variables have no meaning. */
function assignment(text: string): string {
  const literal = text.replaceAll('%', '%%');
  if (/^[\w%$=/.:@+-]+$/.test(literal)) return literal;
  return `"${literal.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
