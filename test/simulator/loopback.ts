import process from 'node:process';

/**
 * An address of this machine that no other process of the tests uses: a port of it that was closed stays free. Where only one
 * address is loopback it is that one.
 */
export const ownLoopback = (): string =>
  process.platform === 'linux'
    ? `127.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 200}.${1 + (Math.floor(process.pid / 20_000) % 200)}`
    : '127.0.0.1';
