import path from 'node:path';
import { serveArguments, type ServiceFacts, serviceName } from './definition.ts';

export const launchdLabel = (dev: boolean): string => `local.${serviceName(dev)}`;

export const launchdLog = ({ dev, userHome }: ServiceFacts): string =>
  path.posix.join(userHome, 'Library', 'Logs', `${serviceName(dev)}.log`);

export function launchdText(facts: ServiceFacts): string {
  const strings = (values: readonly string[]) =>
    values.map((value) => `    <string>${escaped(value)}</string>`).join('\n');
  const environment =
    facts.home === null
      ? ''
      : `  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_HOME</key>
    <string>${escaped(facts.home)}</string>
  </dict>
`;
  const log = escaped(launchdLog(facts));
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchdLabel(facts.dev)}</string>
  <key>ProgramArguments</key>
  <array>
${strings([facts.node, ...serveArguments(facts)])}
  </array>
${environment}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${facts.stopSeconds}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>StandardOutPath</key>
  <string>${log}</string>
  <key>StandardErrorPath</key>
  <string>${log}</string>
</dict>
</plist>
`;
}

const WINDOWS_ROOT = [
  '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
  '</Task>',
] as const;

/** Starts at the user's logon; the Task Scheduler does not log a task's output. */
export function windowsText(facts: ServiceFacts): string {
  const home = facts.home === null ? [] : ['--home', facts.home];
  const [script = '', ...rest] = serveArguments(facts);
  const words = [script, ...home, ...rest].map(windowsWord).join(' ');
  return `<?xml version="1.0"?>
${WINDOWS_ROOT[0]}
  <RegistrationInfo>
    <Description>Hearth, a local LLM service</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${escaped(facts.node)}</Command>
      <Arguments>${escaped(words)}</Arguments>
    </Exec>
  </Actions>
${WINDOWS_ROOT[1]}
`;
}

const windowsWord = (text: string): string =>
  /[\s"]/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
