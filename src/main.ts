import { main } from './app/main.ts';

await main();
