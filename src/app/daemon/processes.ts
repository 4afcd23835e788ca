import process from 'node:process';

/** Returns whether a process on this machine is alive, regardless of its owner. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Sends a signal to another process. Returns whether the system delivered it. */
export function signal(pid: number, name: 'SIGUSR2'): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
