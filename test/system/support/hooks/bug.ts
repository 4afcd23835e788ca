/** Loaded before the program: an error that nobody expects, a second after the program has begun to listen for SIGUSR2. */
import process from 'node:process';

const AFTER_MS = 1_500;

process.on('newListener', (event) => {
  if (event !== 'SIGUSR2') return;
  setTimeout(() => {
    throw new TypeError('nobody expected this');
  }, AFTER_MS).unref();
});
