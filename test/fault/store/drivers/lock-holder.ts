/** Takes the lock in the file named by the argument, says so or why not, and holds it until its input ends. */
import { errorMessage } from '../../../../src/lib/errors/svc-error.ts';
import { lockHolder, takeLock } from '../../../../src/store/lock/owner-lock.ts';

const [, , path = ''] = process.argv;
try {
  const holder = await lockHolder(path);
  process.stdout.write(`before: ${holder === null ? 'nobody' : holder.pid}\n`);
  const lock = await takeLock(path, { purpose: 'hearth test', what: 'The home', waitMs: 0 });
  process.stdout.write('held\n');
  process.stdin.resume().once('end', () => void lock.release());
} catch (error) {
  process.stdout.write(`${errorMessage(error)}\n`);
}
