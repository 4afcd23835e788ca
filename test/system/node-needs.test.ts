import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { whyNot } from '../../bin/node-needs.js';
import { aFolder } from './support/desk.ts';

/** A program that ends as the loader of Linux ends a program whose library is missing. */
function lacking(library: string): string {
  const file = join(aFolder(), 'node');
  const words = `${file}: error while loading shared libraries: ${library}: cannot open shared object file: No such file or directory`;
  writeFileSync(file, `#!/bin/sh\necho '${words}' >&2\nexit 127\n`, { mode: 0o755 });
  return file;
}

describe('a Node that cannot start', () => {
  it('is explained by the library that is missing, and how each system installs it', () => {
    expect(whyNot(lacking('libatomic.so.1'))).toBe(
      'Tranche\'s own Node.js cannot start, because this system has no libatomic.so.1: "apt-get install libatomic1" (Debian, Ubuntu), "dnf install libatomic" (Fedora, RHEL) or "zypper install libatomic1" (openSUSE) installs it; then run npm ci again.',
    );
    expect(whyNot(lacking('libstdc++.so.6'))).toContain(
      'no libstdc++.so.6: install the package of your system',
    );
  });

  it('is explained by the words of the system otherwise', () => {
    expect(whyNot('/nowhere/node')).toContain('ENOENT');
  });

  it('has no explanation if it starts', () => {
    expect(whyNot(process.execPath)).toBeUndefined();
  });
});
