import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, symlinkSync } from 'node:fs';
import { truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { haltFile, haltFileOf, leaveHalt } from '../../src/journal/sidecar/halt-file.ts';
import { aFolder } from '../support/folder.ts';

const HALT = { level: 'halt', by: 'ops', why: 'prices look wrong' } as const;

function aPlace(): { readonly file: string; readonly armed: string } {
  const folder = aFolder();
  return { file: join(folder, 'live.db.halt'), armed: join(folder, 'live.db.armed') };
}

/** The port of a process that prepares the file. */
const aPort = () => {
  const place = aPlace();
  return { ...place, port: haltFile(place.file) };
};

describe('the halt file', () => {
  it('is stored beside the journal', () => {
    expect(haltFileOf('sqlite:/var/lib/tranche/live.db')).toBe('/var/lib/tranche/live.db.halt');
    expect(haltFileOf('sqlite:///var/live.db')).toBe('/var/live.db.halt');
    expect(haltFileOf('memory:')).toBeUndefined();
  });

  it('records who halted the desk and why, also for the next process', () => {
    const { file, port } = aPort();
    expect(port.isSet()).toBe(false);
    port.set(HALT);
    expect([port.isSet(), port.read()]).toEqual([true, HALT]);
    const next = haltFile(file);
    expect([next.isSet(), next.read()]).toEqual([true, HALT]);
    next.set({ ...HALT, level: 'kill' });
    expect(next.read()?.level).toBe('kill');
    next.clear();
    expect([next.isSet(), port.isSet()]).toEqual([false, false]);
    next.set(HALT);
    expect(port.isSet()).toBe(true);
  });

  it('is the prepared file under a new name, so that a halt needs no disk space', () => {
    const { file, armed, port } = aPort();
    const { ino, size, mode } = statSync(armed);
    expect([size, mode & 0o777]).toEqual([1024, 0o600]);
    port.set({ ...HALT, why: 'x'.repeat(5_000) });
    expect(statSync(file)).toMatchObject({ ino, size });
    expect(port.read()?.why).toBe('x'.repeat(200));
    expect(existsSync(armed)).toBe(false);
  });

  it('is renamed back without its note when the halt is lifted, so that a full disk has room for the next halt', () => {
    const { file, armed, port } = aPort();
    const { ino } = statSync(armed);
    port.set({ ...HALT, level: 'kill' });
    port.clear();
    expect(statSync(armed)).toMatchObject({ ino, size: 1024 });
    expect(readFileSync(armed, 'utf8').trim()).toBe('');
    port.set(HALT);
    expect([statSync(file).ino, port.read()]).toEqual([ino, HALT]);
  });

  it('is deleted when the halt is lifted, if another process created it', () => {
    const { file, armed, port } = aPort();
    const { ino } = statSync(armed);
    for (const text of ['', 'x'.repeat(1024)]) {
      writeFileSync(file, text);
      port.clear();
      expect([existsSync(file), statSync(armed).ino]).toEqual([false, ino]);
    }
    unlinkSync(armed);
    symlinkSync('/nowhere/at/all', file);
    port.clear();
    expect([existsSync(file), statSync(armed).isFile()]).toEqual([false, true]);
  });

  it('is removed although the next one cannot be prepared, which is reported until it can', () => {
    const { file, armed, port } = aPort();
    unlinkSync(armed);
    writeFileSync(file, '');
    mkdirSync(armed);
    port.clear();
    expect(port.isSet()).toBe(false);
    expect(() => port.prepare?.()).toThrow('EISDIR');
    rmdirSync(armed);
    port.prepare?.();
    expect(statSync(armed).size).toBe(1024);
    truncateSync(armed, 100);
    port.prepare?.();
    expect(statSync(armed).size).toBe(1024);
  });

  it('is written by another process without preparing the next one', () => {
    const { file, armed } = aPlace();
    leaveHalt(file, HALT);
    expect([haltFile(file).read(), existsSync(armed)]).toEqual([HALT, false]);
  });

  it('halts the desk if it is empty, unreadable, a folder or a link', () => {
    for (const make of [
      (file: string) => writeFileSync(file, ''),
      (file: string) => writeFileSync(file, '{"level":"kill"'),
      (file: string) => writeFileSync(file, 'null'),
      (file: string) => mkdirSync(file),
      (file: string) => symlinkSync('/nowhere/at/all', file),
    ]) {
      const { file, port } = aPort();
      make(file);
      expect([port.isSet(), port.read()]).toEqual([true, undefined]);
    }
  });

  it('is created if the prepared file no longer exists', () => {
    const { armed, port } = aPort();
    unlinkSync(armed);
    port.set(HALT);
    expect([port.isSet(), port.read()]).toEqual([true, HALT]);
  });

  it('halts the desk even if its note was lost', () => {
    const { file, armed, port } = aPort();
    truncateSync(armed, 0);
    port.set(HALT);
    truncateSync(file, 0);
    expect(readFileSync(file, 'utf8')).toBe('');
    expect([port.isSet(), port.read()]).toEqual([true, undefined]);
  });

  it('is not written through a symbolic link', () => {
    const { file, port } = aPort();
    const victim = `${file}.victim`;
    writeFileSync(victim, 'mine');
    symlinkSync(victim, file);
    port.set(HALT);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  });

  it('stays in force and reports an error if it cannot be removed', () => {
    const { file, port } = aPort();
    mkdirSync(file);
    expect(() => {
      port.clear();
    }).toThrow(/EISDIR|EPERM|directory/u);
    expect(port.isSet()).toBe(true);
  });
});
