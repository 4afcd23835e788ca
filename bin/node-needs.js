// Plain JavaScript that old Node versions can read: the Node of this project may lack a library of the system.
import { spawnSync } from 'node:child_process';

/**
 * Returns in one sentence why this Node cannot start, or `undefined` if it can.
 * @param {string} node
 */
export function whyNot(node) {
  const { status, stderr, error } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  const library = /shared libraries: ([\w.+-]+):/u.exec(stderr ?? '')?.[1];
  if (library === undefined) return `Tranche's own Node.js cannot start: ${error?.message ?? stderr}`.trim();
  const how =
    library === 'libatomic.so.1'
      ? '"apt-get install libatomic1" (Debian, Ubuntu), "dnf install libatomic" (Fedora, RHEL) or "zypper install libatomic1" (openSUSE) installs it'
      : 'install the package of your system that has it';
  return `Tranche's own Node.js cannot start, because this system has no ${library}: ${how}; then run npm ci again.`;
}
