import { expect, it } from 'vitest';
import { turnByTurn } from '../../src/venue/turns.ts';

/** Resolves in the next turn of the event loop. */
const aTurn = async (): Promise<void> => {
  await new Promise<void>((done) => {
    setImmediate(done);
  });
};

it('runs one task per turn of the event loop, in order, so that input is read between them', async () => {
  const turns = turnByTurn();
  const done: string[] = [];
  for (const name of ['a', 'b', 'c']) turns(() => done.push(name));
  expect(done).toEqual([]);
  const seen: string[] = [];
  for (let i = 0; i < 4; i++) {
    await aTurn();
    seen.push(done.join(''));
  }
  expect(seen).toEqual(['a', 'ab', 'abc', 'abc']);
  turns(() => done.push('d'));
  await aTurn();
  expect(done.join('')).toBe('abcd');
});

it('continues after a task that throws', async () => {
  const turns = turnByTurn();
  const done: string[] = [];
  const thrown: unknown[] = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', (error) => thrown.push(error.message));
  turns(() => {
    throw new Error('one');
  });
  turns(() => done.push('two'));
  await aTurn();
  await aTurn();
  await aTurn();
  for (const listener of listeners) process.on('uncaughtException', listener);
  expect({ thrown, done }).toEqual({ thrown: ['one'], done: ['two'] });
});
